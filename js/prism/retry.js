"use strict";

// Whether and when a provider's turn is tried again.

const { setTimeout: sleep } = require("node:timers/promises");

const { abortSignal, optional, optionalFunction, optionalText, required } = require("../arguments.js");
const { binding } = require("../crossing.js");
const { abortOf, invalidArgument, typed } = require("../errors.js");
const { isWait } = require("../retry-after.js");
const { isTransientErrorInfo } = require("./error.js");
const { metadataOf, secretsOf, wait } = require("./options.js");

const NAME = "default-retry";
const DEFAULTS = Object.freeze(binding.entryRetryPolicy());
/** A timer of Node's: a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** @param {any} [given] */
function createDefaultRetryPolicy(given) {
  const options = optional(given, "options") ?? {};
  const name = optionalText(options.name, "options.name") ?? NAME;
  const policy = {
    maxAttempts: attempt(options.maxAttempts ?? DEFAULTS.maxAttempts, "options.maxAttempts"),
    baseDelayMs: wait(options.baseDelayMs ?? DEFAULTS.baseDelayMs, "options.baseDelayMs"),
    maxDelayMs: wait(options.maxDelayMs ?? DEFAULTS.maxDelayMs, "options.maxDelayMs"),
    jitter: fraction(options.jitter ?? DEFAULTS.jitter, "options.jitter"),
  };
  const random = optionalFunction(options.random, "options.random") ?? Math.random;
  secretsOf(options.secrets, "options.secrets");
  metadataOf(options.metadata, "options.metadata");
  /** @param {any} context */
  const decide = (context) => {
    const { attempt: tried, error, signal } = required(context, "context");
    attempt(tried, "context.attempt");
    const { retryAfterMs } = required(error, "context.error");
    if (abortSignal(signal, "context.signal")?.aborted || !isTransientErrorInfo(error))
      return { retry: false };
    const hint = isWait(retryAfterMs) ? retryAfterMs : undefined;
    const drawn = policy.jitter === 0 ? 0 : draw(random);
    const delayMs = binding.retryDelay(policy, tried, hint, drawn);
    return typeof delayMs === "number" ? { retry: true, delayMs } : { retry: false };
  };
  return { name, decide: typed(decide) };
}

/** @param {any} value @param {string} name @returns {number} */
function attempt(value, name) {
  if (!Number.isSafeInteger(value) || value < 1) throw invalidArgument(name, "a positive safe integer");
  return value;
}

/** @param {any} value @param {string} name @returns {number} */
function fraction(value, name) {
  if (typeof value !== "number" || !(value >= 0 && value <= 1))
    throw invalidArgument(name, "a number from 0 to 1");
  return value;
}

/** A source that throws or draws no number spreads nothing. @param {() => unknown} random */
function draw(random) {
  try {
    const drawn = random();
    return typeof drawn === "number" ? drawn : Number.NaN;
  } catch {
    return Number.NaN;
  }
}

/** Waits as decided; rejects with the signal's reason as soon as it fires. @param {any} decision @param {any} [signal] */
async function waitForRetry(decision, signal) {
  const abort = abortOf({ signal });
  if (abort) throw abort.reason;
  const ms = checkedWait(decision, signal);
  if (ms === 0) return;
  try {
    await sleep(Math.min(ms, LONGEST_MS), undefined, signal ? { signal } : {});
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}

const checkedWait = typed((/** @type {any} */ decision, /** @type {any} */ signal) => {
  const { retry, delayMs } = required(decision, "decision");
  abortSignal(signal, "signal");
  return retry === true ? wait(delayMs ?? 0, "decision.delayMs") : 0;
});

module.exports = { createDefaultRetryPolicy, waitForRetry };
