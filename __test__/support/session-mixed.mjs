// Session files with everything at once: any tree, in any spelling of JSON, broken lines among them, and ends of their own.

import { random } from "./random.mjs";
import { mutated, spelled } from "./session-texts.mjs";
import { jsonOf, storedMessages } from "./session-trees.mjs";
import { text } from "./texts.mjs";

/** @typedef {import("./random.mjs").Random} Random */
/** @typedef {import("./transcripts.mjs").Message} Message */
/** @typedef {{ rng: Random, ids: string[], supply: Message[] }} Tree */

const ODD_IDS = ["__proto__", "constructor", "\ud83d", "é", "😀", "17", 'a"b', "a\\b", "\u2028", "\u0000"];
const LONG_ID = "x".repeat(300);
const VERSIONS = [undefined, 1, 2, 3, 3, 3, 3, 3, 3, "2", "3", null];
const TIMES = ["2025-12-09T00:53:29.825Z", "2025-11-20", 1_700_000_000_000, "not a time", null, undefined];
const ROLES = ["user", "assistant", "toolResult", "system", "custom", "bashExecution", "hookMessage"];
const STATES = ["label", "usage", "custom", "session_info", "model_change", "thinking_level_change"];
const STRANGERS = ["", "  ", "\r", "\t", "{broken", "[]", "null", "0", '"x"', "true", '{"type":"session"}'];
/** What the tree hangs by, and what a checkpoint is: a spelling may not make a value of another kind of these. */
const LINKS = ["type", "id", "parentId", "version", "systemMessage", "summary", "details", "tokensBefore"];

/** @param {Random} rng */
function content(rng) {
  const image = { type: "image", data: "aGk=", mimeType: "image/png" };
  const blocks = [{ type: "text", text: text(rng) }, image];
  return rng.pick([null, undefined, "", text(rng), text(rng, 400), [], blocks, [null], 5, {}]);
}

/** An entry that is there, comes later, or never. @param {Tree} tree */
function target({ rng, ids }) {
  const die = rng.next();
  if (die < 0.8) return rng.pick(ids);
  if (die < 0.9) return `e${ids.length + rng.between(0, 5)}`;
  return die < 0.95 ? "gone" : undefined;
}

/** @param {Tree} tree */
function message({ rng, supply }) {
  const said = supply.pop() ?? { role: rng.pick(ROLES), content: content(rng) };
  if (rng.chance(0.04)) return { role: "hookMessage", customType: "old", content: content(rng) };
  if (rng.chance(0.04)) return rng.pick([null, [], "x", {}, { role: 5 }, { content: "no role" }]);
  return rng.chance(0.12) ? { ...said, content: content(rng) } : said;
}

/** @type {Record<string, (tree: Tree) => object>} */
const PAYLOADS = {
  message: (tree) => ({ message: message(tree) }),
  compaction: (tree) => ({
    summary: text(tree.rng),
    firstKeptEntryId: target(tree),
    firstKeptEntryIndex: tree.rng.pick([undefined, tree.rng.between(-1, tree.ids.length + 2), 1.5]),
    tokensBefore: tree.rng.pick([5, 0, undefined]),
    details: tree.rng.pick([undefined, [], { readFiles: ["a", "é"], modifiedFiles: [] }]),
    systemMessage: tree.rng.pick([undefined, undefined, { role: "system", content: "prompt" }, {}, null]),
  }),
  branch_summary: ({ rng, ids }) => ({
    summary: rng.chance(0.85) ? text(rng) : rng.pick([undefined, null, 5, 0, {}, [], true, ""]),
    fromId: rng.pick([...ids, "root"]),
  }),
  custom_message: ({ rng }) => ({
    customType: rng.pick(["note", undefined]),
    content: content(rng),
    display: rng.pick([true, false, undefined]),
    details: rng.pick([undefined, { a: 1 }, null]),
  }),
  context_edit: (tree) => ({
    targetId: target(tree),
    replacement: tree.rng.chance(0.35)
      ? null
      : tree.rng.pick([{ content: content(tree.rng) }, { content: text(tree.rng) }, {}]),
  }),
  state: ({ rng }) => ({ type: rng.pick(STATES), label: "x", message: { role: "user", content: "none" } }),
};
const KINDS = [...Array.from({ length: 8 }, () => "message"), ...Object.keys(PAYLOADS), "compaction"];

