"use strict";

// Errors as data: what is known of a failure, without secrets, and whether it passes by itself.

const { required, optional, optionalText } = require("../arguments.js");
const { binding } = require("../crossing.js");
const { invalidArgument } = require("../errors.js");
const { CAUSES } = require("../host.js");
const { isWait, retryAfterIn } = require("../retry-after.js");
const { printed } = require("../values.js");
const { secretsOf } = require("./options.js");

/**
 * What was thrown, as data: no stack, and of a cause, which may hold anything, no more than its code.
 *
 * @typedef {{ name?: string, message: string, code?: string | number, retryAfterMs?: number }} ErrorInfo
 */

/** @param {unknown} error @param {readonly (string | undefined)[]} [secrets] @returns {ErrorInfo} */
function errorToErrorInfo(error, secrets) {
  const hidden = secretsOf(secrets, "secrets");
  const { name, message, code, retryAfterMs } = factsOf(error);
  const words = [message, name, code].map((word) => (typeof word === "string" ? word : ""));
  const [shown, shownName, shownCode] = binding.masked(words, hidden);
  return {
    ...(typeof name === "string" ? { name: shownName } : {}),
    message: shown,
    ...(code === undefined ? {} : { code: typeof code === "string" ? shownCode : code }),
    ...(isWait(retryAfterMs) ? { retryAfterMs } : {}),
  };
}

/** The same of what refuses to be read. @param {any} error */
function factsOf(error) {
  const message = fieldOf(error, "message");
  return {
    name: fieldOf(error, "name"),
    message: typeof message === "string" ? message : isObject(error) ? "" : printed(error),
    code: codeOf(error),
    retryAfterMs: fieldOf(error, "retryAfterMs"),
  };
}

/** A field; nothing where it refuses to be read. @param {any} value @param {string} field */
function fieldOf(value, field) {
  try {
    return value[field];
  } catch {
    return undefined;
  }
}

/** Its own code, or that of the nearest cause that has one: `fetch failed` hides there what failed. @param {unknown} error */
function codeOf(error) {
  for (let at = error, depth = 0; isObject(at) && depth < CAUSES; at = fieldOf(at, "cause"), depth++) {
    const code = fieldOf(at, "code");
    if (typeof code === "string" || typeof code === "number") return code;
  }
  return undefined;
}

/** @param {unknown} value */
function isObject(value) {
  return value !== null && (typeof value === "object" || typeof value === "function");
}

/** Codes that pass by themselves (requirements E34 to E43), each with the name that the core's classifier knows. */
const TRANSIENT = new Map([
  ["etimedout", "ETIMEDOUT"],
  ["econnreset", "ECONNRESET"],
  ["timeout", "timeout_error"],
  ["rate_limit", "rate_limit_error"],
  ["temporarily_unavailable", "unavailable_error"],
]);
const TRANSIENT_STATUSES = new Set([429, 500, 502, 503, 504]);
/** The same as words of their own in a message; a number is none inside a name or before a unit. */
const TRANSIENT_WORDS =
  /\b(?:etimedout|econnreset|time(?:d )?[- ]?out|rate[-_ ]limit\w*|temporarily[-_ ]unavailable)\b|(?<![\w.-])(?:429|50[0234])(?![\w-]|\.\d|\s*(?:tokens?|characters?|bytes?|messages?|ms)\b)/i;
/** How an abort says what it is, by name or code; the word may stand in any other message. */
const ABORTS = new Set(["AbortError", "ABORT_ERR", "aborted"]);

/**
 * Whether a failure is one of the closed list, and the core's classifier does not know it for one that lasts: a quota
 * behind a 429, an overflow behind a 500.
 *
 * @param {any} error
 */
function isTransientErrorInfo(error) {
  if (!isObject(error)) return false;
  const { name, message, code } = factsOf(error);
  if (ABORTS.has(name) || ABORTS.has(code)) return false;
  const status = statusOf(code);
  const word = typeof code === "string" ? code.toLowerCase() : "";
  const listed = status === undefined ? TRANSIENT.has(word) : TRANSIENT_STATUSES.has(status);
  if (!listed && !TRANSIENT_WORDS.test(message)) return false;
  const known = status === undefined && word !== "" ? (TRANSIENT.get(word) ?? code) : undefined;
  return !binding.isLasting(message, known, status);
}

/** @param {unknown} code a status, as a number or in digits */
function statusOf(code) {
  const number = typeof code === "string" && /^\d{3}$/.test(code) ? Number(code) : code;
  return typeof number === "number" ? number : undefined;
}

/**
 * The error of a response: its status as `code`, its `Retry-After` as `retryAfterMs`, nothing of its body.
 *
 * @param {any} response @param {any} [given]
 */
function httpStatusError(response, given) {
  const { status, headers } = required(response, "response");
  if (!Number.isInteger(status) || status < 100 || status > 599) {
    throw invalidArgument("response.status", "an HTTP status");
  }
  const options = optional(given, "options") ?? {};
  const message = optionalText(options.message, "options.message") ?? `HTTP ${status}`;
  const [shown] = binding.masked([message], secretsOf(options.secrets, "options.secrets"));
  const wait = retryAfterIn(optional(headers, "response.headers"));
  const error = Object.assign(new Error(shown), { code: status });
  Object.defineProperty(error, "name", { value: "HttpStatusError", configurable: true, writable: true });
  return wait === undefined ? error : Object.assign(error, { retryAfterMs: wait });
}

module.exports = { errorToErrorInfo, httpStatusError, isTransientErrorInfo };
