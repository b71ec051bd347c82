"use strict";

const { invalidArgument } = require("./errors.js");
const { isRecord, printed, unitAt } = require("./values.js");

// Walks messages once and writes what the native side needs of them: two words a record, kind and length,
// and the strings whose content decides something. It knows no label, cap, join or escape; the rules are in
// src/transcript. The numbers of js/records.js are the protocol with src/transcript/part.rs.

const {
  Depth,
  MESSAGE,
  TEXT,
  THINKING,
  IMAGE,
  CALL,
  KEY,
  QUOTED_KEY,
  LITERAL,
  QUOTED,
  UNSERIALIZABLE,
  ARGUMENTS,
  CALL_ID,
  RESULT_ID,
  CAP_UNITS,
  COMMAND,
  OUTPUT,
  EXIT_CODE,
  OUTPUT_PATH,
  SUMMARY,
  NESTED_CALL,
  SHOWN_ONLY,
  WEIGHED_ONLY,
  WHOLE,
  USER,
  ASSISTANT,
  TOOL_RESULT,
  BASH,
  CUSTOM,
  BRANCH_SUMMARY,
  COMPACTION_SUMMARY,
  SYSTEM,
  BROKEN,
  TOOL_USE,
  EXCLUDED,
  CANCELLED,
  TRUNCATED,
  ERROR,
  SHOWS_OUTPUT,
} = require("./records.js");

const isOwn = Object.prototype.hasOwnProperty;

let records = new Uint32Array(1 << 14);
/** @type {string[]} */
let strings = [];
let depth = Depth.PRINTED;
/** Index of the unit before which a tool result is probed; 0 for never. */
let probe = 0;
/** @type {Map<unknown, number>} */
let ids = new Map();
/** Whether the arguments last written add up to the JSON text of the whole. */
let plain = false;
/** Whether a gathering is under way: a getter or `toJSON` of the host may call this package again. */
let busy = false;

// Each writer takes the word at which it writes and answers with the word behind: a local is cheaper than shared
// state, and what throws half-way leaves nothing behind. Where most messages pass, writers call few others: the
// first guard of a process is interpreted, and there calls are what costs.

/** @param {number} at @param {number} tag @param {number} units */
function put(at, tag, units) {
  if (at === records.length) grow();
  records[at] = tag;
  records[at + 1] = units;
  return at + 2;
}

function grow() {
  const grown = new Uint32Array(records.length * 2);
  grown.set(records);
  records = grown;
}

/** A string that is printed and counted. @param {number} at @param {number} tag @param {string} value */
function text(at, tag, value) {
  if (at === records.length) grow();
  records[at] = tag;
  records[at + 1] = value.length;
  if (depth === Depth.TEXT) strings.push(value);
  return at + 2;
}

/**
 * A value in a place of text that is no string: it prints as `shown` and counts by its own length.
 *
 * @param {number} at @param {number} tag @param {string} shown @param {any} value
 */
function oddText(at, tag, shown, value) {
  if (depth === Depth.TEXT) strings.push(shown);
  const counted = value === null || value === undefined ? undefined : value.length;
  const units = typeof counted === "number" && counted > 0 ? counted : 0;
  return put(put(at, tag | SHOWN_ONLY, shown.length), tag | WEIGHED_ONLY, units);
}

/** @param {number} at @param {number} tag @param {any} value */
function oddBlock(at, tag, value) {
  return oddText(at, tag, value === null || value === undefined ? "" : printed(value), value);
}

/** @param {number} at @param {any} value */
function content(at, value) {
  if (typeof value === "string") return text(at, TEXT | WHOLE, value);
  if (!Array.isArray(value)) return at;
  for (let i = 0; i < value.length; i++) {
    const block = value[i];
    if (block === null || typeof block !== "object") continue;
    const type = block.type;
    if (type === "text") {
      const shown = block.text;
      if (typeof shown === "string") at = text(at, TEXT | (i << 8), shown);
      else at = oddBlock(at, TEXT | (i << 8), shown);
    } else if (type === "image") {
      at = put(at, IMAGE | (i << 8), 0);
    }
  }
  return at;
}

