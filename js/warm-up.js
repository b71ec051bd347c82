"use strict";

// The first guard of a process would run before its path is compiled, over a whole session at once. A guard over some
// messages of every common shape at load pays for that before anybody waits.

const { compactionSummaryWouldExceedBudget } = require("./sizing.js");

/** Turns of a message, an answer and a result. */
const TURNS = 60;
/** Guards at load: enough for the engine to leave its interpreter, few enough to cost two or three milliseconds. */
const GUARDS = 12;

const text = (/** @type {string} */ type) => ({ type, [type]: "a" });
const call = { type: "toolCall", id: "a", name: "a", arguments: { a: "a", b: 1 } };
const turn = [
  { role: "user", content: [text("text")] },
  { role: "assistant", content: [text("thinking"), text("text"), call] },
  { role: "toolResult", toolCallId: "a", content: [text("text")] },
];
const messagesToSummarize = Array.from({ length: TURNS }, () => turn).flat();

for (let i = 0; i < GUARDS; i++) {
  compactionSummaryWouldExceedBudget({ messagesToSummarize }, { hardLimit: 1, requestHeadroom: 0 });
}
