"use strict";

// `pi-compaction compact`: the checkpoint on standard output, everything else on standard error.

const { generateCompaction } = require("../index.js");
const { prepare, refuseCheckpoint } = require("./prepare.js");
const { openSession, reportLines } = require("./session.js");
const { count, harmless } = require("./text.js");

/** @param {string} line */
const say = (line) => process.stderr.write(`${line}\n`);

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
  });
  const { tokensBefore, tokensAfter } = result.details;
  say(`${count(tokensBefore)} tokens became ${count(tokensAfter)}`);
  const text = json ? JSON.stringify(result, null, 2) : result.summary.trimEnd();
  // A terminal obeys what a tool once printed; a pipe gets the text as it is.
  process.stdout.write(`${process.stdout.isTTY ? harmless(text) : text}\n`);
}

module.exports = compact;
