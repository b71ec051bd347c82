"use strict";

// A request for a compaction with recovery, checked.

const { choice, flag, optionalCount, required, settingsOf, summaryInput } = require("./arguments.js");
const { carriedOn } = require("./checkpoint.js");
const { invalidArgument } = require("./errors.js");
const { MessageList } = require("./list.js");
const { checkedRequest } = require("./request.js");
const { replayable } = require("./shaping.js");
const { measuredTokens } = require("./sizing.js");

/**
 * @typedef {object} Recovery
 * @property {any} request
 * @property {import("./request.js").Checked} checked its range empty where there is nothing new
 * @property {any} options how a tail is built and measured
 * @property {readonly any[]} kept what stands behind a summary
 * @property {number} keptTokens
 * @property {() => MessageList} source of a fallback's tail
 * @property {number} generation
 * @property {string[]} warnings
 * @property {number} tokensBefore
 */

/** @param {any} request @returns {Recovery} */
function checkedRecovery(request) {
  const options = optionsOf(request);
  const messages = messagesOf(request, options);
  const { kept, keptTokens } = messages;
  const { previousSummary } = summaryInput(request.preparation, "request.preparation");
  const { warnings, ...earlier } = carriedOn(request.previousCheckpoint, previousSummary);
  if (messages.repaired) {
    warnings.push("messages of preparation.retainedTail that cannot be replayed were left out");
  }
  const checked = request.leafIsCheckpoint ? withoutRange(checkedRequest(request)) : checkedRequest(request);
  const recovery = nativeRecovery(request, messages);
  const { readFiles: earlierRead, modifiedFiles: earlierModified, summary: previous } = earlier;
  Object.assign(checked.input, { previous, earlierRead, earlierModified, recovery });
  return {
    request,
    checked,
    options,
    kept,
    keptTokens,
    source: messages.source,
    generation: Math.min(earlier.generation + 1, Number.MAX_SAFE_INTEGER),
    warnings,
    tokensBefore: messages.heldTokens + textTokens(previous, options),
  };
}

/** pi's heuristic. */
const UNITS_PER_TOKEN = 4;

/** Tokens of a checkpoint's text in a context. @param {string} text @param {any} options */
function textTokens({ length }, { charsPerToken }) {
  return Math.ceil(length / (charsPerToken ?? UNITS_PER_TOKEN));
}

/** How a tail is built. @param {any} request */
function optionsOf(request) {
  const { reason, retentionMode, fallbackSummary, leafIsCheckpoint } = required(request, "request");
  choice(reason, "request.reason", ["threshold", "overflow", "manual"]);
  const mode = choice(retentionMode ?? "active_turn", "request.retentionMode", MODES);
  choice(fallbackSummary ?? "notice", "request.fallbackSummary", ["notice", "extractive"]);
  flag(leafIsCheckpoint, "request.leafIsCheckpoint");
  return { dialect: request.dialect, charsPerToken: request.charsPerToken, retentionMode: mode };
}

const MODES = ["active_turn", "completed_turn"];

/**
 * Messages of a request, as they are now: what the host appends to its own lists meanwhile changes nothing.
 *
 * @param {any} request @param {any} options
 */
function messagesOf({ preparation, transcript, leafIsCheckpoint, pendingMessages }, options) {
  const { history, prefix } = summaryInput(preparation, "request.preparation");
  const retained = MessageList.of(
    preparation.retainedTail ?? [],
    "request.preparation.retainedTail",
  ).snapshot();
  const pending = MessageList.of(pendingMessages ?? [], "request.pendingMessages");
  const whole = optionalMessages(transcript);
  const covered = [history.and(prefix).snapshot(), retained];
  const tokens = (/** @type {MessageList[]} */ ...lists) =>
    lists.reduce((sum, list) => sum + measuredTokens(list, options), 0);
  // Where nothing is new, what the tail is made of can only be what came before.
  const nothingNew = leafIsCheckpoint || history.length + prefix.length === 0;
  const rebuilt = nothingNew && whole ? [whole.snapshot()] : covered;
  const held = leafIsCheckpoint && retained.length > 0 ? [retained] : rebuilt;
  const heldTokens = tokens(...held);
  const given = retained.messages;
  const kept = replayable(given);
  return {
    kept,
    keptTokens: tokens(new MessageList([["messages", kept]])),
    repaired: kept.length !== given.length || kept.some((message, i) => message !== given[i]),
    pendingTokens: tokens(pending),
    heldTokens,
    source: () => withoutSummaries(rebuilt.reduce((list, next) => list.and(next))),
  };
}

/** A transcript that holds messages only, whether it is needed or not. @param {any} transcript */
function optionalMessages(transcript) {
  if (transcript === undefined || transcript === null) return undefined;
  const list = MessageList.of(transcript, "request.transcript");
  if (list.view) return list;
  const odd = list.messages.findIndex((message) => message === null || typeof message !== "object");
  if (odd >= 0) throw invalidArgument(`request.transcript[${odd}]`, "a message object");
  return list;
}

/** A summary is carried beside the tail and never in it. @param {MessageList} list */
function withoutSummaries(list) {
  const summaries = list.view ? list.summaries() : undefined;
  if (summaries?.length === 0) return list;
  // Where a context carries a summary on, it is the first message.
  if (summaries?.length === 1 && summaries[0] === 0) return list.slice(1);
  const messages = list.messages.filter((message) => message?.role !== "compactionSummary");
  return new MessageList([["messages", messages]]);
}

/**
 * Nothing is new behind a leaf that is a checkpoint: its range is not summarized again (requirements B8, B9).
 *
 * @param {import("./request.js").Checked} checked
 */
function withoutRange(checked) {
  return { ...checked, input: { ...checked.input, history: 0 }, range: new MessageList([]) };
}

/** What the native side is told. @param {any} request @param {ReturnType<typeof messagesOf>} messages */
function nativeRecovery(request, { keptTokens, pendingTokens }) {
  const { budget, preparation, reason, fallbackSummary } = request;
  const { keepRecentTokens } = settingsOf(preparation, "request.preparation");
  const fixed = Math.max(0, optionalCount(request.fixedTokens, "request.fixedTokens"));
  const beside = fallbackSummary === "extractive" ? "excerpt" : "notice";
  return {
    keepRecent: optionalCount(
      budget?.keepRecentTokens ?? keepRecentTokens,
      "request.budget.keepRecentTokens",
    ),
    beside: fixed + pendingTokens,
    tail: keptTokens,
    onFailure: reason === "manual" ? "fail" : beside,
  };
}

module.exports = { checkedRecovery, textTokens };
