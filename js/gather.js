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

let records = new Uint32Array(1 << 14);
let length = 0;
/** @type {string[]} */
let strings = [];
let depth = Depth.PRINTED;
/** Index of the unit before which a tool result is probed; 0 for never. */
let probe = 0;
/** @type {Map<unknown, number>} */
let ids = new Map();
/** Whether a gathering is under way: a getter or `toJSON` of the host may call this package again. */
let busy = false;

/** @param {number} tag @param {number} units */
function put(tag, units) {
  if (length === records.length) {
    const grown = new Uint32Array(records.length * 2);
    grown.set(records);
    records = grown;
  }
  records[length] = tag;
  records[length + 1] = units;
  length += 2;
}

/** A string that is printed and counted. @param {number} tag @param {string} value */
function text(tag, value) {
  put(tag, value.length);
  if (depth === Depth.TEXT) strings.push(value);
}

/** A value in a place of text that is no string: it prints as `shown` and counts by its own length. */
function oddText(/** @type {number} */ tag, /** @type {string} */ shown, /** @type {any} */ value) {
  put(tag | SHOWN_ONLY, shown.length);
  if (depth === Depth.TEXT) strings.push(shown);
  const counted = value === null || value === undefined ? undefined : value.length;
  put(tag | WEIGHED_ONLY, typeof counted === "number" && counted > 0 ? counted : 0);
}

/** @param {number} tag @param {any} value */
function blockText(tag, value) {
  if (typeof value === "string") text(tag, value);
  else oddText(tag, value === null || value === undefined ? "" : printed(value), value);
}

/** What JavaScript prints for a value; nothing where it throws. @param {any} value */
function printed(value) {
  try {
    return String(value);
  } catch {
    return "";
  }
}

/** @param {any} value */
function content(value) {
  if (typeof value === "string") {
    text(TEXT | WHOLE, value);
  } else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const block = value[i];
      if (block === null || typeof block !== "object") continue;
      if (block.type === "text") blockText(TEXT | (i << 8), block.text);
      else if (block.type === "image") put(IMAGE | (i << 8), 0);
    }
  }
}

/** @param {any} value */
function assistantContent(value) {
  if (!Array.isArray(value)) return;
  for (let i = 0; i < value.length; i++) {
    const block = value[i];
    if (block === null || typeof block !== "object") continue;
    if (block.type === "text") blockText(TEXT | (i << 8), block.text);
    else if (block.type === "toolCall") call(CALL, i << 8, block);
    else if (block.type === "thinking") blockText(THINKING | (i << 8), block.thinking);
  }
}

/** @param {number} tag @param {number} address @param {any} block */
function call(tag, address, block) {
  const name = block.name;
  if (typeof name === "string") text(tag | address, name);
  else oddText(tag | address, printed(name), name);
  if (depth !== Depth.PRINTED && tag === CALL) put(CALL_ID, idOf(block.id));
  const start = length;
  const passed = strings.length;
  const args = block.arguments;
  let plain = false;
  try {
    plain = members(args);
  } catch {
    length = start;
    strings.length = passed;
  }
  if (!plain && depth !== Depth.PRINTED) jsonText(ARGUMENTS, args);
}

/** Writes the arguments one by one; false where their sum is not the JSON text of the whole. @param {any} args */
function members(args) {
  if (args === null || args === undefined) return false;
  let plain = isRecord(args) && typeof args.toJSON !== "function";
  const keys = Object.keys(args);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    text(KEY | (i << 8), key);
    if (depth !== Depth.PRINTED) {
      put(QUOTED_KEY, key.length);
      if (depth === Depth.COUNTED) strings.push(key);
    }
    const value = args[key];
    if (typeof value === "string") {
      put(QUOTED | (i << 8), value.length);
      strings.push(value);
    } else if (!literal(LITERAL | (i << 8), value)) {
      plain = false;
    }
  }
  return plain;
}

