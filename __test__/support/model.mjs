import { contextBudget, generateCompaction } from "../../index.js";

/** @typedef {import("./transcripts.mjs").Message} Message */
/**
 * What a scripted client does with one request: a text or a whole answer comes back, an error is thrown, a function
 * is called.
 *
 * @typedef {string | object | Error | ((call: Call) => any)} Step
 */
/** @typedef {{ context: any, options: any, prompt: string, system: string, index: number }} Call */

export const RETRY = Object.freeze({ enabled: true, maxRetries: 3, baseDelayMs: 1 });

/** An assistant message that is a summary. @param {string} text @param {object} more */
export function says(text, more = {}) {
  return { role: "assistant", content: [{ type: "text", text }], stopReason: "stop", ...more };
}

/** The answer of a client whose provider failed. @param {string} errorMessage @param {object} more */
export function failed(errorMessage, more = {}) {
  return { role: "assistant", content: [], stopReason: "error", errorMessage, ...more };
}

/** A usage in which each number is its own. @param {number} base @param {object} more */
export function usage(base, more = {}) {
  const [input, output, cacheRead, cacheWrite] = [base + 1, base + 2, base + 3, base + 4];
  const cost = { input: base / 2, output: base / 4, cacheRead: base / 8, cacheWrite: base / 16, total: base };
  return { input, output, cacheRead, cacheWrite, totalTokens: base + 5, cost, ...more };
}

/** Waits before a step. @param {number} ms @param {Step} step @returns {Step} */
export function after(ms, step) {
  return (call) => new Promise((resolve) => setTimeout(resolve, ms)).then(() => play(step, call));
}

/** Never answers; rejects with the reason as soon as the request is given up. @param {Call} call */
export function holds({ options: { signal } }) {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** Never settles, whatever happens. */
export function hangs() {
  return new Promise(() => {});
}

/** @param {Step} step @param {Call} call */
function play(step, call) {
  if (typeof step === "function") return step(call);
  if (step instanceof Error) throw step;
  return typeof step === "string" ? says(step) : step;
}

/**
 * A client that answers by script and remembers what it was asked. The last step stands for all further requests.
 *
 * @param {Step[]} script
 * @param {object} model
 */
export function client(script, model = {}) {
  /** @type {Call[]} */
  const calls = [];
  const complete = async (/** @type {any} */ context, /** @type {any} */ options) => {
    const prompt = context.messages[0].content[0].text;
    const call = { context, options, prompt, system: context.systemPrompt, index: calls.length };
    calls.push(call);
    return play(script[Math.min(call.index, script.length - 1)], call);
  };
  return {
    calls,
    summarizer: {
      kind: /** @type {const} */ ("callback"),
      model: { provider: "test", id: "scripted", contextWindow: 200_000, maxTokens: 32_000, ...model },
      complete,
    },
  };
}

/** A client of a model with this window. @param {number} contextWindow @param {number} maxTokens @param {Step[]} script */
export function windowed(contextWindow, maxTokens, script = ["SUMMARY"]) {
  return client(script, { contextWindow, maxTokens });
}

/** @param {readonly Message[]} messagesToSummarize @param {object} more @returns {any} */
export function prepared(messagesToSummarize, more = {}) {
  return { messagesToSummarize, turnPrefixMessages: [], isSplitTurn: false, ...more };
}

/**
 * A compaction by the client's model, its events and its outcome. Never rejects.
 *
 * @param {ReturnType<typeof client>} by
 * @param {object} preparation
 * @param {object} more of the request
 */
export async function run(by, preparation, more = {}) {
  /** @type {any[]} */
  const events = [];
  const request = {
    preparation,
    budget: contextBudget(by.summarizer.model),
    summarizer: by.summarizer,
    retry: RETRY,
    onEvent: (/** @type {any} */ event) => events.push(event),
    ...more,
  };
  const [result, error] = await generateCompaction(/** @type {any} */ (request)).then(
    (/** @type {any} */ given) => [given, undefined],
    (/** @type {any} */ thrown) => [undefined, thrown],
  );
  return { result, error, events, calls: by.calls };
}

const OPEN = "<conversation>\n";
const CLOSE = "\n</conversation>";

/** The record inside a prompt. @param {string} prompt */
export function conversationOf(prompt) {
  return prompt.slice(prompt.indexOf(OPEN) + OPEN.length, prompt.indexOf(CLOSE));
}

/** The summary that a prompt carries; `undefined` for none. @param {string} prompt @returns {string | undefined} */
export function previousOf(prompt) {
  return /<previous-summary>\n([\s\S]*?)\n<\/previous-summary>/.exec(prompt)?.[1];
}

/** What stands behind record and previous summary. @param {string} prompt */
export function instructionsOf(prompt) {
  const ends = ["</conversation>", "</previous-summary>"].map((tag) => {
    const at = prompt.lastIndexOf(tag);
    return at < 0 ? 0 : at + tag.length;
  });
  return prompt.slice(Math.max(...ends)).trim();
}

/** Tokens of all that is sent with a request. @param {Call} call @param {number} charsPerToken */
export function sentTokens({ system, prompt }, charsPerToken = 4) {
  return Math.ceil((system.length + prompt.length) / charsPerToken);
}
