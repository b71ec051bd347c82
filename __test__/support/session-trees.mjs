// Session files of every version made by rule: branches, compactions, edits, links that lead nowhere or around.

import { random } from "./random.mjs";
import { soundTranscript, toolCalls } from "./sound.mjs";
import { text } from "./texts.mjs";
import { wildTranscript } from "./transcripts.mjs";

/** @typedef {import("./random.mjs").Random} Random */
/** @typedef {import("./transcripts.mjs").Message} Message */

const ODD_IDS = ["__proto__", "constructor", "\ud83d", "\ud83e", "é", "😀", "17", 'a"b', "\u2028", "null"];
const STATES = [
  "label",
  "usage",
  "custom",
  "session_info",
  "model_change",
  "thinking_level_change",
  "future",
];
const TIMES = ["2025-12-09T00:53:29.825Z", "2025-11-20", 1_700_000_000_000, "not a time", null, undefined];

/** @param {any} value its JSON text, or that of a note where it has none */
export function jsonOf(value) {
  try {
    return JSON.stringify(value);
  } catch {
    return '{"role":"user","content":"without JSON text"}';
  }
}

/** What JSON can hold of a message. @param {Message} message @returns {Message} */
export const stored = (message) => JSON.parse(jsonOf(message));

/** Messages of the field, well formed or not, as JSON holds them. @param {Random} rng @param {number} most */
export function storedMessages(rng, most) {
  const seed = rng.between(0, 1e6);
  const messages = rng.chance(0.5) ? soundTranscript(seed, 4) : wildTranscript(seed, most);
  return messages.slice(0, most).map(stored);
}

/** @param {Random} rng */
function content(rng) {
  return rng.pick([null, undefined, "", text(rng), [], [{ type: "text", text: text(rng) }]]);
}

/** @type {Record<string, (rng: Random, ids: string[], index: number) => object>} */
const PAYLOADS = {
  compaction: (rng, ids, index) => ({
    summary: text(rng),
    firstKeptEntryId: rng.chance(0.1) ? "gone" : rng.pick(ids),
    firstKeptEntryIndex: rng.chance(0.8) ? rng.between(0, index + 1) : undefined,
    tokensBefore: rng.between(0, 1e6),
    details: rng.pick([undefined, { readFiles: ["a", "é"], modifiedFiles: [] }, { generation: 2 }]),
    systemMessage: rng.chance(0.3) ? { role: "system", content: "prompt", toolsAdded: [] } : undefined,
  }),
  branch_summary: (rng, ids) => ({ summary: text(rng), fromId: rng.pick([...ids, "root"]) }),
  custom_message: (rng) => ({
    customType: "note",
    content: content(rng),
    display: rng.chance(0.5),
    details: rng.chance(0.5) ? { a: 1 } : undefined,
  }),
  context_edit: (rng, ids) => ({
    targetId: rng.chance(0.1) ? "gone" : rng.pick(ids),
    replacement: rng.chance(0.4)
      ? null
      : rng.pick([{ content: text(rng) }, { content: [{ type: "text", text: "new" }] }, {}]),
  }),
  state: (rng) => ({ type: rng.pick(STATES), label: "x", message: "none", data: null }),
};
const KINDS = ["compaction", "compaction", "branch_summary", "custom_message", "context_edit", "state"];

/** @param {Random} rng @param {Message[]} supply */
function message(rng, supply) {
  const said = supply.pop() ?? { role: "user", content: content(rng) };
  if (rng.chance(0.05)) return { role: "hookMessage", customType: "old", content: text(rng) };
  return rng.chance(0.1) ? { ...said, content: content(rng) } : said;
}

/** The entry before this one: mostly the last, sometimes any, none, one that is missing, or one that comes later. @param {Random} rng @param {string[]} ids */
function parentOf(rng, ids) {
  const die = rng.next();
  if (die < 0.8) return ids.at(-1) ?? null;
  if (die < 0.92) return rng.pick(ids) ?? null;
  if (die < 0.94) return null;
  return die < 0.97 ? "gone" : `e${ids.length + rng.between(0, 4)}`;
}

/** @param {Random} rng @param {string[]} ids */
function idOf(rng, ids) {
  if (rng.chance(0.02) && ids.length > 0) return rng.pick(ids);
  return rng.chance(0.06) ? rng.pick(ODD_IDS) : `e${ids.length}`;
}

/**
 * The text of a session file, some lines of it broken.
 *
 * @param {number} seed @param {number} most entries
 */
export function sessionTree(seed, most = 14) {
  const rng = random(seed ^ 0x7ee5);
  const version = rng.pick([undefined, 1, 2, 3, 3, 3, 3, "3", "2", null]);
  const header = JSON.stringify({ type: "session", version, id: "session", cwd: "/" });
  const lines = rng.chance(0.95) ? [header] : [];
  const ids = /** @type {string[]} */ ([]);
  const supply = storedMessages(rng, most).reverse();
  for (let left = rng.between(1, most); left > 0; left--) {
    const parentId = parentOf(rng, ids);
    ids.push(idOf(rng, ids));
    const kind = ids.length === 1 || rng.chance(0.65) ? "message" : rng.pick(KINDS);
    const payload =
      kind === "message" ? { message: message(rng, supply) } : PAYLOADS[kind]?.(rng, ids, ids.length);
    const entry = { type: kind, id: ids.at(-1), parentId, timestamp: rng.pick(TIMES), ...payload };
    lines.push(jsonOf(entry));
    if (rng.chance(0.04)) lines.push(rng.pick(["", "  ", "{broken", "[]", "null", header]));
  }
  return lines.join(rng.chance(0.2) ? "\r\n" : "\n") + (rng.chance(0.5) ? "\n" : "");
}

/**
 * One branch of messages, each the child of the one before.
 *
 * @param {readonly Message[]} messages @param {{ version?: number }} [header]
 */
export function branchOf(messages, { version = 3 } = {}) {
  const id = (/** @type {number} */ index) => index.toString(16).padStart(8, "0");
  const entries = messages.map((said, index) => ({
    type: "message",
    id: id(index),
    parentId: index === 0 ? null : id(index - 1),
    timestamp: "2025-12-09T00:53:29.825Z",
    message: said,
  }));
  const header = { type: "session", version, id: "session", timestamp: TIMES[0], cwd: "/" };
  return [header, ...entries].map((entry) => `${JSON.stringify(entry)}\n`).join("");
}

/** Lines as pi writes them, in one branch, of about as many bytes. @param {number} size */
export function ordinary(size) {
  const turns = Array.from({ length: 50 }, (_, seed) => [
    ...soundTranscript(seed, 6),
    ...toolCalls(2, "src/a.ts: const answer = 42; // 😀\n".repeat(1 + ((seed * 7) % 90))),
  ]).flat();
  const some = turns.map(stored);
  const messages = Array.from({ length: Math.ceil(size / (branchOf(some).length / some.length)) });
  return branchOf(messages.map((_, index) => /** @type {any} */ (some[index % some.length])));
}
