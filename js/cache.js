"use strict";

// Finished requests of this environment, held by this module's own variable.

const { required } = require("./arguments.js");
const { binding } = require("./crossing.js");
const { invalidArgument } = require("./errors.js");

/** Of the form in which a cache is handed on. */
const VERSION = 1;

/** @type {object | undefined} */
let held;

/** The native cache. @returns {object} */
function cache() {
  held ??= binding.newCache();
  return /** @type {object} */ (held);
}

function exportCache(sessionId) {
  // Null is no id and no absence: with all sessions' entries a host would store too much.
  if (sessionId !== undefined && typeof sessionId !== "string")
    throw invalidArgument("sessionId", "a string");
  const session = sessionId === undefined ? undefined : sessionKey(sessionId);
  return { version: VERSION, entries: binding.keptSummaries(cache(), session) };
}

/** A session's id as the native side tells it from others: lone surrogates stay apart. @param {string} sessionId */
function sessionKey(sessionId) {
  return JSON.stringify(sessionId);
}

function importCache(exported) {
  const { version, entries } = required(exported, "cache");
  if (version !== VERSION) throw invalidArgument("cache.version", `${VERSION}`);
  if (!Array.isArray(entries)) throw invalidArgument("cache.entries", "an array");
  const kept = entries.map((entry, i) => {
    const { key, summary } = required(entry, `cache.entries[${i}]`);
    if (typeof key !== "string" || typeof summary !== "string" || binding.isBlank(summary)) {
      throw invalidArgument(
        `cache.entries[${i}]`,
        "a key and a summary, both strings with something in them",
      );
    }
    return { key, summary };
  });
  binding.keepSummaries(cache(), kept);
}

module.exports = { cache, exportCache, importCache, sessionKey };
