/** @typedef {import("./transcripts.mjs").Message} Message */

/** @param {any} message @returns {any[]} */
function blocks(message) {
  return Array.isArray(message.content)
    ? message.content.filter((/** @type {unknown} */ block) => block !== null)
    : [];
}

/** Ids of an assistant message's calls. @param {Message} message @returns {unknown[]} */
export function callIds(message) {
  if (message.role !== "assistant") return [];
  return blocks(message)
    .filter((block) => block?.type === "toolCall")
    .map((block) => block.id);
}

const BROKEN = ["error", "aborted", "deferred"];
const SENT = "user assistant toolResult bashExecution custom branchSummary compactionSummary system".split(
  " ",
);

/** What a provider would refuse in a window, and what pi would not send. @param {readonly Message[]} window */
export function faults(window) {
  const found = [];
  /** @type {Map<unknown, number>} */
  const open = new Map();
  const called = new Set();
  for (const [index, message] of window.entries()) {
    if (!SENT.includes(message.role)) found.push(`${index}: role ${String(message.role)}`);
    if (message.role === "bashExecution" && message.excludeFromContext) found.push(`${index}: excluded`);
    if (message.role === "assistant" && BROKEN.includes(message.stopReason)) found.push(`${index}: broken`);
    if (message.role === "toolResult") {
      if (!called.has(message.toolCallId)) found.push(`${index}: orphaned result`);
      open.delete(message.toolCallId);
    }
    for (const id of new Set(callIds(message))) {
      if (open.has(id)) found.push(`${open.get(id)}: unanswered call`);
      open.set(id, index);
      called.add(id);
    }
  }
  return [...found, ...[...open.values()].map((index) => `${index}: unanswered call`)];
}

/** Whether no reading of the rules lets a window leave this message out. @param {Message} message */
export function replayable(message) {
  if (message.role === "bashExecution") {
    return !message.excludeFromContext && typeof message.command === "string";
  }
  if (message.role === "assistant") {
    const ended = [undefined, "stop", "length"].includes(message.stopReason);
    return ended && callIds(message).length === 0 && hasText(message);
  }
  if (message.role === "user" || message.role === "custom") {
    return typeof message.content === "string" ? message.content !== "" : hasText(message);
  }
  return false;
}

/** @param {Message} message */
function hasText(message) {
  return blocks(message).some(
    (block) => block?.type === "text" && block.text && typeof block.text === "string",
  );
}

/** Whether `copy` can be what was left of a message after a cut. @param {Message} copy @param {Message} message */
function isCut(copy, message) {
  if (copy.role !== message.role) return false;
  const { content: _1, command: _2, output: _3, summary: _4, ...rest } = copy;
  return Object.entries(rest).every(([key, value]) => message[key] === value);
}

/**
 * Where each message of a window stands in its range; −1 for one that is not of the range. Messages that were cut
 * are recognized by what a cut leaves alone.
 *
 * @param {readonly Message[]} range @param {readonly Message[]} window
 */
export function positions(range, window) {
  let at = range.length;
  const found = [];
  for (const message of window.toReversed()) {
    const same = range.lastIndexOf(message, at - 1);
    at =
      same >= 0 && at > 0 ? same : range.slice(0, at).findLastIndex((candidate) => isCut(message, candidate));
    found.unshift(at);
    if (at < 0) break;
  }
  return found;
}

/** Start of the call group that ends before `end`: the assistant message of its trailing results. */
export function groupStart(/** @type {readonly Message[]} */ range, /** @type {number} */ end) {
  let start = end - 1;
  while (start > 0 && range[start].role === "toolResult") start--;
  return start;
}