/** @param {number} at @param {any} value */
function assistantContent(at, value) {
  if (!Array.isArray(value)) return at;
  for (let i = 0; i < value.length; i++) {
    const block = value[i];
    if (block === null || typeof block !== "object") continue;
    const type = block.type;
    if (type === "toolCall") {
      at = call(at, CALL, i << 8, block);
    } else if (type === "text" || type === "thinking") {
      const tag = (type === "text" ? TEXT : THINKING) | (i << 8);
      const shown = type === "text" ? block.text : block.thinking;
      at = typeof shown === "string" ? text(at, tag, shown) : oddBlock(at, tag, shown);
    }
  }
  return at;
}

/** @param {number} at @param {number} tag @param {number} address @param {any} block */
function call(at, tag, address, block) {
  const name = block.name;
  if (typeof name === "string") at = text(at, tag | address, name);
  else at = oddText(at, tag | address, printed(name), name);
  if (depth !== Depth.PRINTED && tag === CALL) at = put(at, CALL_ID, idOf(block.id));
  const passed = strings.length;
  const args = block.arguments;
  plain = false;
  try {
    at = members(at, args);
  } catch {
    plain = false;
    strings.length = passed;
  }
  return plain || depth === Depth.PRINTED ? at : jsonText(at, ARGUMENTS, args);
}

/** Writes the arguments one by one. @param {number} at @param {any} args */
function members(at, args) {
  if (args === null || args === undefined) return at;
  plain = isRecord(args) && typeof args.toJSON !== "function";
  let i = 0;
  // Much cheaper than Object.keys, and the same keys in the same order.
  for (const key in args) {
    if (!isOwn.call(args, key)) continue;
    at = text(at, KEY | (i << 8), key);
    if (depth !== Depth.PRINTED) {
      at = put(at, QUOTED_KEY, key.length);
      if (depth === Depth.COUNTED) strings.push(key);
    }
    const value = args[key];
    if (typeof value === "string") {
      at = put(at, QUOTED | (i << 8), value.length);
      strings.push(value);
    } else {
      at = literal(at, LITERAL | (i << 8), value);
    }
    i++;
  }
  return at;
}

/** A value that is no string. @param {number} at @param {number} tag @param {any} value */
function literal(at, tag, value) {
  if (typeof value === "number") {
    return text(at, tag, Number.isFinite(value) ? String(value) : JSON.stringify(value));
  }
  if (typeof value === "boolean" || value === null) return text(at, tag, String(value));
  let json;
  try {
    json = JSON.stringify(value);
  } catch {
    plain = false;
    return put(at, UNSERIALIZABLE, 0);
  }
  plain = plain && json !== undefined && typeof value.toJSON !== "function";
  return text(at, tag, String(json));
}

/** A value that counts by its JSON text. @param {number} at @param {number} tag @param {any} value */
function jsonText(at, tag, value) {
  let units;
  try {
    units = String(JSON.stringify(value)).length;
  } catch {
    return put(at, UNSERIALIZABLE | WEIGHED_ONLY, 0);
  }
  return put(at, tag | WEIGHED_ONLY, units);
}

/** @param {unknown} id */
function idOf(id) {
  let number = ids.get(id);
  if (number === undefined) {
    number = ids.size;
    ids.set(id, number);
  }
  return number;
}

/** @param {number} at @param {any} message */
function toolResult(at, message) {
  const value = message.content;
  at = content(at, value);
  if (depth !== Depth.PRINTED) at = put(at, RESULT_ID, idOf(message.toolCallId));
  if (depth === Depth.TEXT) at = nestedCalls(at, message);
  return probe > 0 ? capUnits(at, value) : at;
}

/** Calls that a script made, which pi records on the script's result. @param {number} at @param {any} message */
function nestedCalls(at, message) {
  const nested = message.nestedCalls?.calls;
  if (!Array.isArray(nested)) return at;
  for (let i = 0; i < nested.length; i++) {
    if (nested[i] !== null && typeof nested[i] === "object") at = call(at, NESTED_CALL, i << 8, nested[i]);
  }
  return at;
}

/** The units around the cap, where the text is longer. @param {number} at @param {any} value */
function capUnits(at, value) {
  const before = unitAt(value, probe - 1);
  const after = unitAt(value, probe);
  return after >= 0 ? put(at, CAP_UNITS, ((before << 16) | after) >>> 0) : at;
}

