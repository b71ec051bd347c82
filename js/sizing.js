"use strict";

const { messageList, number, optional, required, summaryInput } = require("./arguments.js");
const { Depth, binding, measured, stored } = require("./crossing.js");
const { invalidArgument } = require("./errors.js");

/** Measures both requests of an input. @param {any} value @param {string} name @param {any} options */
function measuredInput(value, name, options, use) {
  const { lists, previousSummary } = summaryInput(value, name);
  return measured(lists, options, Depth.PRINTED, (records, ends) => {
    const words = ends[ends.length - 1];
    return use(records, ends[0], words, previousSummary.length);
  });
}

function compactionSummaryWouldExceedBudget(preparation, budget, summaryModel, options) {
  const limits = required(budget, "budget");
  const model = optional(summaryModel, "summaryModel");
  const chosen = optional(options, "options");
  return measuredInput(preparation, "preparation", chosen, (...gathered) =>
    binding.exceedsBudget(...gathered, limits, model, chosen),
  );
}

function estimateSummaryPromptTokens(input, options) {
  const chosen = optional(options, "options");
  return measuredInput(input, "input", chosen, (...gathered) => binding.promptTokens(...gathered, chosen));
}

function serializeConversation(messages, options) {
  const chosen = optional(options, "options");
  return binding.conversationText(stored(messageList(messages, "messages"), 0), chosen);
}

function messageTokens(messages, options, name) {
  return measured({ [name]: messages }, options, Depth.COUNTED, (records, [words]) =>
    binding.messageTokens(records, words, options),
  );
}

/** The raw estimate of a list. @param {readonly any[]} messages @param {any} options */
function measuredTokens(messages, options) {
  return messageTokens(messages, options, "messages").reduce((sum, tokens) => sum + tokens, 0);
}

function estimateTokens(message, options) {
  required(message, "message");
  return messageTokens([message], optional(options, "options"), "message")[0];
}

function estimateContextTokens(messages, options) {
  const chosen = optional(options, "options");
  const context = messageList(messages, "messages");
  const after = chosen.afterIndex ?? -1;
  if (!Number.isInteger(after) || after < -1)
    throw invalidArgument("options.afterIndex", "an integer from -1");
  const { usageTokens, lastUsageIndex } = lastUsage(context, after);
  const trailing = lastUsageIndex === null ? context : context.slice(lastUsageIndex + 1);
  const trailingTokens = measuredTokens(trailing, chosen);
  return { tokens: usageTokens + trailingTokens, usageTokens, trailingTokens, lastUsageIndex };
}

/** The newest usable report behind an index. @param {readonly any[]} messages @param {number} after */
function lastUsage(messages, after) {
  for (let i = messages.length - 1; i > after; i--) {
    const message = messages[i];
    if (message === null || typeof message !== "object")
      throw invalidArgument(`messages[${i}]`, "a message object");
    if (message.role !== "assistant" || message.usage === null || typeof message.usage !== "object") continue;
    const { totalTokens, input, output, cacheRead, cacheWrite } = message.usage;
    const numbers = [totalTokens, input, output, cacheRead, cacheWrite].map(Number);
    const usageTokens = binding.reportedTokens(String(message.stopReason), ...numbers);
    if (usageTokens !== null) return { usageTokens, lastUsageIndex: i };
  }
  return { usageTokens: 0, lastUsageIndex: null };
}

function contextBudget(model) {
  return binding.contextBudget(required(model, "model"));
}

function findCut(messages, keepRecentTokens, options) {
  const chosen = optional(options, "options");
  const context = messageList(messages, "messages");
  const keep = number(keepRecentTokens, "keepRecentTokens");
  return measured({ messages: context }, chosen, Depth.COUNTED, (records, [words]) =>
    binding.findCut(records, words, keep, chosen),
  );
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
