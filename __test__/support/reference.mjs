import { entriesOf, ORACLES } from "./oracle.mjs";

/** @typedef {import("./transcripts.mjs").Message} Message */
/** @typedef {import("./oracle.mjs").Dialect} Dialect */

// pi's answer where pi has one. Where it throws or answers NaN, the offending part is taken out of the message
// (an argument without JSON text becomes the placeholder) and pi is asked again, so that every number still
// comes from pi.

const PLACEHOLDER = "[unserializable]";
/** Stands in a repaired message where the placeholder is to be printed; JSON quotes it and changes nothing. */
const STAND_IN = "<<no json text>>";

/** @param {unknown} value */
function jsonText(value) {
  try {
    return JSON.stringify(value) ?? "undefined";
  } catch {
    return PLACEHOLDER;
  }
}

/** @param {any} args */
function printableArguments(args) {
  /** @type {Record<string, unknown>} */
  const repaired = Object.create(null);
  for (const [key, value] of Object.entries(args ?? {})) {
    repaired[key] = jsonText(value) === PLACEHOLDER ? STAND_IN : value;
  }
  return repaired;
}

/** @param {Message} message @param {(block: any) => unknown} repairBlock */
function repairContent(message, repairBlock) {
  const { content } = message;
  if (typeof content === "string" && message.role !== "assistant") return message;
  const blocks = Array.isArray(content) ? content : [];
  return { ...message, content: blocks.filter((block) => block != null).map(repairBlock) };
}

/** @param {Message} message */
function printable(message) {
  return repairContent(message, (block) =>
    block.type === "toolCall" ? { ...block, arguments: printableArguments(block.arguments) } : block,
  );
}

/** A value in a place of text, where pi adds its `length`. @param {any} value */
function countable(value) {
  return typeof value?.length === "number" ? value : "";
}

/** @param {any} block */
function countableBlock(block) {
  if (block.type === "text") return { ...block, text: countable(block.text) };
  if (block.type === "thinking") return { ...block, thinking: countable(block.thinking) };
  if (block.type !== "toolCall") return block;
  // A value of the same length as what 0.87 prints for the arguments.
  const { length } = jsonText(block.arguments);
  const args = length < 2 ? 1 : "x".repeat(length - 2);
  return { ...block, name: countable(block.name), arguments: args };
}

/** @param {Message} message */
function countableMessage(message) {
  const { role } = message;
  if (role === "bashExecution") {
    return { ...message, command: countable(message.command), output: countable(message.output) };
  }
  if (role === "branchSummary" || role === "compactionSummary") {
    return { ...message, summary: countable(message.summary) };
  }
  if (role !== "system") return repairContent(message, countableBlock);
  const sections = Object.entries(message.sections ?? {}).map(([key, value]) => [key, countable(value)]);
  return { ...repairContent(message, countableBlock), sections: Object.fromEntries(sections) };
}

/** One message's text. @param {Dialect} dialect @param {Message} message */
function messageText(dialect, message) {
  const pi = ORACLES[dialect];
  try {
    return pi.serializeConversation(pi.convertToLlm([message]));
  } catch {
    const text = pi.serializeConversation(pi.convertToLlm([printable(message)]));
    return text.replaceAll(JSON.stringify(STAND_IN), PLACEHOLDER);
  }
}

/** pi's text of a conversation. @param {Dialect} dialect @param {readonly Message[]} messages */
export function conversation(dialect, messages) {
  const pi = ORACLES[dialect];
  try {
    return pi.serializeConversation(pi.convertToLlm(messages));
  } catch {
    const texts = messages.map((message) => messageText(dialect, message));
    return texts.filter((text) => text !== "").join("\n\n");
  }
}

/** A message that pi counts. @param {Dialect} dialect @param {Message} message */
export function counted(dialect, message) {
  try {
    if (!Number.isNaN(ORACLES[dialect].estimateTokens(message))) return message;
  } catch {
    // Repaired below.
  }
  return countableMessage(message);
}

/** pi's raw estimate. @param {Dialect} dialect @param {Message} message */
export function tokens(dialect, message) {
  return ORACLES[dialect].estimateTokens(counted(dialect, message));
}

/** @param {Dialect} dialect @param {readonly Message[]} messages */
export function contextTokens(dialect, messages) {
  return ORACLES[dialect].estimateContextTokens(messages.map((message) => counted(dialect, message)));
}

/** The guard's size: the larger of two requests (A38, A41, A42). @param {Dialect} dialect @param {any} input */
export function promptTokens(dialect, input) {
  const history =
    conversation(dialect, input.messagesToSummarize).length + (input.previousSummary ?? "").length;
  const prefix = input.isSplitTurn ? conversation(dialect, input.turnPrefixMessages ?? []).length : 0;
  return Math.ceil(Math.max(history, prefix) / 4);
}

const NO_CUT = new Set(["toolResult", "system"]);
const KNOWN = new Set(
  "user assistant bashExecution custom branchSummary compactionSummary toolResult system".split(" "),
);

/**
 * pi's cut point. 0.87.1 falls back to the first cut point where nothing after the target can be cut; ours steps
 * back to the call, as 1.6 does.
 *
 * @param {Dialect} dialect @param {readonly Message[]} messages @param {number} keep
 */
export function cut(dialect, messages, keep) {
  const pi = ORACLES[dialect];
  const entries = entriesOf(messages.map((message) => counted(dialect, message)));
  const found = pi.findCutPoint(entries, 0, entries.length, keep);
  const last = messages.findLastIndex(({ role }) => KNOWN.has(role) && !NO_CUT.has(role));
  const after = messages.slice(last + 1).reduce((sum, message) => sum + tokens(dialect, message), 0);
  const reached = last >= 0 && last + 1 < messages.length && after >= keep;
  if (dialect === "pi-1.6" || !reached) return fields(found);
  const turnStartIndex = messages[last].role === "user" ? -1 : pi.findTurnStartIndex(entries, last, 0);
  return { firstKeptIndex: last, turnStartIndex, isSplitTurn: turnStartIndex !== -1 };
}

/** @param {import("./oracle.mjs").PiCut} found */
function fields({ firstKeptEntryIndex, turnStartIndex, isSplitTurn }) {
  return { firstKeptIndex: firstKeptEntryIndex, turnStartIndex, isSplitTurn };
}