/** @param {Tree} tree */
function parentOf({ rng, ids }) {
  const die = rng.next();
  if (die < 0.82 || ids.length === 0) return ids.at(-1) ?? null;
  if (die < 0.92) return rng.pick(ids);
  if (die < 0.95) return rng.pick([null, undefined]);
  return die < 0.98 ? "gone" : `e${ids.length + rng.between(0, 4)}`;
}

/** @param {Tree} tree */
function idOf({ rng, ids }) {
  if (rng.chance(0.03) && ids.length > 0) return rng.pick(ids);
  return rng.chance(0.06) ? rng.pick([...ODD_IDS, LONG_ID]) : `e${ids.length}`;
}

/** @param {Tree} tree */
function entryOf(tree) {
  const [parentId, id] = [parentOf(tree), idOf(tree)];
  tree.ids.push(id);
  const type = tree.rng.pick(KINDS);
  return { type, id, parentId, timestamp: tree.rng.pick(TIMES), ...PAYLOADS[type]?.(tree) };
}

/** A spelling by which what the tree hangs by stays of its kind. @param {Random} rng @param {any} entry */
function spelledEntry(rng, entry) {
  const kindOf = (/** @type {any} */ value) => (value === null ? "null" : typeof value);
  for (;;) {
    const said = spelled(rng, entry);
    const read = JSON.parse(said);
    const isSound = LINKS.every((name) => kindOf(read[name]) === kindOf(entry[name]));
    if (isSound && Math.abs(read.version ?? 0) < 1e9) return said;
  }
}

/** Lines with their ends, and what may befall a whole file. @param {Random} rng @param {Buffer[]} lines */
function joined(rng, lines) {
  const end = Buffer.from(rng.pick(["\n", "\n", "\n", "\r\n", "\n\n"]));
  const parts = lines.flatMap((line, index) =>
    index < lines.length - 1 || rng.chance(0.6) ? [line, end] : [line],
  );
  const whole = Buffer.concat([...(rng.chance(0.06) ? [Buffer.from("\ufeff")] : []), ...parts]);
  if (rng.chance(0.06)) return whole.subarray(0, rng.between(whole.length >> 1, whole.length));
  return rng.chance(0.04) ? Buffer.concat([whole, Buffer.from(rng.pick(["\n\n", "  ", "\u0000"]))]) : whole;
}

/**
 * The bytes of a session file.
 *
 * @param {number} seed @param {number} most entries
 */
export function mixedTree(seed, most = 14) {
  const rng = random(seed ^ 0xb4ea);
  const share = rng.pick([0, 0, 0.4, 1]);
  const say = (/** @type {any} */ entry) => (rng.chance(share) ? spelledEntry(rng, entry) : jsonOf(entry));
  const header = () => say({ type: "session", version: rng.pick(VERSIONS), id: "session", cwd: "/" });
  const tree = { rng, ids: /** @type {string[]} */ ([]), supply: storedMessages(rng, most).reverse() };
  const lines = /** @type {Buffer[]} */ (rng.chance(0.96) ? [Buffer.from(header())] : []);
  for (let left = rng.between(1, most); left > 0; left--) {
    const line = Buffer.from(say(entryOf(tree)));
    const isBroken = rng.chance(0.02) && lines.length > 1;
    lines.push(isBroken ? mutated(rng, line, lines.at(-1) ?? line) : line);
    if (rng.chance(0.04)) lines.push(Buffer.from(rng.pick([...STRANGERS, header()])));
  }
  return joined(rng, lines);
}
