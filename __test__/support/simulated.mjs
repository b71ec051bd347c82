import { failed, previousOf, says } from "./model.mjs";
import { isCompression, mark } from "./refine.mjs";

/** @typedef {import("./random.mjs").Random} Random */
/** @typedef {import("./transcripts.mjs").Message} Message */

/** How providers say that a prompt is too long. @type {((tokens: number, most: number) => string)[]} */
const OVERFLOWS = [
  (tokens, most) => `prompt is too long: ${tokens} tokens > ${most} maximum`,
  (tokens, most) =>
    `This model's maximum context length is ${most} tokens. However, your messages resulted in ${tokens} tokens.`,
  () => "context_length_exceeded",
  () => "Your input exceeds the context window of this model.",
  () => "prompt is too long",
];

/** What passes by itself. */
const HICCUPS = [
  () => failed("529 overloaded_error"),
  () => new Error("socket hang up"),
  () => says(" "),
  () => says("partial", { stopReason: "aborted" }),
];

/**
 * A model that is not what it is said to be: its tokens are shorter or longer than estimated, its window and its
 * answers end where nobody said, it is talkative or terse, and it fails now and then.
 *
 * @param {Random} rng @param {number} contextWindow as stated
 */
export function temper(rng, contextWindow) {
  const kind = rng.pick(["benign", "benign", "capped", "capped", "overflowing", "flaky", "any", "any"]);
  const has = (/** @type {string} */ of) => kind === of || (kind === "any" && rng.chance(0.6));
  return {
    kind,
    density: rng.pick([2.2, 3, 3.5, 4.5]),
    window: has("overflowing") ? Math.ceil(contextWindow * rng.pick([0.05, 0.12, 0.25, 0.4])) : Infinity,
    wording: rng.pick(OVERFLOWS),
    cap: has("capped") ? rng.pick([30, 200, 500, 1_000, 2_500, 6_000]) : Infinity,
    base: rng.pick([5, 200, 1_500]),
    perRecord: kind === "benign" ? 0.02 : rng.pick([0, 0.05, 0.1, 0.5, 1.2]),
    perSummary: kind === "benign" ? 0.2 : rng.pick([0.2, 0.9, 1, 1.1, 1.5]),
    compressed: rng.pick([0.2, 0.6, 0.6, 0.95, 1, 1.3]),
    hiccups: has("flaky") ? rng.pick([0.05, 0.2, 0.5]) : 0,
  };
}

/**
 * The rule of such a model. The same requests get the same answers.
 *
 * @param {ReturnType<typeof temper>} is @param {Random} rng for its hiccups
 */
export function simulated(is, rng) {
  return (/** @type {any} */ made) => {
    if (is.hiccups > 0 && rng.chance(is.hiccups)) return rng.pick(HICCUPS)();
    const { system, prompt, index, options } = made;
    const tokens = Math.ceil((system.length + prompt.length) / is.density);
    if (tokens > is.window) return failed(is.wording(tokens, is.window));
    const carried = previousOf(prompt)?.length ?? 0;
    const units = isCompression(made)
      ? carried * is.compressed
      : is.base + prompt.length * is.perRecord + carried * is.perSummary;
    // A provider stops at what was asked for, and this one earlier where it has a cap of its own.
    const most = Math.floor(Math.min(is.cap, options.maxTokens) * is.density);
    const text = `S${index} `.padEnd(Math.floor(units), "s");
    return text.length > most ? says(text.slice(0, most), { stopReason: "length" }) : says(text.trim());
  };
}

/** Sizes as they are met: mostly short, some long, a few beyond all bounds. @param {Random} rng @param {number} chunk */
function length(rng, chunk) {
  if (rng.chance(0.02)) return Math.floor(chunk * rng.pick([0.6, 1.5, 4]));
  return rng.chance(0.15) ? rng.between(600, 3_000) : rng.between(20, 500);
}

/** @param {Random} rng @param {() => string} words of a marked text @param {string} id @returns {Message[]} */
function callGroup(rng, words, id) {
  const spoken = rng.chance(0.5) ? [{ type: "text", text: words() }] : [];
  const calls = rng.list(1, 3, (index) => ({
    type: "toolCall",
    id: `${id}-${index}`,
    name: rng.pick(["read", "Bash", "edit"]),
    // Where nothing is spoken, the arguments of the first call mark the message.
    arguments: { path: spoken.length === 0 && index === 0 ? words() : `src/${id}-${index}.ts` },
  }));
  const results = calls.map(({ id: toolCallId }) => ({
    role: "toolResult",
    toolCallId,
    toolName: "read",
    isError: false,
    content: [{ type: "text", text: words() }],
  }));
  return [{ role: "assistant", content: [...spoken, ...calls], stopReason: "toolUse" }, ...results];
}

/** @param {Random} rng @param {() => string} words @returns {Message} */
function opening(rng, words) {
  return rng.pick([
    () => ({ role: "user", content: words() }),
    () => ({ role: "user", content: [{ type: "text", text: words() }] }),
    () => ({
      role: "bashExecution",
      command: words(),
      output: "ok",
      exitCode: 0,
      cancelled: false,
      truncated: false,
    }),
    () => ({ role: "custom", customType: "note", content: words(), display: true }),
    () => ({ role: "branchSummary", summary: words(), fromId: "b" }),
  ])();
}

/**
 * A transcript whose messages are numbered: each holds its mark once, at the beginning of a text.
 *
 * @param {Random} rng @param {number} units about so many @param {number} chunk units of a chunk
 */
export function markedTranscript(rng, units, chunk) {
  /** @type {Message[]} */
  const messages = [];
  let [count, size] = [0, 0];
  const words = () => {
    const text = `${mark(count++)} `.padEnd(length(rng, chunk), rng.pick(["x", "ж", "y z "]));
    size += text.length;
    return text;
  };
  while (size < units) {
    if (messages.length === 0 || rng.chance(0.3)) messages.push(opening(rng, words));
    else if (rng.chance(0.7)) messages.push(...callGroup(rng, words, `t${messages.length}`));
    else messages.push({ role: "assistant", content: [{ type: "text", text: words() }], stopReason: "stop" });
  }
  return { messages, count };
}
