"use strict";

// `pi-compaction compact`: the checkpoint on standard output, everything else on standard error.

const { generateCompaction } = require("../index.js");
const { prepare, refuseCheckpoint } = require("./prepare.js");
const { failure, openSession, reportLines } = require("./session.js");
const { count, harmless } = require("./text.js");

/** Limits of a model of which nothing is said, as `contextBudget` has them. */
const UNKNOWN = { window: 128_000, maxOutput: 8_192 };

/** @param {string} line */
const say = (line) => process.stderr.write(`${line}\n`);

/** A step of the compaction in a line; nothing for a step that says nothing new. @param {any} event */
function progressOf(event) {
  switch (event.type) {
    case "plan":
      return event.requests > 0 ? `${count(event.requests)} requests planned` : undefined;
    case "request":
      return `request ${event.index} of ${event.of}: ${count(event.promptTokens)} tokens`;
    case "replan":
      return `the window is smaller than stated: ${count(event.requests)} requests of ${count(event.promptLimit)} tokens`;
    case "retry":
      return `${event.code}; trying again in ${count(event.delayMs)} ms`;
    case "warning":
      return event.message;
    case "done":
      return `${count(event.tokensBefore)} tokens became ${count(event.tokensAfter)}`;
    default:
      return undefined;
  }
}

/** @typedef {{ id: string, baseUrl: string, api: string }} NamedModel */

/** Who writes. @param {NamedModel | undefined} model @param {any} limits @param {number | undefined} maxChars */
function summarizerOf(model, { window, maxOutput }, maxChars) {
  if (!model) return { kind: "extractive", maxSummaryChars: maxChars };
  const limits = { contextWindow: window ?? UNKNOWN.window, maxTokens: maxOutput ?? UNKNOWN.maxOutput };
  return {
    kind: "http",
    model: { provider: "custom", ...model, ...limits },
    apiKey: process.env.PI_COMPACTION_API_KEY,
  };
}

/**
 * @typedef {object} Request
 * @property {string} path
 * @property {boolean} json
 * @property {number} [window]
 * @property {number} [maxOutput]
 * @property {number} [maxChars]
 * @property {NamedModel} [model]
 */

/** All that was said stays word for word. @param {import("../index.js").ContextBudget} budget @param {any} limits */
function refuseShort({ keepRecentTokens }, { window = UNKNOWN.window }) {
  const kept = `a window of ${count(window)} keeps the newest ${count(keepRecentTokens)} tokens word for word`;
  throw failure("no_new_history", `${kept}, and the session has no more; a smaller --window cuts sooner`);
}

/** @param {Request} request */
async function compact({ path, json, maxChars, model, ...limits }) {
  const session = await openSession(path);
  reportLines(session, say);
  refuseCheckpoint(session);
  const { budget, preparation, kept } = prepare(session, limits);
  const range = preparation.messagesToSummarize.length + preparation.turnPrefixMessages.length;
  say(`${count(range)} messages to summarize, ${count(kept.length)} kept`);
  if (range === 0) refuseShort(budget, limits);
  const result = await generateCompaction({
    preparation,
    budget,
    summarizer: /** @type {any} */ (summarizerOf(model, limits, maxChars)),
    onEvent: (event) => {
      const line = progressOf(event);
      if (line !== undefined) say(line);
    },
  });
  const text = json ? JSON.stringify(result, null, 2) : result.summary.trimEnd();
  // A terminal obeys what a tool once printed; a pipe gets the text as it is.
  process.stdout.write(`${process.stdout.isTTY ? harmless(text) : text}\n`);
}

module.exports = compact;
