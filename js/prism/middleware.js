"use strict";

// A host's middleware over a decision or a compaction: it may shorten or stop, and never lengthen.

const { required } = require("../arguments.js");
const { binding } = require("../crossing.js");
const { invalidArgument } = require("../errors.js");
const { secretsOf } = require("./entry.js");
const { isWait } = require("./error.js");

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
 * The compaction that is to be stored, or nothing where the middleware stopped it.
 *
 * @param {any} payload @param {Middleware} [middleware]
 */
async function applyCompactionMiddleware(payload, middleware) {
  const { context, result } = required(payload, "payload");
  const { summary } = required(result, "payload.result");
  const answer = await ran("compaction", { context, result }, middleware);
  if (answer.result === undefined || answer.result === null || answer.result === false) return undefined;
  if (typeof answer.result.summary !== "string" || answer.result.summary.length > summary.length) {
    throw invalidArgument("payload.result.summary", "a string no longer than the strategy's");
  }
  const secrets = secretsOf(context?.secrets, "payload.context.secrets");
  const [shown] = binding.masked([answer.result.summary], secrets);
  const entries = (result.entries ?? []).map((entry) => ({ ...entry, summary: shown }));
  return { ...result, summary: shown, entries };
}

/** @param {string} name @param {any} payload @param {Middleware} [middleware] */
async function ran(name, payload, middleware) {
  if (middleware === undefined || middleware === null) return payload;
  if (typeof middleware.run !== "function") throw invalidArgument("middleware.run", "a function");
  const answer = await middleware.run(name, payload);
  return answer === undefined ? payload : required(answer, `what the middleware "${name}" answers`);
}

module.exports = { applyCompactionMiddleware, applyRetryMiddleware };
