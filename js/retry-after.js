"use strict";

// How long a provider asks to wait.

const { binding } = require("./crossing.js");
const { printed } = require("./values.js");

/** The headers in which a provider or a gateway says so. */
const NAMES = ["retry-after-ms", "retry-after", "llm_provider-retry-after-ms", "llm_provider-retry-after"];

/** Whether a value is milliseconds to wait. @param {unknown} ms @returns {ms is number} */
function isWait(ms) {
  return typeof ms === "number" && Number.isFinite(ms) && ms >= 0;
}

/** Milliseconds, by headers that are kept as `Headers` or as an object. @param {any} headers @returns {number | undefined} */
function retryAfterIn(headers) {
  if (headers === null || typeof headers !== "object") return undefined;
  const found = NAMES.map((name) => [name, headerOf(headers, name)]).filter(
    ([, value]) => value !== undefined,
  );
  const [names, values] = [found.map(([name]) => name), found.map(([, value]) => printed(value))];
  return binding.retryAfterMs(names, values, Date.now()) ?? undefined;
}

/** Of several values the first. @param {any} headers @param {string} name */
function headerOf(headers, name) {
  const key = Object.keys(headers).find((own) => own.toLowerCase() === name);
  const value = typeof headers.get === "function" ? headers.get(name) : key && headers[key];
  return (Array.isArray(value) ? value[0] : value) ?? undefined;
}

module.exports = { isWait, retryAfterIn };
