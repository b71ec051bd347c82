"use strict";

const { budgetLimits, count, modelLimits, optional, required, summaryInput } = require("./arguments.js");
const { Depth, binding } = require("./crossing.js");
const { invalidArgument } = require("./errors.js");
const { MessageList } = require("./list.js");

/** Printed units of history and turn prefix, and units of the previous summary. */
function printedUnits(/** @type {any} */ value, /** @type {string} */ name, /** @type {any} */ options) {
  const { history, prefix, previousSummary } = summaryInput(value, name);
  const units = (/** @type {MessageList} */ list) =>
    list.with(options, Depth.PRINTED, (...source) => binding.printedUnits(...source, options));
  return [units(history), prefix.length > 0 ? units(prefix) : 0, previousSummary.length];
}

/** What the guard decides on, on its way across. */
const NUMBERS = new Float64Array(8);

function compactionSummaryWouldExceedBudget(preparation, budget, summaryModel, options) {
  const chosen = optional(options, "options");
  const limits = budgetLimits(budget, "budget");
  const units = printedUnits(preparation, "preparation", chosen);
  NUMBERS.set(units);
  NUMBERS.set(limits, units.length);
  NUMBERS.set(modelLimits(summaryModel, "summaryModel"), units.length + limits.length);
  return binding.exceedsBudget(NUMBERS, chosen);
}

function estimateSummaryPromptTokens(input, options) {
  const chosen = optional(options, "options");
  return binding.promptTokens(...printedUnits(input, "input", chosen), chosen);
}

function serializeConversation(messages, options) {
  const chosen = optional(options, "options");
  return binding.conversationText(MessageList.of(messages, "messages").passage(), chosen);
}

/** The raw estimate of each message. @param {MessageList} list @param {any} options @returns {number[]} */
function messageTokens(list, options) {
  return list.with(options, Depth.COUNTED, (...source) => binding.messageTokens(...source, options));
}

/** The raw estimate of a list. @param {MessageList} list @param {any} options */
function measuredTokens(list, options) {
  return messageTokens(list, options).reduce((sum, tokens) => sum + tokens, 0);
}

function estimateTokens(message, options) {
  required(message, "message");
  return messageTokens(new MessageList([["message", [message]]]), optional(options, "options"))[0];
}

function estimateContextTokens(messages, options) {
  const chosen = optional(options, "options");
  const context = MessageList.of(messages, "messages");
  const after = chosen?.afterIndex ?? -1;
  if (!Number.isInteger(after) || after < -1) {
    throw invalidArgument("options.afterIndex", "an integer from -1");
  }
  const { usageTokens, lastUsageIndex } = lastUsage(context, after);
  const trailing = context.slice((lastUsageIndex ?? -1) + 1);
  const trailingTokens = measuredTokens(trailing, chosen);
  return { tokens: usageTokens + trailingTokens, usageTokens, trailingTokens, lastUsageIndex };
}

/** The newest usable report behind an index. @param {MessageList} list @param {number} after */
function lastUsage(list, after) {
  for (let i = list.length - 1; i > after; i--) {
    const usageTokens = list.reportedAt(i);
    if (usageTokens !== null) return { usageTokens, lastUsageIndex: i };
  }
  return { usageTokens: 0, lastUsageIndex: null };
}

function contextBudget(model) {
  return binding.contextBudget(...modelLimits(required(model, "model"), "model"));
}

/** Messages at the end of an array that are looked at for a cut, and how many times more where it is not among them. */
const NEWEST = 128;
const WIDER = 4;

function findCut(messages, keepRecentTokens, options) {
  const chosen = optional(options, "options");
  const context = MessageList.of(messages, "messages");
  const keep = count(keepRecentTokens, "keepRecentTokens");
  context.check();
  for (let newest = NEWEST; ; newest *= WIDER) {
    // A range has its sizes at hand; of an array only what may stay is gathered.
    const start = context.view ? 0 : Math.max(0, context.length - newest);
    const { isSettled, ...cut } = context
      .slice(start)
      .with(chosen, Depth.COUNTED, (...source) => binding.findCut(...source, keep, chosen));
    if (isSettled || start === 0) return behind(start, cut);
  }
}

/** A cut in what stands behind some messages. @param {number} messages @param {any} cut */
function behind(messages, { firstKeptIndex, turnStartIndex, isSplitTurn }) {
  return {
    firstKeptIndex: firstKeptIndex + messages,
    turnStartIndex: isSplitTurn ? turnStartIndex + messages : turnStartIndex,
    isSplitTurn,
  };
}

module.exports = {
  compactionSummaryWouldExceedBudget,
  contextBudget,
  estimateContextTokens,
  estimateSummaryPromptTokens,
  estimateTokens,
  findCut,
  measuredTokens,
  serializeConversation,
};
