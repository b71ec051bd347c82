// A long conversation, its model, and what a host knows beside them.

import { contextBudget, findCut } from "../../../index.js";

/** @typedef {import("../../oracle/node_modules/pi-0.87/dist/index.js").AgentMessage} AgentMessage */

/** @param {number} turn @returns {any[]} */
const turnOf = (turn) => [
  { role: "user", content: `Port file ${turn} of the tokenizer.`, timestamp: 3 * turn },
  {
    role: "assistant",
    content: [
      { type: "text", text: "Reading it." },
      { type: "toolCall", id: `call-${turn}`, name: "read", arguments: { path: `src/${turn}.ts` } },
    ],
    stopReason: "toolUse",
    timestamp: 3 * turn + 1,
  },
  {
    role: "toolResult",
    toolCallId: `call-${turn}`,
    toolName: "read",
    content: [{ type: "text", text: "export const line = 1;\n".repeat(200) }],
    isError: false,
    timestamp: 3 * turn + 2,
  },
];

/** @type {AgentMessage[]} */
export const messages = Array.from({ length: 60 }, (_, turn) => turnOf(turn)).flat();
export const [, assistantMessage, toolResult] = turnOf(60);

export const model = { provider: "openai", id: "gpt-5-mini", contextWindow: 64_000, maxTokens: 8_000 };
export const budget = contextBudget(model);

const { firstKeptIndex } = findCut(messages, budget.keepRecentTokens);
export const preparation = {
  messagesToSummarize: messages.slice(0, firstKeptIndex),
  turnPrefixMessages: /** @type {AgentMessage[]} */ ([]),
  isSplitTurn: false,
};
export const { signal } = new AbortController();
export const text = "How many tokens is this?";
