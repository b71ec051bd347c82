// The guard in JavaScript alone: what is left for native code to win once pi's own code is no longer the measure.
//
// It walks lengths and builds no text, as the addon does, and answers what pi-agent-core 0.87.1 answers; where that
// throws, the offending part prints nothing, as in the addon. It is the best that we could write: of the ways to count
// escapes, `JSON.stringify`, regular expressions and loops over `charCodeAt` took 1.3 to 4 times as long as this one.

const SEPARATOR = "\n\n".length;
const USER = "[User]: ".length;
const THINKING = "[Assistant thinking]: ".length;
const ASSISTANT = "[Assistant]: ".length;
const CALLS = "[Assistant tool calls]: ".length;
const RESULT = "[Tool result]: ".length;
const BRANCH_FRAME =
  "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n</summary>"
    .length;
const COMPACTION_FRAME =
  "The conversation history before this point was compacted into the following summary:\n\n<summary>\n\n</summary>"
    .length;
const CAP = 2_000;
const CUT_MARKER = "\n\n[...  more characters truncated]".length;
const UNSERIALIZABLE = "[unserializable]".length;
const TOKEN = 4;

/** Units that JSON adds for a unit of a string; halves of surrogate pairs are marked, since their neighbours decide. */
const ADDED = new Int32Array(1 << 16);
const HALF = 1 << 20;
ADDED.fill("\\u0000".length - 1, 0, 0x20);
for (const short of '"\\\b\f\n\r\t') ADDED[short.charCodeAt(0)] = 1;
ADDED.fill(HALF, 0xd800, 0xe000);

/** Strings are copied here to be read: reading their units one by one costs more than the copy. */
const copy = new Uint16Array(1 << 14);
const bytes = Buffer.from(copy.buffer);
/** Below this a copy does not pay. */
const SHORT = 48;

/** Whether a summary request would reach the limit, in tokens. @param {any} input @param {number} limit */
export function wouldExceed(input, limit) {
  return promptTokens(input) >= limit;
}

/** Tokens of the larger of the two summary requests. @param {any} input */
export function promptTokens({ messagesToSummarize, turnPrefixMessages, isSplitTurn, previousSummary }) {
  const history = conversationUnits(messagesToSummarize) + (previousSummary?.length ?? 0);
  const prefix = isSplitTurn ? conversationUnits(turnPrefixMessages ?? []) : 0;
  return Math.ceil(Math.max(history, prefix) / TOKEN);
}

/** UTF-16 units of a conversation's text. @param {readonly any[]} messages */
export function conversationUnits(messages) {
  let units = 0;
  // Every part has a label, so none is empty: each brings the separator before it.
  for (let i = 0; i < messages.length; i++) units += messageUnits(messages[i]);
  return units === 0 ? 0 : units - SEPARATOR;
}

/** A message's parts, a separator with each. @param {any} message */
function messageUnits(message) {
  switch (message.role) {
    case "user":
    case "custom":
      return labelled(USER, contentUnits(message.content));
    case "assistant":
      return assistantUnits(message.content);
    case "toolResult":
      return labelled(RESULT, capped(contentUnits(message.content)));
    case "bashExecution":
      return message.excludeFromContext ? 0 : labelled(USER, bashUnits(message));
    case "branchSummary":
      return labelled(USER, BRANCH_FRAME + printed(message.summary));
    case "compactionSummary":
      return labelled(USER, COMPACTION_FRAME + printed(message.summary));
    default:
      return 0;
  }
}

/** @param {number} label @param {number} units */
function labelled(label, units) {
  return units === 0 ? 0 : label + units + SEPARATOR;
}

/** @param {number} units */
function capped(units) {
  return units <= CAP ? units : CAP + CUT_MARKER + String(units - CAP).length;
}

/** @param {any} content */
function contentUnits(content) {
  if (typeof content === "string") return content.length;
  if (!Array.isArray(content)) return 0;
  let units = 0;
  for (let i = 0; i < content.length; i++) {
    const block = content[i];
    if (block?.type === "text") units += joined(block.text);
  }
  return units;
}

