"use strict";

// A session turned into the preparation of a compaction, as a host would make it.

const { contextBudget, estimateContextTokens, findCut } = require("../index.js");
const { failure } = require("./session.js");

/** @typedef {import("./session.js").Session} Session */
/** @typedef {import("./session.js").Message} Message */

/** What the tools of pi and of PI-Desktop do to the file they name. */
const OPERATIONS = /** @type {const} */ ({ read: "read", write: "written", edit: "edited" });

/** @param {Message} message */
function* calls({ role, content }) {
  if (role !== "assistant" || !Array.isArray(content)) return;
  for (const block of content) if (block?.type === "toolCall" && typeof block.name === "string") yield block;
}

/**
 * Files of the previous checkpoint's details and of the range, as a host keeps them. Without such details the
 * library reads both from the previous summary and the range.
 *
 * @param {any} details @param {readonly Message[]} range
 */
function fileOperations(details, range) {
  if (!Array.isArray(details?.readFiles) && !Array.isArray(details?.modifiedFiles)) return undefined;
  const paths = (/** @type {unknown} */ list) =>
    /** @type {Set<string>} */ (
      new Set(Array.isArray(list) ? list.filter((path) => typeof path === "string") : [])
    );
  const files = { read: paths(details.readFiles), written: paths([]), edited: paths(details.modifiedFiles) };
  for (const call of range.flatMap((message) => [...calls(message)])) {
    const name = call.name.toLowerCase();
    const path = call.arguments?.path;
    if (Object.hasOwn(OPERATIONS, name) && typeof path === "string" && path !== "")
      files[OPERATIONS[/** @type {keyof typeof OPERATIONS} */ (name)]].add(path);
  }
  return files;
}

/** What the context holds, the previous summary included. @param {Session} session */
function contextTokens({ messages, previousSummary, stale }) {
  if (previousSummary === undefined) return estimateContextTokens(messages, { afterIndex: stale - 1 });
  const summary = { role: "compactionSummary", summary: previousSummary };
  return estimateContextTokens([summary, ...messages], { afterIndex: stale });
}

/**
 * @param {Session} session
 * @param {{ window?: number | undefined, maxOutput?: number | undefined }} limits in tokens
 */
function prepare(session, { window, maxOutput }) {
  const model = { contextWindow: window, maxTokens: maxOutput };
  const budget = contextBudget(model);
  // System messages are the prompt, not the conversation: they stay whatever happens.
  const spoken = session.messages.flatMap((message, index) =>
    message.role === "system" ? [] : [{ message, index }],
  );
  const messages = spoken.map(({ message }) => message);
  const cut = findCut(messages, budget.keepRecentTokens);
  const historyEnd = cut.isSplitTurn ? cut.turnStartIndex : cut.firstKeptIndex;
  const firstKept = spoken[cut.firstKeptIndex];
  const firstKeptEntryId = firstKept && session.idOf(firstKept.index);
  const context = contextTokens(session);
  const preparation = {
    messagesToSummarize: messages.slice(0, historyEnd),
    turnPrefixMessages: messages.slice(historyEnd, cut.firstKeptIndex),
    isSplitTurn: cut.isSplitTurn,
    tokensBefore: context.tokens,
    fileOps: fileOperations(session.previousDetails, messages.slice(0, cut.firstKeptIndex)),
    ...(session.previousSummary === undefined ? {} : { previousSummary: session.previousSummary }),
    ...(typeof firstKeptEntryId === "string" ? { firstKeptEntryId } : {}),
  };
  return { model, budget, messages, kept: messages.slice(cut.firstKeptIndex), preparation, context };
}

/** Refuses a session whose newest entry is a checkpoint: nothing was said since. @param {Session} session */
function refuseCheckpoint({ endsInCompaction }) {
  if (!endsInCompaction) return;
  throw failure(
    "no_new_history",
    "the session ends in a checkpoint; go on with the session, then compact it again",
  );
}

module.exports = { prepare, refuseCheckpoint };
