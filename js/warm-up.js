"use strict";

// The first guard of a process would run before its path is compiled, over a whole session at once. A guard over some
// messages at load pays for that before anybody waits. They have the members of pi's messages, in pi's order and as a
// session file gives them: an engine compiles for the shapes it has seen, and throws that away when others come.

const { compactionSummaryWouldExceedBudget } = require("./sizing.js");

/** Times that the turns stand there. */
const TURNS = 5;
/** Guards at load: enough for the engine to leave its interpreter, few enough to cost two or three milliseconds. */
const GUARDS = 12;

/** Some turns with one text in all places. @param {string} a */
function turnsOf(a) {
  const timestamp = 1_700_000_000_000;
  const text = { type: "text", text: a };
  const thinking = { type: "thinking", thinking: a, thinkingSignature: a };
  const call = (/** @type {object} */ args) => ({ type: "toolCall", id: a, name: a, arguments: args });
  const answer = (/** @type {object[]} */ ...content) => ({
    role: "assistant",
    content,
    api: a,
    provider: a,
    model: a,
    usage: {},
    stopReason: "toolUse",
    timestamp,
  });
  const result = { role: "toolResult", toolCallId: a, toolName: a, content: [text] };
  return [
    { role: "user", content: [text], timestamp },
    answer(thinking, text, call({ command: a })),
    { ...result, isError: false, timestamp },
    answer(call({ command: a, timeout: 1 })),
    { ...result, details: {}, isError: false, timestamp },
    answer(text, call({ path: a, oldText: a, newText: a })),
    { ...result, details: { diff: a }, isError: true, timestamp },
    answer(text, call({ path: a, offset: 1, limit: 1 })),
    { ...result, isError: false, timestamp },
    answer(call({ path: a }), call({ path: a, content: a })),
    { ...result, content: [], isError: false, timestamp },
    // A call that was never finished, as in an answer that broke off.
    { ...answer({ ...call({ path: a }), partialJson: a }), errorMessage: a },
    {
      role: "bashExecution",
      command: a,
      output: a,
      exitCode: 0,
      cancelled: false,
      truncated: false,
      timestamp,
    },
  ];
}

// Strings of one byte a unit and of two are other shapes as well.
const turns = [...turnsOf("a"), ...turnsOf("\u2014")].map((message) => JSON.parse(JSON.stringify(message)));
const messagesToSummarize = [];
for (let i = 0; i < TURNS; i++) messagesToSummarize.push(...turns);

for (let i = 0; i < GUARDS; i++) {
  compactionSummaryWouldExceedBudget({ messagesToSummarize }, { hardLimit: 1, requestHeadroom: 0 });
}
