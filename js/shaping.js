"use strict";

const { count, optional, required, summaryInput } = require("./arguments.js");
const { Depth, binding, wholePassageOf } = require("./crossing.js");
const { RECENT_WINDOW } = require("./checkpoint.js");
const { applyEdits } = require("./edits.js");
const { MessageList } = require("./list.js");

function reduceSummaryInput(input) {
  const { history, prefix } = summaryInput(input, "input");
  const [messagesToSummarize, turnPrefixMessages] = [reducedList(history), reducedList(prefix)];
  if (!messagesToSummarize && !turnPrefixMessages) return undefined;
  return {
    ...input,
    ...(messagesToSummarize && { messagesToSummarize }),
    ...(turnPrefixMessages && { turnPrefixMessages }),
  };
}

/** The reduced messages; undefined when none changes. @param {MessageList} list */
function reducedList(list) {
  const indices = list.with(undefined, Depth.PRINTED, (...source) => binding.reducible(...source));
  if (indices.length === 0) return undefined;
  return list.like(editedAt(list.messages, indices, (passage) => binding.reduce(passage)));
}

/** Edits the messages at `indices`, whose texts `plan` gets to see. */
function editedAt(messages, indices, plan) {
  const chosen = Array.from(indices, (index) => messages[index]);
  const edited = applyEdits(chosen, plan(wholePassageOf(chosen)));
  const result = messages.slice();
  indices.forEach((index, i) => {
    result[index] = edited[i];
  });
  return result;
}

/** Cuts the messages of a plan to their targets. */
function cutMessages(messages, { cut, targets }, options, counted) {
  if (cut.length === 0) return messages;
  return editedAt(messages, cut, (passage) => binding.shortened(passage, targets, options, counted));
}

/** The messages that a tail plan keeps; no others are looked at. @param {MessageList} list */
function tailOf(list, plan, options) {
  const places = new Map(plan.kept.map((index, place) => [index, place]));
  const stripped = plan.stripped.map((edit) => ({ ...edit, message: places.get(edit.message) }));
  const cut = plan.cut.map((index) => places.get(index));
  const kept = applyEdits(list.pick(plan.kept), stripped);
  return cutMessages(kept, { cut, targets: plan.targets }, options, true);
}

function buildRetainedTail(messages, maxTokens, options) {
  const range = MessageList.of(messages, "messages");
  return retainedTail(range, count(maxTokens, "maxTokens"), optional(options, "options"));
}

/** @param {MessageList} range @param {number} most @param {any} options @returns {any[]} */
function retainedTail(range, most, options) {
  const plan = range.with(options, Depth.COUNTED, (...source) => binding.tailPlan(...source, most, options));
  return tailOf(range, plan, options);
}

function replayRetainedTail(recordOrMessages) {
  const isList = Array.isArray(recordOrMessages);
  const kept = isList ? recordOrMessages : recordOrMessages?.retainedTail;
  if (!Array.isArray(kept)) return [];
  const sound = replayable(kept);
  if (isList || recordOrMessages.details?.retainedTailShape === RECENT_WINDOW) return sound;
  return sound.filter((message) => message.role === "user").slice(-1);
}

/** The sound messages of a list. @param {readonly any[]} kept @returns {any[]} */
function replayable(kept) {
  const messages = kept.filter((message) => message !== null && typeof message === "object");
  const list = MessageList.of(messages, "messages");
  const plan = list.with(undefined, Depth.COUNTED, (...source) => binding.replayPlan(...source));
  return tailOf(list, plan, undefined);
}

function planChunks(input, options) {
  const chosen = required(options, "options");
  const { history, prefix, previousSummary } = summaryInput(input, "input");
  const range = history.and(prefix);
  const plan = range.with(chosen, Depth.COUNTED, (...source) =>
    binding.chunkPlan(...source, previousSummary.length, chosen),
  );
  if (!plan) return undefined;
  return plan.ends.map((end, i) => {
    const start = i === 0 ? 0 : plan.ends[i - 1];
    const inside = plan.cut.flatMap((index, at) => (index >= start && index < end ? [at] : []));
    if (inside.length === 0) return range.part(start, end);
    const cut = inside.map((at) => plan.cut[at] - start);
    const targets = inside.map((at) => plan.targets[at]);
    const messages = [...range.part(start, end)];
    return range.like(cutMessages(messages, { cut, targets }, chosen, false));
  });
}

module.exports = {
  buildRetainedTail,
  planChunks,
  reduceSummaryInput,
  replayRetainedTail,
  replayable,
  retainedTail,
};
