import {
  buildRetainedTail,
  compactionSummaryWouldExceedBudget,
  contextBudget,
  estimateContextTokens,
  estimateSummaryPromptTokens,
  findCut,
  generateCompaction,
  planChunks,
  reduceSummaryInput,
  serializeConversation,
} from "../../index.js";
import { client } from "./model.mjs";

/** @typedef {import("./transcripts.mjs").Message} Message */
/** @typedef {readonly Message[] | any} Given a list, a range or a transcript */
/** @typedef {import("./random.mjs").Random} Random */

/** The answer, or the code of the error. @param {() => any} call */
function outcome(call) {
  try {
    return call();
  } catch (error) {
    return { code: /** @type {any} */ (error).code };
  }
}

/** Lists of messages in an answer, ranges told out. @param {any} value @returns {any} */
function told(value) {
  if (value === null || typeof value !== "object") return value;
  if (typeof value[Symbol.iterator] === "function")
    return [...value].map((part) => (isRange(part) ? [...part] : part));
  return value;
}

/** @param {any} value */
function isRange(value) {
  return (
    value !== null &&
    typeof value === "object" &&
    !("role" in value) &&
    typeof value[Symbol.iterator] === "function"
  );
}

/** @param {any} input */
function toldInput(input) {
  if (input === undefined || "code" in input) return input;
  const { messagesToSummarize, turnPrefixMessages, ...rest } = input;
  return { ...rest, history: told(messagesToSummarize), prefix: told(turnPrefixMessages) };
}

/**
 * Every function that takes messages, with random arguments that depend on the seed alone.
 *
 * @param {Random} rng @param {number} length of the messages
 * @returns {Record<string, (given: Given, prefix: Given) => any>}
 */
export function calls(rng, length) {
  const dialect = rng.pick(/** @type {const} */ (["pi-0.87", "pi-1.6"]));
  const sizing = { dialect, ...(rng.chance(0.3) ? { charsPerToken: rng.pick([1, 3, 4.5]) } : {}) };
  const keep = rng.pick([0, 1, 50, 400, 3_000]);
  const afterIndex = rng.between(-1, Math.max(0, length - 1));
  const retentionMode = rng.pick(/** @type {const} */ ([undefined, "active_turn", "completed_turn"]));
  const promptLimit = rng.pick([200, 900, 4_000, 60_000]);
  const boundary = rng.pick(/** @type {const} */ ([undefined, "turn", "message"]));
  const more = {
    isSplitTurn: rng.chance(0.5),
    ...(rng.chance(0.4) ? { previousSummary: "earlier ".repeat(rng.between(1, 90)) } : {}),
  };
  const budget = contextBudget({ contextWindow: rng.pick([8_192, 32_768]), maxTokens: 4_096 });
  const input = (/** @type {Given} */ given, /** @type {Given} */ prefix) =>
    /** @type {any} */ ({ messagesToSummarize: given, turnPrefixMessages: prefix, ...more });
  return {
    serializeConversation: (given) => outcome(() => serializeConversation(given, sizing)),
    estimateContextTokens: (given) => outcome(() => estimateContextTokens(given, { ...sizing, afterIndex })),
    findCut: (given) => outcome(() => findCut(given, keep, sizing)),
    buildRetainedTail: (given) => outcome(() => buildRetainedTail(given, keep, { ...sizing, retentionMode })),
    guard: (...of) => outcome(() => compactionSummaryWouldExceedBudget(input(...of), budget, {}, sizing)),
    estimateSummaryPromptTokens: (...of) => outcome(() => estimateSummaryPromptTokens(input(...of), sizing)),
    reduceSummaryInput: (...of) => toldInput(outcome(() => reduceSummaryInput(input(...of)))),
    planChunks: (...of) =>
      told(outcome(() => planChunks(input(...of), { ...sizing, promptLimit, boundary }))),
  };
}

/** What a run by a client sends and makes of messages. @param {Random} rng @returns {(...of: Given[]) => Promise<any>} */
export function compaction(rng) {
  const window = rng.pick([8_192, 16_384, 200_000]);
  const dialect = rng.pick(/** @type {const} */ (["pi-0.87", "pi-1.6"]));
  const [isSplitTurn, extractive] = [rng.chance(0.5), rng.chance(0.3)];
  const secrets = rng.chance(0.3) ? ["word", "</conversation>"] : [];
  return async (messagesToSummarize, turnPrefixMessages) => {
    const by = client(["SUMMARY"], { contextWindow: window, maxTokens: 4_096 });
    const summarizer = extractive ? { kind: "extractive" } : by.summarizer;
    const preparation = { messagesToSummarize, turnPrefixMessages, isSplitTurn };
    const budget = contextBudget(by.summarizer.model);
    const request = /** @type {any} */ ({ preparation, budget, summarizer, dialect, secrets });
    const result = await generateCompaction(request).catch((error) => ({
      code: error.code,
      message: error.message,
    }));
    return { result, prompts: by.calls.map(({ system, prompt }) => system + prompt) };
  };
}
