"use strict";

// When to compact.

const {
  abortSignal,
  count,
  optional,
  optionalCount,
  optionalFunction,
  required,
} = require("../arguments.js");
const { abortOf, invalidArgument, typed } = require("../errors.js");
const { tell } = require("../listener.js");
const { countOr, metadataOf } = require("./options.js");

/** Tokens that stay free of a model's window beside its answer. */
const RESERVE_TOKENS = 1_024;
/** Truncated turns in a row that arm the trigger. */
const TRUNCATED_TURNS = 2;

const TYPES = '"threshold_entries", "input_ratio" or "custom"';

/** @param {any} trigger */
function assertCompactionTrigger(trigger) {
  checkedTrigger(trigger);
}

/** A trigger, read once. @param {any} value */
function checkedTrigger(value) {
  const { type, entries, ratio, shouldCompact } = required(value, "trigger");
  if (type === "threshold_entries") return { type, entries: count(entries, "trigger.entries") };
  if (type === "input_ratio") {
    if (typeof ratio === "number" && ratio > 0 && ratio <= 1) return { type, ratio };
    throw invalidArgument("trigger.ratio", "a number above 0, at most 1");
  }
  if (type !== "custom") throw invalidArgument("trigger.type", TYPES);
  if (typeof shouldCompact !== "function") throw invalidArgument("trigger.shouldCompact", "a function");
  return { type, shouldCompact: (/** @type {any} */ context) => shouldCompact.call(value, context) };
}

/**
 * The one decision, for sessions and other hosts. What a host's own resolver throws stays as it is, since it tells of
 * the host's configuration (requirement E86).
 *
 * @param {any} options @param {any} input
 */
async function resolveShouldCompact(options, input) {
  const abort = abortOf(input);
  if (abort) throw abort.reason;
  const { trigger, thresholdEntries, compactAfterTokens, asked } = checkedDecision(options, input);
  if (asked.endsInCompaction) return false;
  if (trigger === undefined) {
    if (thresholdEntries !== undefined) return asked.entryCount > thresholdEntries;
    return compactAfterTokens !== undefined && asked.estimate() >= compactAfterTokens;
  }
  if (trigger.type === "threshold_entries") return asked.entryCount > trigger.entries;
  if (trigger.type === "input_ratio") return asked.estimate() >= trigger.ratio * asked.cap();
  return unlessFired(agrees(trigger, asked), asked.signal);
}

const checkedDecision = typed((/** @type {any} */ options, /** @type {any} */ input) => {
  const { trigger, thresholdEntries, compactAfterTokens } = required(options, "options");
  const { sessionId, entryCount, entries, estimateInputTokens, resolveInputCapTokens } = required(
    input,
    "input",
  );
  const { metadata, signal, onError } = input;
  if (typeof sessionId !== "string") throw invalidArgument("input.sessionId", "a string");
  if (!Array.isArray(entries ?? [])) throw invalidArgument("input.entries", "an array");
  optionalCount(thresholdEntries, "options.thresholdEntries");
  optionalCount(compactAfterTokens, "options.compactAfterTokens");
  const asked = {
    sessionId,
    entryCount: count(entryCount, "input.entryCount"),
    endsInCompaction: entries?.[entries.length - 1]?.kind === "compaction",
    estimate: once(estimateInputTokens, "input.estimateInputTokens", 0),
    cap: once(resolveInputCapTokens, "input.resolveInputCapTokens", 1),
    onError: optionalFunction(onError, "input.onError"),
    signal: abortSignal(signal, "input.signal"),
    ...metadataOf(metadata, "input.metadata"),
  };
  return {
    asked,
    trigger: trigger === undefined || trigger === null ? undefined : checkedTrigger(trigger),
    thresholdEntries: thresholdEntries ?? undefined,
    compactAfterTokens: compactAfterTokens ?? undefined,
  };
});

