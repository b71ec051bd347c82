import { callArguments } from "./exotic.mjs";
import { random } from "./random.mjs";
import { capText, pieces, text } from "./texts.mjs";

/** @typedef {import("./random.mjs").Random} Random */
/** @typedef {{ role: string, [key: string]: any }} Message */

/** What stood where text belongs, in files that people had. @param {Random} rng */
function oddText(rng) {
  if (rng.chance(0.9)) return text(rng);
  return rng.pick([undefined, null, 0, 12, true, {}, ["a", "b"], ""]);
}

/** @param {Random} rng @returns {unknown} */
function block(rng) {
  const kind = rng.between(0, 19);
  if (kind < 11) return { type: "text", text: oddText(rng) };
  if (kind < 14) return { type: "image", data: "aGk=", mimeType: "image/png" };
  if (kind < 16) return { type: "thinking", thinking: oddText(rng) };
  if (kind < 18) return rng.pick([{ type: "document", text: "unread" }, {}, { text: "no type" }]);
  return rng.pick([null, undefined, 5, "bare", true]);
}

/** @param {Random} rng @returns {unknown} */
function content(rng) {
  if (rng.chance(0.35)) return text(rng);
  if (rng.chance(0.06)) return rng.pick([null, undefined, 3, true, {}]);
  return rng.list(0, 4, () => block(rng));
}

/** @param {Random} rng */
function usage(rng) {
  if (rng.chance(0.5)) return {};
  const count = () => rng.pick([0, 0, 1, 950, 12_345, Number.NaN, -5, undefined]);
  const full = { input: count(), output: count(), cacheRead: count(), cacheWrite: count() };
  return {
    usage: rng.pick([null, undefined, full, { ...full, totalTokens: count() }, { totalTokens: 777 }]),
  };
}

/** @param {Random} rng @returns {unknown} */
function assistantBlock(rng) {
  if (rng.chance(0.6)) return block(rng);
  const name = rng.chance(0.9) ? rng.pick(["read", "Bash", text(rng, 2)]) : oddText(rng);
  const call = { type: "toolCall", id: `call-${rng.between(0, 5)}`, name };
  return rng.chance(0.03) ? call : { ...call, arguments: callArguments(rng) };
}

/** @param {Random} rng @returns {Message} */
function assistant(rng) {
  const odd = rng.chance(0.06);
  const stopReason = rng.pick([
    "stop",
    "stop",
    "toolUse",
    "length",
    "error",
    "aborted",
    "deferred",
    undefined,
  ]);
  return {
    role: "assistant",
    content: odd ? content(rng) : rng.list(0, 4, () => assistantBlock(rng)),
    stopReason,
    ...usage(rng),
  };
}

/** @param {Random} rng @returns {Message} */
function toolResult(rng) {
  const base = {
    role: "toolResult",
    toolCallId: `call-${rng.between(0, 5)}`,
    toolName: "read",
    isError: false,
  };
  if (rng.chance(0.7)) return { ...base, content: content(rng) };
  const whole = capText(rng);
  if (rng.chance(0.3)) return { ...base, content: whole };
  const blocks = pieces(rng, whole).map((part) => /** @type {unknown} */ ({ type: "text", text: part }));
  if (rng.chance(0.3)) blocks.splice(rng.between(0, blocks.length), 0, block(rng));
  return { ...base, content: blocks };
}

/** @param {Random} rng @returns {Message} */
function bash(rng) {
  return {
    role: "bashExecution",
    command: oddText(rng),
    output: oddText(rng),
    exitCode: rng.pick([0, 1, 127, -1, null, undefined, "2", Number.NaN]),
    cancelled: rng.pick([true, false, undefined, 1]),
    truncated: rng.pick([true, false, undefined]),
    fullOutputPath: rng.pick(["/tmp/out 😀.log", "", undefined]),
    excludeFromContext: rng.pick([true, false, undefined]),
  };
}

/** @param {Random} rng @returns {Message} */
function system(rng) {
  const message = { role: "system", content: content(rng) };
  if (rng.chance(0.3)) return message;
  const section = () => rng.pick([text(rng), "", null, undefined, 4]);
  const sections = rng.pick([undefined, {}, { a: section() }, { b: section(), a: section(), c: section() }]);
  const tool = { name: "read", description: text(rng), parameters: { type: "object", properties: {} } };
  return { ...message, sections, toolsAdded: rng.pick([undefined, [], [tool], [tool, tool]]) };
}

/** @type {((rng: Random) => Message)[]} */
const MAKERS = [
  (rng) => ({ role: "user", content: content(rng) }),
  assistant,
  assistant,
  toolResult,
  toolResult,
  bash,
  system,
  (rng) => ({ role: "custom", customType: "note", display: true, content: content(rng) }),
  (rng) => ({ role: "branchSummary", summary: oddText(rng), fromId: "x" }),
  (rng) => ({ role: "compactionSummary", summary: oddText(rng), tokensBefore: 9 }),
  (rng) => ({ role: rng.pick(["notification", "", "User"]), content: content(rng), summary: "s" }),
];

/**
 * A small transcript of every shape that was seen in the field, malformed ones included.
 *
 * @param {number} seed @param {number} most messages
 * @returns {Message[]}
 */
export function wildTranscript(seed, most = 6) {
  const rng = random(seed);
  return rng.list(0, most, () => rng.pick(MAKERS)(rng));
}
