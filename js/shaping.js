"use strict";

const { messageList, number, optional, required, summaryInput } = require("./arguments.js");
const { Depth, binding, measured, stored } = require("./crossing.js");
const { applyEdits } = require("./edits.js");

function reduceSummaryInput(input) {
  const { lists } = summaryInput(input, "input");
  const fields = ["messagesToSummarize", "turnPrefixMessages"];
  const reduced = Object.entries(lists).map(([name, messages]) => reducedList(messages, name));
  if (reduced.every((messages) => messages === undefined)) return undefined;
  const changed = { ...input };
  reduced.forEach((messages, i) => {
    if (messages) changed[fields[i]] = messages;
  });
  return changed;
}

/** The reduced messages; undefined when none changes. @param {readonly any[]} messages @param {string} name */
function reducedList(messages, name) {
  const indices = measured({ [name]: messages }, {}, Depth.PRINTED, (records, [words]) =>
    binding.reducible(records, words),
  );
  if (indices.length === 0) return undefined;
  return editedAt(messages, indices, (store) => binding.reduce(store));
}

/** Edits the messages at `indices`, whose texts `plan` gets to see. */
function editedAt(messages, indices, plan) {
  const chosen = Array.from(indices, (index) => messages[index]);
  const edited = applyEdits(chosen, plan(stored(chosen, Number.POSITIVE_INFINITY)));
  const result = messages.slice();
  indices.forEach((index, i) => {
    result[index] = edited[i];
  });
  return result;
}

/** Cuts the messages of a plan to their targets. */
function cutMessages(messages, { cut, targets }, options, counted) {
  if (cut.length === 0) return messages;
  return editedAt(messages, cut, (store) => binding.shortened(store, targets, options, counted));
}

/** The messages that a tail plan keeps. */
function tailOf(messages, plan, options) {
  const stripped = applyEdits(messages, plan.stripped);
  const shortened = cutMessages(stripped, plan, options, true);
  return plan.kept.map((index) => shortened[index]);
}

function buildRetainedTail(messages, maxTokens, options) {
  const range = messageList(messages, "messages");
  const chosen = optional(options, "options");
  const most = number(maxTokens, "maxTokens");
  const plan = measured({ messages: range }, chosen, Depth.COUNTED, (records, [words]) =>
    binding.tailPlan(records, words, most, chosen),
  );
  return tailOf(range, plan, chosen);
}

/** How a checkpoint record says that its tail is a recent window (requirements C14). */
const RECENT_WINDOW = "recent_window";

function replayRetainedTail(recordOrMessages) {
  const isList = Array.isArray(recordOrMessages);
  const stored = isList ? recordOrMessages : recordOrMessages?.retainedTail;
  if (!Array.isArray(stored)) return [];
  const messages = stored.filter((message) => message !== null && typeof message === "object");
  const plan = measured({ messages }, {}, Depth.COUNTED, (records, [words]) =>
    binding.replayPlan(records, words, {}),
  );
  const sound = tailOf(messages, plan, {});
  if (isList || recordOrMessages.details?.retainedTailShape === RECENT_WINDOW) return sound;
  return sound.filter((message) => message.role === "user").slice(-1);
}

function planChunks(input, options) {
  const chosen = required(options, "options");
  const { lists, previousSummary } = summaryInput(input, "input");
  const plan = measured(lists, chosen, Depth.COUNTED, (records, ends) =>
    binding.chunkPlan(records, ends[ends.length - 1], previousSummary.length, chosen),
  );
  if (!plan) return undefined;
  const range = cutMessages(Object.values(lists).flat(), plan, chosen, false);
  return plan.ends.map((end, i) => range.slice(i === 0 ? 0 : plan.ends[i - 1], end));
}

module.exports = { buildRetainedTail, planChunks, reduceSummaryInput, replayRetainedTail };