/**
 * A number of the host's that is asked for when it is needed, and then once.
 *
 * @param {any} resolve @param {string} name @param {number} least
 */
function once(resolve, name, least) {
  /** @type {{ number: number } | { thrown: unknown } | undefined} */
  let answer;
  const asked = () => {
    if (typeof resolve !== "function") throw invalidArgument(name, "a function");
    const number = resolve();
    if (typeof number === "number" && number >= least) return { number };
    throw invalidArgument(`${name}()`, `a number from ${least}`);
  };
  return () => {
    try {
      answer ??= asked();
    } catch (thrown) {
      answer = { thrown };
    }
    if ("thrown" in answer) throw answer.thrown;
    return answer.number;
  };
}

/**
 * A host's own callback: only its `true` counts, and where it throws nothing is compacted on a guess.
 *
 * @param {any} trigger @param {any} asked
 */
async function agrees(trigger, { sessionId, entryCount, estimate, cap, metadata, signal, onError }) {
  const context = {
    sessionId,
    entryCount,
    get estimatedInputTokens() {
      return estimate();
    },
    get inputCapTokens() {
      return cap();
    },
    ...(metadata ? { metadata } : {}),
    ...(signal ? { signal } : {}),
  };
  try {
    return (await trigger.shouldCompact(context)) === true;
  } catch (error) {
    tell({ hear: (thrown) => onError?.(thrown) }, error);
    return false;
  }
}

/**
 * What is decided, or the reason of a signal that fires before.
 *
 * @param {Promise<boolean>} decided @param {AbortSignal | undefined} signal @returns {Promise<boolean>}
 */
function unlessFired(decided, signal) {
  if (!signal) return decided;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    decided.finally(() => signal.removeEventListener("abort", abort)).then(resolve, reject);
  });
}

/** Tokens that a request may have. @param {any} [options] @param {any} [model] */
function resolveInputCap(options, model) {
  const { maxInputTokens, reserveTokens } = optional(options, "options") ?? {};
  const reserve = countOr(reserveTokens, "options.reserveTokens", RESERVE_TOKENS);
  if (optionalCount(maxInputTokens, "options.maxInputTokens") === 0) {
    throw invalidArgument("options.maxInputTokens", "a positive safe integer");
  }
  if (maxInputTokens !== undefined && maxInputTokens !== null) return maxInputTokens;
  const { contextWindow, maxOutputTokens } = optional(optional(model, "model")?.limits, "model.limits") ?? {};
  const output = countOr(maxOutputTokens, "model.limits.maxOutputTokens", 0);
  if (contextWindow === undefined || contextWindow === null) {
    throw invalidArgument("options.maxInputTokens", "a count, or model.limits.contextWindow");
  }
  const cap = count(contextWindow, "model.limits.contextWindow") - output - reserve;
  if (cap > 0) return cap;
  throw invalidArgument(
    "model.limits.contextWindow",
    "more than model.limits.maxOutputTokens and options.reserveTokens together",
  );
}

/** @param {any} [options] */
function createAttentionTruncationTrigger(options) {
  const threshold = countOr(optional(options, "options")?.threshold, "options.threshold", TRUNCATED_TURNS);
  if (threshold === 0) throw invalidArgument("options.threshold", "a positive safe integer");
  let turns = 0;
  const fires = () => {
    if (turns < threshold) return false;
    turns = 0;
    return true;
  };
  return {
    trigger: { type: "custom", shouldCompact: fires },
    /** @param {any} event */
    observe(event) {
      const { type, truncated } = required(event, "event");
      if (type === undefined || type === "attention_compiled") turns = truncated === true ? turns + 1 : 0;
      return turns;
    },
    streak: () => turns,
    reset() {
      turns = 0;
    },
  };
}

module.exports = {
  assertCompactionTrigger,
  createAttentionTruncationTrigger,
  resolveInputCap,
  resolveShouldCompact,
};