/** @param {number} at @param {any} message */
function bash(at, message) {
  const { command, output, exitCode, fullOutputPath } = message;
  if (typeof command === "string") at = text(at, COMMAND, command);
  else at = oddText(at, COMMAND, printed(command), command);
  if (typeof output === "string") at = text(at, OUTPUT, output);
  else at = oddText(at, OUTPUT, output ? printed(output) : "", output);
  if (exitCode !== null && exitCode !== undefined && exitCode !== 0)
    at = text(at, EXIT_CODE, printed(exitCode));
  return fullOutputPath ? text(at, OUTPUT_PATH, printed(fullOutputPath)) : at;
}

/** @param {number} at @param {any} message */
function system(at, message) {
  at = content(at, message.content);
  if (depth === Depth.PRINTED) return at;
  for (const section of Object.values(message.sections ?? {})) {
    if (section) at = put(at, TEXT | WEIGHED_ONLY, /** @type {any} */ (section).length);
  }
  return message.toolsAdded ? jsonText(at, LITERAL, message.toolsAdded) : at;
}

/** @param {number} at @param {any} message */
function summary(at, message) {
  const value = message.summary;
  if (typeof value === "string") return text(at, SUMMARY, value);
  return oddText(at, SUMMARY, printed(value), value);
}

/** @param {any} reason */
function stopOf(reason) {
  if (reason === "error" || reason === "aborted" || reason === "deferred") return BROKEN;
  return reason === "toolUse" ? TOOL_USE : 0;
}

/** One message: its header, then its parts. @param {number} at @param {any} message */
function parts(at, message) {
  switch (message.role) {
    case "user":
      records[at] = USER;
      return content(at + 2, message.content);
    case "assistant":
      records[at] = ASSISTANT | (depth === Depth.PRINTED ? 0 : stopOf(message.stopReason));
      return assistantContent(at + 2, message.content);
    case "toolResult":
      records[at] = TOOL_RESULT | (message.isError ? ERROR : 0);
      return toolResult(at + 2, message);
    case "bashExecution":
      records[at] = BASH | bashFlags(message);
      return bash(at + 2, message);
    case "custom":
      records[at] = CUSTOM;
      return content(at + 2, message.content);
    case "branchSummary":
      records[at] = BRANCH_SUMMARY;
      return summary(at + 2, message);
    case "compactionSummary":
      records[at] = COMPACTION_SUMMARY;
      return summary(at + 2, message);
    case "system":
      records[at] = SYSTEM;
      return system(at + 2, message);
    default:
      records[at] = MESSAGE;
      return at + 2;
  }
}

/** @param {any} message */
function bashFlags(message) {
  return (
    (message.excludeFromContext ? EXCLUDED : 0) |
    (message.cancelled ? CANCELLED : 0) |
    (message.output ? SHOWS_OUTPUT : 0) |
    (message.truncated ? TRUNCATED : 0)
  );
}

/** One message; where reading it throws, it stands there empty. @param {number} at @param {any} message */
function one(at, message) {
  const passed = strings.length;
  if (at === records.length) grow();
  let end = at + 2;
  try {
    end = parts(at, message);
  } catch {
    records[at] = MESSAGE;
    strings.length = passed;
  }
  records[at + 1] = end - at;
  return end;
}

/**
 * Gathers lists of messages one after the other and hands the records to `use`.
 *
 * @template T
 * @param {readonly (readonly [string, readonly object[]])[]} lists each with the name that an error should use
 * @param {{ depth: number, probe?: number, ids?: Map<unknown, number> }} want `ids` where numbers of calls have to
 *   hold beyond this gathering
 * @param {(records: Uint32Array, words: number, strings: string[]) => T} use
 * @returns {T}
 */
function gather(lists, want, use) {
  const outer = busy ? { records, strings, depth, probe, plain } : undefined;
  const outerIds = ids;
  if (outer) {
    records = new Uint32Array(1 << 14);
    strings = [];
  }
  ids = want.ids ?? new Map();
  busy = true;
  depth = want.depth;
  probe = want.probe ?? 0;
  try {
    let words = 0;
    for (const [name, messages] of lists) words = list(words, name, messages);
    return use(records, words, strings);
  } finally {
    strings.length = 0;
    ids = outerIds;
    if (outer) ({ records, strings, depth, probe, plain } = outer);
    else busy = false;
  }
}

/** @param {number} at @param {string} name @param {readonly object[]} messages */
function list(at, name, messages) {
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i];
    if (message === null || typeof message !== "object") {
      throw invalidArgument(`${name}[${i}]`, "a message object");
    }
    at = one(at, message);
  }
  return at;
}

module.exports = { gather };