/** @param {any} content */
function assistantUnits(content) {
  if (!Array.isArray(content)) return 0;
  // Joins are one unit or two: each block brings one, and a part gives the last one back.
  let [thinking, text, calls] = [0, 0, 0];
  for (let i = 0; i < content.length; i++) {
    const block = content[i];
    const type = block?.type;
    if (type === "toolCall") calls += callUnits(block) + "; ".length;
    else if (type === "text") text += joined(block.text) + "\n".length;
    else if (type === "thinking") thinking += joined(block.thinking) + "\n".length;
  }
  return (
    (thinking === 0 ? 0 : THINKING + thinking - "\n".length + SEPARATOR) +
    (text === 0 ? 0 : ASSISTANT + text - "\n".length + SEPARATOR) +
    (calls === 0 ? 0 : CALLS + calls - "; ".length + SEPARATOR)
  );
}

/** @param {any} block */
function callUnits(block) {
  const args = block.arguments;
  let units = 0;
  // Cheaper than Object.keys, and the same keys.
  for (const key in args) {
    if (!Object.hasOwn(args, key)) continue;
    units += key.length + "=".length + jsonUnits(args[key]) + ", ".length;
  }
  return printed(block.name) + "()".length + (units === 0 ? 0 : units - ", ".length);
}

/** Units of a value's JSON text. @param {unknown} value */
function jsonUnits(value) {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "boolean" || value === null) return String(value).length;
  if (typeof value === "number" && Number.isFinite(value)) return String(value).length;
  try {
    return String(JSON.stringify(value)).length;
  } catch {
    return UNSERIALIZABLE;
  }
}

/** Units of a string between quotes. @param {string} value */
function quoted(value) {
  const { length } = value;
  const short = length < SHORT || length > copy.length;
  const added = short ? addedByUnit(value) : addedInCopy(bytes.write(value, 0, "utf16le") >> 1);
  return added < HALF ? length + added + '""'.length : JSON.stringify(value).length;
}

/** @param {string} value */
function addedByUnit(value) {
  let added = 0;
  for (let i = 0; i < value.length && added < HALF; i++) added += ADDED[value.charCodeAt(i)];
  return added;
}

/** Four sums side by side, so that none waits for the one before. @param {number} length */
function addedInCopy(length) {
  let [first, second, third, fourth] = [0, 0, 0, 0];
  let at = 0;
  for (; at + 3 < length; at += 4) {
    first += ADDED[copy[at]];
    second += ADDED[copy[at + 1]];
    third += ADDED[copy[at + 2]];
    fourth += ADDED[copy[at + 3]];
  }
  for (; at < length; at++) first += ADDED[copy[at]];
  return first + second + third + fourth;
}

/** @param {any} message */
function bashUnits({ command, output, cancelled, exitCode, truncated, fullOutputPath }) {
  let units = "Ran ``\n".length + printed(command);
  units += output ? "```\n\n```".length + printed(output) : "(no output)".length;
  if (cancelled) units += "\n\n(command cancelled)".length;
  else if (exitCode !== null && exitCode !== undefined && exitCode !== 0) {
    units += "\n\nCommand exited with code ".length + printed(exitCode);
  }
  if (truncated && fullOutputPath) {
    units += "\n\n[Output truncated. Full output: ]".length + printed(fullOutputPath);
  }
  return units;
}

/** What a template prints of a value. @param {any} value */
function printed(value) {
  return typeof value === "string" ? value.length : String(value).length;
}

/** What `join` prints of a value. @param {any} value */
function joined(value) {
  return value === null || value === undefined ? 0 : printed(value);
}

// As the addon does at load (js/warm-up.js): a first guard would run in the interpreter otherwise.
const block = (/** @type {string} */ type) => ({ type, [type]: "a" });
const call = { type: "toolCall", name: "a", arguments: { a: "a", long: "a".repeat(SHORT), b: 1 } };
const turn = [
  { role: "user", content: [block("text")] },
  { role: "assistant", content: [block("thinking"), block("text"), call] },
  { role: "toolResult", content: [block("text")] },
];
const warmUp = Array.from({ length: 60 }, () => turn).flat();
// Not by fours, so that each loop of the sums is run.
const longest = "a".repeat(copy.length - 1);
for (let i = 0; i < 8; i++) {
  conversationUnits(warmUp);
  quoted(longest);
}
