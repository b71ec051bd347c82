// Folds old tool results of a request when it nears its cap: the cheap step before a compaction.

import { blocksOf } from "./store.mjs";

/** Tokens of plain data, four characters each. @param {unknown} value */
export const estimateTokens = (value) => Math.ceil(JSON.stringify(value).length / 4);

/**
 * `state` is plain data. Given back after a crash, the same results are folded again.
 *
 * @param {{ ratio?: number, keepLast?: number, state?: { folded: string[] } }} [options]
 */
export function createFolder({ ratio = 0.75, keepLast = 3, state = { folded: [] } } = {}) {
  const folded = new Set(state.folded);
  return {
    state: () => ({ folded: [...folded] }),
    /** What is sent in the place of the messages, and what was done. @param {any[]} messages @param {number} inputCap */
    fold(messages, inputCap) {
      const used = estimateTokens(messages);
      const results = messages.flatMap(resultsOf).filter(({ toolCallId }) => !folded.has(toolCallId));
      let sent = stubbed(messages, folded);
      const open = results.slice(0, Math.max(0, results.length - keepLast));
      while (estimateTokens(sent) >= ratio * inputCap && open.length > 0) {
        folded.add(/** @type {any} */ (open.shift()).toolCallId);
        sent = stubbed(messages, folded);
      }
      const usedAfter = estimateTokens(sent);
      const report = { used, usedAfter, inputCap, truncated: usedAfter >= ratio * inputCap };
      return { messages: sent, report: used >= ratio * inputCap ? report : undefined };
    },
  };
}

/** @param {any} message @returns {any[]} */
const resultsOf = (message) => blocksOf(message).filter(({ type }) => type === "tool_result");

/** The messages are left as they are. @param {any[]} messages @param {Set<string>} folded */
function stubbed(messages, folded) {
  const stub = (/** @type {any} */ block) =>
    block.type === "tool_result" && folded.has(block.toolCallId) ? { ...block, result: "(folded)" } : block;
  return messages.map((message) => ({ ...message, content: blocksOf(message).map(stub) }));
}
