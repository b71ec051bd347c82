"use strict";

// A host's middleware over a decision, which it may shorten or stop, or over a compaction, which it may rewrite or stop.

const { required } = require("../arguments.js");
const { binding } = require("../crossing.js");
const { invalidArgument } = require("../errors.js");
const { isWait, secretsOf } = require("./options.js");

/**
 * A registry as Prism's: what `run` answers stands in the payload's place, and nothing leaves it as it is.
 *
 * @typedef {{ run(name: string, payload: any): unknown }} Middleware
 */

/** @param {any} payload @param {Middleware} [middleware] */
async function applyRetryMiddleware(payload, middleware) {
  const { context, decision } = required(payload, "payload");
  required(decision, "payload.decision");
  const answer = await ran("retry", { context, decision }, middleware);
  const { delayMs: decided, ...rest } = decision;
  if (decision.retry !== true || answer.decision?.retry === false) return { ...rest, retry: false };
  const most = isWait(decided) ? decided : 0;
  const asked = answer.decision?.delayMs;
  return { ...rest, delayMs: isWait(asked) ? Math.min(asked, most) : most };
}

/**
 * The compaction that is to be stored, without secrets whoever wrote it, or nothing where the middleware stopped it.
 *
 * @param {any} payload @param {Middleware} [middleware]
 */
async function applyCompactionMiddleware(payload, middleware) {
  const { context, result } = required(payload, "payload");
  const written = checkedResult(required(result, "payload.result"));
  const answer = await ran("compaction", { context, result }, middleware);
  if (answer.result === undefined || answer.result === null || answer.result === false) return undefined;
  const { summary, entries } = checkedResult(answer.result);
  // Whoever rewrites the summary alone means the entry's, too.
  const told = entries.map((entry) => (entry.summary === written.summary ? summary : entry.summary));
  const secrets = secretsOf(context?.secrets, "payload.context.secrets");
  const [shown, ...each] = binding.masked([summary, ...told], secrets);
  return {
    ...answer.result,
    summary: shown,
    entries: entries.map((entry, at) => ({ ...entry, summary: each[at] })),
  };
}

/** @param {any} result @returns {{ summary: string, entries: any[] }} */
function checkedResult({ summary, entries = [] }) {
  if (typeof summary !== "string") throw invalidArgument("payload.result.summary", "a string");
  if (!Array.isArray(entries)) throw invalidArgument("payload.result.entries", "an array");
  entries.forEach((entry, at) => {
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
