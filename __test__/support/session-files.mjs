// Session files made by rule: every kind of entry that pi writes or once wrote, and links that lead nowhere.

/** A small generator of numbers in [0, 1). @param {number} seed */
function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const ROLES = ["user", "assistant", "toolResult", "system", "bashExecution", "custom", "hookMessage", "odd"];
const STATES = [
  "label",
  "usage",
  "custom",
  "session_info",
  "model_change",
  "thinking_level_change",
  "future",
];
const TEXTS = ["", "plain", "two\nlines", "pair \u{1f600}", "half \ud83d", 'quote " and \\', "\u2028"];

/** @param {ReturnType<typeof numbers>} random */
function writer(random) {
  const chance = (/** @type {number} */ share) => random() < share;
  const pick = (/** @type {readonly any[]} */ list) => list[Math.floor(random() * list.length)];
  const content = () => pick([null, undefined, pick(TEXTS), [], [{ type: "text", text: pick(TEXTS) }]]);
  const time = () => new Date(1_700_000_000_000 + Math.floor(random() * 1e11)).toISOString();
  const known = (/** @type {string[]} */ ids) => (chance(0.1) ? "gone" : pick(ids));
  const payloads = {
    message: () => ({
      message: { role: pick(ROLES), content: content(), timestamp: 5, extra: { a: [1.5, null] } },
    }),
    compaction: (/** @type {string[]} */ ids, /** @type {number} */ index) => ({
      summary: pick(TEXTS),
      firstKeptEntryId: known(ids),
      firstKeptEntryIndex: chance(0.8) ? Math.floor(random() * (index + 2)) : undefined,
      tokensBefore: Math.floor(random() * 1e6),
      ...(chance(0.3) ? { systemMessage: { role: "system", content: "tools" } } : {}),
    }),
    branch_summary: (/** @type {string[]} */ ids) => ({
      summary: pick(TEXTS),
      fromId: pick([...ids, "root"]),
    }),
    custom_message: () => ({
      customType: "note",
      content: content(),
      display: chance(0.5),
      details: chance(0.5) ? { a: 1 } : undefined,
    }),
    context_edit: (/** @type {string[]} */ ids) => ({
      targetId: known(ids),
      replacement: chance(0.4)
        ? null
        : pick([{ content: pick(TEXTS) }, { content: [{ type: "text", text: "new" }] }, {}]),
    }),
    state: () => ({ type: pick(STATES), label: "x", data: null }),
  };
  const kinds = ["message", "message", "message", "message", "message", ...Object.keys(payloads)];
  return { chance, pick, time, payloads, kind: () => pick(kinds) };
}

/** Lines of a session of any version, some of them broken. @param {number} seed */
export function sessionLines(seed) {
  const random = numbers(seed);
  const { chance, pick, time, payloads, kind } = writer(random);
  const version = pick([undefined, 1, 2, 3, 3, 3, 3, "3", "2", null]);
  const header = { type: "session", version, id: "session", timestamp: time(), cwd: "/" };
  const lines = [JSON.stringify(header)];
  const ids = ["e0"];
  for (let index = 1; index <= 4 + random() * 40; index++) {
    const type = kind();
    const id = `e${index}`;
    const parentId = index === 1 ? null : chance(0.02) ? "gone" : chance(0.12) ? pick(ids) : ids.at(-1);
    ids.push(id);
    lines.push(
      JSON.stringify({
        type,
        id,
        parentId,
        timestamp: time(),
        .../** @type {any} */ (payloads)[type](ids, index),
      }),
    );
    if (chance(0.03)) lines.push(pick(["", "  ", "{broken", '{"type":"message"', JSON.stringify(header)]));
  }
  if (chance(0.1))
    lines.push(
      JSON.stringify({ type: "message", parentId: ids.at(-1), message: { role: "user", content: "no id" } }),
    );
  return lines.join(chance(0.2) ? "\r\n" : "\n") + (chance(0.5) ? "\n" : "");
}

/** Entries 0 … count − 1, each the child of the one before; the first is a child of `root`. */
export function newestBranch(/** @type {number} */ count, /** @type {string} */ root) {
  return Array.from({ length: count }, (_, index) => ({
    type: "message",
    id: String(index),
    parentId: index === 0 ? root : String(index - 1),
    message: { role: "user", content: "x" },
  }));
}
