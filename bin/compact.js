"use strict";

// `pi-compaction compact`: the checkpoint on standard output, everything else on standard error.

const { generateCompaction } = require("../index.js");
const { prepare, refuseCheckpoint } = require("./prepare.js");
const { openSession, reportLines } = require("./session.js");
const { count, harmless } = require("./text.js");

/** @param {string} line */
const say = (line) => process.stderr.write(`${line}\n`);

/** A step of the compaction in a line; nothing for a step that says nothing new. @param {any} event */
function progressOf(event) {
  switch (event.type) {
    case "plan":
      return event.requests > 0 ? `${count(event.requests)} requests planned` : undefined;
    case "request":
      return `request ${event.index} of ${event.of}: ${count(event.promptTokens)} tokens`;
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

/**
 * @param {{ path: string, json: boolean, window?: number, maxOutput?: number, maxChars?: number }} request
 */
async function compact({ path, json, maxChars, ...limits }) {
  const session = await openSession(path);
  reportLines(session, say);
  refuseCheckpoint(session);
  const { budget, preparation, kept } = prepare(session, limits);
  const range = preparation.messagesToSummarize.length + preparation.turnPrefixMessages.length;
  say(`${count(range)} messages to summarize, ${count(kept.length)} kept`);
  const result = await generateCompaction({
    preparation,
    budget,
    summarizer: { kind: "extractive", maxSummaryChars: maxChars },
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
