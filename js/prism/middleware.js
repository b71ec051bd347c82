"use strict";

// A host's middleware over a decision, which it may shorten or stop, or over a compaction, which it may rewrite or stop.

const { optional, required } = require("../arguments.js");
const { binding } = require("../crossing.js");
const { invalidArgument, typed } = require("../errors.js");
const { isWait } = require("../retry-after.js");
const { secretsOf, wait } = require("./options.js");
const { redactSecrets } = require("./redact.js");

/**
 * A registry as Prism's: what `run` answers stands in the payload's place, and nothing leaves it as it is.
 *
 * @typedef {{ run(name: string, payload: any): unknown }} Middleware
 */

/** @param {any} payload @param {Middleware} [middleware] */
async function applyRetryMiddleware(payload, middleware) {
  const { context, decision, decided } = decisionIn(payload);
  const answer = await ran("retry", { context, decision }, middleware);
  return narrowed(decided, answer.decision);
}

/** A policy's decision, read before a middleware may change it where it stands. */
const decisionIn = typed((/** @type {any} */ payload) => {
  const { context, decision } = required(payload, "payload");
  const { retry, delayMs, ...rest } = required(decision, "payload.decision");
  if (retry !== true) return { context, decision, decided: { ...rest, retry: false } };
  const decided = { ...rest, retry, delayMs: wait(delayMs ?? 0, "payload.decision.delayMs") };
  return { context, decision, decided };
});

/** The decision, shortened or stopped by another that may leave out what it leaves as it is. */
const narrowed = typed((/** @type {any} */ decided, /** @type {any} */ answered) => {
  if (answered === undefined || !decided.retry) return decided;
  const said = optional(answered, 'what the middleware "retry" answers.decision');
  const { retry = true, delayMs: asked } = said ?? { retry: false };
  const { delayMs, ...rest } = decided;
  if (retry !== true) return { ...rest, retry: false };
  return { ...rest, delayMs: isWait(asked) ? Math.min(asked, delayMs) : delayMs };
});

/**
 * The compaction that is to be stored, without secrets whoever wrote it, or nothing where the middleware stopped it.
 *
 * @param {any} payload @param {Middleware} [middleware]
 */
async function applyCompactionMiddleware(payload, middleware) {
  const { context, result, written, secrets } = compactionIn(payload);
  const answer = await ran("compaction", { context, result }, middleware);
  return storable(answer.result, written, secrets);
}

/** What a strategy wrote, and the secrets, read before a middleware may change them where they stand. */
const compactionIn = typed((/** @type {any} */ payload) => {
  const { context, result } = required(payload, "payload");
  const secrets = secretsOf(required(context, "payload.context").secrets, "payload.context.secrets");
  const { summary: written } = checkedResult(required(result, "payload.result"));
  return { context, result, written, secrets };
});

/** The result as it may be stored. */
const storable = typed(
  (/** @type {any} */ result, /** @type {string} */ written, /** @type {string[]} */ secrets) => {
    if (result === undefined || result === null || result === false) return undefined;
    const { summary, entries } = checkedResult(result);
    const [shown] = binding.masked([summary], secrets);
    // Whoever rewrites the summary alone means the entry's, too.
    const told = (/** @type {any} */ entry) => (entry.summary === written ? summary : entry.summary);
    const stored = entries.map((entry) => withoutSecrets({ ...entry, summary: told(entry) }, secrets));
    return { ...result, summary: shown, entries: stored };
  },
);

/** What names an entry stays, or the branch would break. */
const NAMES = new Set(["id", "parentId", "sessionId", "timestamp", "kind", "throughEntryId", "keepEntryIds"]);

/** An entry or its data, with the names of its fields. @param {object} record @param {string[]} secrets @returns {object} */
function withoutSecrets(record, secrets) {
  if (secrets.length === 0) return record;
  const shown = (/** @type {[string, any]} */ [field, value]) => {
    if (NAMES.has(field)) return [field, value];
    const isData = field === "data" && value !== null && typeof value === "object" && !Array.isArray(value);
    return [field, isData ? withoutSecrets(value, secrets) : redactSecrets(value, secrets)];
  };
  return Object.fromEntries(Object.entries(record).map(shown));
}

/** @param {any} result @returns {{ summary: string, entries: any[] }} */
function checkedResult({ summary, entries = [] }) {
  if (typeof summary !== "string") throw invalidArgument("payload.result.summary", "a string");
  if (!Array.isArray(entries)) throw invalidArgument("payload.result.entries", "an array");
  // Of a list with holes each is an entry that is missing.
  Array.from(entries).forEach((entry, at) => {
    const name = `payload.result.entries[${at}]`;
    if (typeof required(entry, name).summary !== "string")
      throw invalidArgument(`${name}.summary`, "a string");
  });
  return { summary, entries };
}

/** @param {string} name @param {any} payload @param {Middleware} [middleware] */
async function ran(name, payload, middleware) {
  if (middleware === undefined || middleware === null) return payload;
  if (typeof middleware.run !== "function") throw invalidArgument("middleware.run", "a function");
  const answer = await middleware.run(name, payload);
  return answer === undefined ? payload : required(answer, `what the middleware "${name}" answers`);
}

module.exports = { applyCompactionMiddleware, applyRetryMiddleware };
