// From a session file to sizes and a plan, on both sides.

import { deepStrictEqual } from "node:assert/strict";

/** @typedef {import("./sides.mjs").Ours} Ours */
/** @typedef {import("./sides.mjs").PiWithSessions} Pi */
/** @typedef {{ messages: number, cut: object, tokens: number, exceeds: boolean }} Answer what both sides find out */

const KEEP_RECENT = 20_000;
/** The guard's limit for a window of 200,000 tokens, as a budget without headroom (requirements A40). */
const LIMIT = 200_000 - 8_192 - 2_048;
const BUDGET = { hardLimit: LIMIT + 2_048, requestHeadroom: 0 };
/** A long session is to be planned, too, not refused for its length. */
const MAX_CHUNKS = 100_000;

/** Where the history ends: a turn that is cut through goes apart. */
const historyEnd = (/** @type {any} */ { isSplitTurn, turnStartIndex, firstKeptIndex }) =>
  isSplitTurn ? turnStartIndex : firstKeptIndex;

/** @param {Ours} ours @param {string} path @returns {Promise<Answer>} */
export async function ourAnswer(ours, path) {
  const session = await ours.openSession(path);
  const previousSummary = session.previousCheckpoint?.summary;
  // The summary of an earlier compaction is the context's first message, and no message of the range.
  const first = previousSummary === undefined ? 0 : 1;
  const range = session.range(first);
  const found = ours.findCut(range, KEEP_RECENT);
  const end = historyEnd(found);
  const preparation = {
    messagesToSummarize: session.range(first, first + end),
    turnPrefixMessages: session.range(first + end, first + found.firstKeptIndex),
    isSplitTurn: found.isSplitTurn,
    previousSummary,
  };
  const exceeds = ours.compactionSummaryWouldExceedBudget(preparation, BUDGET);
  const tokens = ours.estimateSummaryPromptTokens(preparation);
  const chunks = ours.planChunks(preparation, { promptLimit: LIMIT, maxChunks: MAX_CHUNKS });
  if (chunks === undefined) throw new Error("the session was not planned");
  session.dispose();
  return { messages: range.length, cut: found, tokens, exceeds };
}

/** pi has no plan to make: its side is done with the verdict. @param {Pi} pi @param {string} path @returns {Answer} */
export function piAnswer(pi, path) {
  const all = pi.messagesOf(path);
  // The summary of an earlier compaction is no message of the range.
  const isCompacted = all[0]?.role === "compactionSummary";
  const messages = isCompacted ? all.slice(1) : all;
  const entries = messages.map((message, i) => ({ type: "message", id: `${i}`, message }));
  const found = pi.findCutPoint(entries, 0, entries.length, KEEP_RECENT);
  const { firstKeptEntryIndex: firstKeptIndex, turnStartIndex, isSplitTurn } = found;
  const cut = { firstKeptIndex, turnStartIndex, isSplitTurn };
  const tokens = pi.promptTokens({
    messagesToSummarize: messages.slice(0, historyEnd(cut)),
    turnPrefixMessages: messages.slice(historyEnd(cut), firstKeptIndex),
    isSplitTurn,
    previousSummary: isCompacted ? all[0].summary : undefined,
  });
  return { messages: messages.length, cut, tokens, exceeds: tokens >= LIMIT };
}

/** A row of the table. */
export const sessionFile = {
  prepare: (/** @type {{ path: string }} */ { path }) => path,
  ours: ourAnswer,
  pi: piAnswer,
  assertEqual: async (/** @type {Ours} */ ours, /** @type {Pi} */ pi, /** @type {string} */ path) =>
    deepStrictEqual(await ourAnswer(ours, path), piAnswer(pi, path)),
};
