const { invalidArgument } = require("./errors.js");

// Walks messages once and writes what the native side needs of them: two words a record, kind and length,
// and the strings whose content decides something. It knows no label, cap, join or escape; the rules are in
// src/transcript. The numbers below are the protocol with src/transcript/part.rs.

const MESSAGE = 0;
const TEXT = 1;
const THINKING = 2;
const IMAGE = 3;
const CALL = 4;
const KEY = 5;
const QUOTED_KEY = 6;
const LITERAL = 7;
const QUOTED = 8;
const UNSERIALIZABLE = 9;
const ARGUMENTS = 10;
const CALL_ID = 11;
const RESULT_ID = 12;
const CAP_UNITS = 13;
const COMMAND = 14;
const OUTPUT = 15;
const EXIT_CODE = 16;
const OUTPUT_PATH = 17;
const SUMMARY = 18;
const NESTED_CALL = 19;

const SHOWN_ONLY = 1 << 6;
const WEIGHED_ONLY = 1 << 7;
const WHOLE = 0xffffff << 8;

const ROLE = 0xf << 8;
const USER = 1 << 8;
const ASSISTANT = 2 << 8;
const TOOL_RESULT = 3 << 8;
const BASH = 4 << 8;
const CUSTOM = 5 << 8;
const BRANCH_SUMMARY = 6 << 8;
const COMPACTION_SUMMARY = 7 << 8;
const SYSTEM = 8 << 8;

const BROKEN = 1 << 12;
const TOOL_USE = 2 << 12;
const EXCLUDED = 1 << 16;
const CANCELLED = 1 << 17;
const TRUNCATED = 1 << 18;
const ERROR = 1 << 19;

/** How much is gathered; each level includes the one before. */
const Depth = Object.freeze({
  /** Lengths of what is printed; the strings of call arguments go along to be measured. */
  PRINTED: 0,
  /** Also what the raw estimate counts, the ids that pair calls with results, and stop reasons. */
  COUNTED: 1,
  /** All of it, and every string goes along. */
  TEXT: 2,
});

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
// state, and what throws half-way leaves nothing behind.

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
  if (depth === Depth.TEXT) strings.push(value);
  return put(at, tag, value.length);
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
function blockText(at, tag, value) {
  if (typeof value === "string") return text(at, tag, value);
  return oddText(at, tag, value === null || value === undefined ? "" : printed(value), value);
}

/** What JavaScript prints for a value; nothing where it throws. @param {any} value */
function printed(value) {
  try {
    return String(value);
  } catch {
    return "";
  }
}

/** @param {number} at @param {any} value */
function content(at, value) {
  if (typeof value === "string") return text(at, TEXT | WHOLE, value);
  if (!Array.isArray(value)) return at;
  for (let i = 0; i < value.length; i++) {
    const block = value[i];
    if (block === null || typeof block !== "object") continue;
    const type = block.type;
    if (type === "text") at = blockText(at, TEXT | (i << 8), block.text);
    else if (type === "image") at = put(at, IMAGE | (i << 8), 0);
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
    if (type === "text") at = blockText(at, TEXT | (i << 8), block.text);
    else if (type === "toolCall") at = call(at, CALL, i << 8, block);
    else if (type === "thinking") at = blockText(at, THINKING | (i << 8), block.thinking);
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

/** An object that is nothing but its members. @param {any} value */
function isRecord(value) {
  if (typeof value !== "object") return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
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

/** The unit at an index of the joined text blocks; -1 where there is none. */
function unitAt(/** @type {any} */ value, /** @type {number} */ index) {
  if (typeof value === "string") return index < value.length ? value.charCodeAt(index) : -1;
  if (!Array.isArray(value)) return -1;
  let at = index;
  for (const block of value) {
    if (block === null || typeof block !== "object" || block.type !== "text") continue;
    const shown = block.text === null || block.text === undefined ? "" : printed(block.text);
    if (at < shown.length) return shown.charCodeAt(at);
    at -= shown.length;
  }
  return -1;
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
  if (depth === Depth.PRINTED) return 0;
  if (reason === "error" || reason === "aborted" || reason === "deferred") return BROKEN;
  return reason === "toolUse" ? TOOL_USE : 0;
}

/** The header of a message: its role and what else is told of it. @param {any} message */
function headerOf(message) {
  switch (message.role) {
    case "user":
      return USER;
    case "assistant":
      return ASSISTANT | stopOf(message.stopReason);
    case "toolResult":
      return TOOL_RESULT | (message.isError ? ERROR : 0);
    case "bashExecution":
      return (
        BASH |
        (message.excludeFromContext ? EXCLUDED : 0) |
        (message.cancelled ? CANCELLED : 0) |
        (message.truncated ? TRUNCATED : 0)
      );
    case "custom":
      return CUSTOM;
    case "branchSummary":
      return BRANCH_SUMMARY;
    case "compactionSummary":
      return COMPACTION_SUMMARY;
    case "system":
      return SYSTEM;
    default:
      return 0;
  }
}

/** The parts of one message. @param {number} at @param {number} role @param {any} message */
function parts(at, role, message) {
  switch (role) {
    case ASSISTANT:
      return assistantContent(at, message.content);
    case TOOL_RESULT:
      return toolResult(at, message);
    case USER:
    case CUSTOM:
      return content(at, message.content);
    case BASH:
      return bash(at, message);
    case BRANCH_SUMMARY:
    case COMPACTION_SUMMARY:
      return summary(at, message);
    case SYSTEM:
      return system(at, message);
    default:
      return at;
  }
}

/** One message; where reading it throws, it stands there empty. @param {number} at @param {any} message */
function one(at, message) {
  const passed = strings.length;
  let end = put(at, MESSAGE, 0);
  let header = MESSAGE;
  try {
    const told = headerOf(message);
    end = parts(end, told & ROLE, message);
    header = MESSAGE | told;
  } catch {
    end = at + 2;
    strings.length = passed;
  }
  records[at] = header;
  records[at + 1] = end - at;
  return end;
}

/** Strings that one native call takes as arguments. */
const BATCH = 4096;

/**
 * Gathers lists of messages one after the other and hands the records to `use`.
 *
 * @template T
 * @param {Record<string, readonly object[]>} lists by the name that an error should use
 * @param {{ depth: number, probe?: number }} want
 * @param {(records: Uint32Array, ends: number[], strings: string[]) => T} use
 *   `ends` holds the word at which each list ends
 * @returns {T}
 */
function gather(lists, want, use) {
  const outer = busy ? { records, strings, depth, probe, ids, plain } : undefined;
  if (outer) {
    records = new Uint32Array(1 << 14);
    strings = [];
    ids = new Map();
  }
  busy = true;
  depth = want.depth;
  probe = want.probe ?? 0;
  try {
    const ends = [];
    let at = 0;
    for (const name in lists) {
      at = list(at, name, lists[name]);
      ends.push(at);
    }
    return use(records, ends, strings);
  } finally {
    strings.length = 0;
    ids.clear();
    if (outer) ({ records, strings, depth, probe, ids, plain } = outer);
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

/** Calls `native(...leading, ...batch)` until every string has been passed. */
function pass(/** @type {string[]} */ all, /** @type {(batch: string[]) => void} */ native) {
  for (let at = 0; at < all.length; at += BATCH) {
    native(all.length <= BATCH ? all : all.slice(at, at + BATCH));
  }
}

module.exports = { Depth, gather, pass };