/** An object that is nothing but its members. @param {any} value */
function isRecord(value) {
  if (typeof value !== "object") return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A value that is no string; false where it is not printed alike inside its object. */
function literal(/** @type {number} */ tag, /** @type {any} */ value) {
  if (typeof value === "number") {
    text(tag, Number.isFinite(value) ? String(value) : JSON.stringify(value));
    return true;
  }
  if (typeof value === "boolean" || value === null) {
    text(tag, String(value));
    return true;
  }
  let json;
  try {
    json = JSON.stringify(value);
  } catch {
    put(UNSERIALIZABLE, 0);
    return false;
  }
  text(tag, String(json));
  return json !== undefined && typeof value.toJSON !== "function";
}

/** A value that counts by its JSON text. @param {number} tag @param {any} value */
function jsonText(tag, value) {
  try {
    put(tag | WEIGHED_ONLY, String(JSON.stringify(value)).length);
  } catch {
    put(UNSERIALIZABLE | WEIGHED_ONLY, 0);
  }
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

/** @param {any} message */
function toolResult(message) {
  content(message.content);
  if (depth !== Depth.PRINTED) put(RESULT_ID, idOf(message.toolCallId));
  if (depth === Depth.TEXT) nestedCalls(message);
  if (probe > 0) {
    const before = unitAt(message.content, probe - 1);
    const after = unitAt(message.content, probe);
    if (after >= 0) put(CAP_UNITS, ((before << 16) | after) >>> 0);
  }
}

/** Calls that a script made, which pi records on the script's result. @param {any} message */
function nestedCalls(message) {
  const nested = message.nestedCalls?.calls;
  if (!Array.isArray(nested)) return;
  for (let i = 0; i < nested.length; i++) {
    if (nested[i] !== null && typeof nested[i] === "object") call(NESTED_CALL, i << 8, nested[i]);
  }
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

/** @param {any} message */
function bash(message) {
  const { command, output, exitCode, fullOutputPath } = message;
  if (typeof command === "string") text(COMMAND, command);
  else oddText(COMMAND, printed(command), command);
  if (typeof output === "string") text(OUTPUT, output);
  else oddText(OUTPUT, output ? printed(output) : "", output);
  if (exitCode !== null && exitCode !== undefined && exitCode !== 0) text(EXIT_CODE, printed(exitCode));
  if (fullOutputPath) text(OUTPUT_PATH, printed(fullOutputPath));
}

/** @param {any} message */
function system(message) {
  content(message.content);
  if (depth === Depth.PRINTED) return;
  for (const section of Object.values(message.sections ?? {})) {
    if (section) put(TEXT | WEIGHED_ONLY, /** @type {any} */ (section).length);
  }
  if (message.toolsAdded) jsonText(LITERAL, message.toolsAdded);
}

/** @param {any} message */
function summary(message) {
  const value = message.summary;
  if (typeof value === "string") text(SUMMARY, value);
  else oddText(SUMMARY, printed(value), value);
}

/** @param {any} reason */
function stopOf(reason) {
  if (depth === Depth.PRINTED) return 0;
  if (reason === "error" || reason === "aborted" || reason === "deferred") return BROKEN;
  return reason === "toolUse" ? TOOL_USE : 0;
}

/** Writes one message's parts and answers with its header. @param {any} message */
function parts(message) {
  switch (message.role) {
    case "user":
      content(message.content);
      return USER;
    case "assistant":
      assistantContent(message.content);
      return ASSISTANT | stopOf(message.stopReason);
    case "toolResult":
      toolResult(message);
      return TOOL_RESULT | (message.isError ? ERROR : 0);
    case "bashExecution":
      bash(message);
      return (
        BASH |
        (message.excludeFromContext ? EXCLUDED : 0) |
        (message.cancelled ? CANCELLED : 0) |
        (message.truncated ? TRUNCATED : 0)
      );
    case "custom":
      content(message.content);
      return CUSTOM;
    case "branchSummary":
      summary(message);
      return BRANCH_SUMMARY;
    case "compactionSummary":
      summary(message);
      return COMPACTION_SUMMARY;
    case "system":
      system(message);
      return SYSTEM;
    default:
      return 0;
  }
}

/** One message; where reading it throws, it stands there empty. @param {object} message */
function one(message) {
  const start = length;
  const passed = strings.length;
  put(MESSAGE, 0);
  let header = 0;
  try {
    header = parts(message);
  } catch {
    length = start + 2;
    strings.length = passed;
  }
  records[start] = MESSAGE | header;
  records[start + 1] = length - start;
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
  const outer = busy ? { records, length, strings, depth, probe, ids } : undefined;
  if (outer) {
    records = new Uint32Array(1 << 14);
    strings = [];
    ids = new Map();
  }
  busy = true;
  length = 0;
  depth = want.depth;
  probe = want.probe ?? 0;
  try {
    const ends = [];
    for (const name in lists) {
      list(name, lists[name]);
      ends.push(length);
    }
    return use(records, ends, strings);
  } finally {
    strings.length = 0;
    ids.clear();
    if (outer) ({ records, length, strings, depth, probe, ids } = outer);
    else busy = false;
  }
}

/** @param {string} name @param {readonly object[]} messages */
function list(name, messages) {
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i];
    if (message === null || typeof message !== "object") {
      throw invalidArgument(`${name}[${i}]`, "a message object");
    }
    one(message);
  }
}

/** Calls `native(...leading, ...batch)` until every string has been passed. */
function pass(/** @type {string[]} */ all, /** @type {(batch: string[]) => void} */ native) {
  for (let at = 0; at < all.length; at += BATCH) {
    native(all.length <= BATCH ? all : all.slice(at, at + BATCH));
  }
}

module.exports = { Depth, gather, pass };
