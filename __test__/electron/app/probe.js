"use strict";

// A question, put to the package at the places where this process finds it. The main process reads it from `PROBE`.

const { readFileSync } = require("node:fs");
const { answers } = require("./answers.js");
const { others } = require("./others.js");

const QUESTIONS = { answers, others };

/**
 * @typedef {{ question: keyof typeof QUESTIONS, entries: string[], input: string }} Probe
 *   `entries`: what is required, a package each; `input`: the file with the question's input
 */

/** Never rejects: what went wrong is the report. @param {Probe} probe */
async function reportOf({ question, entries, input }) {
  try {
    const ask = QUESTIONS[question];
    const given = JSON.parse(readFileSync(input, "utf8"));
    return { answers: await Promise.all(entries.map((entry) => ask(require(entry), given))) };
  } catch (/** @type {any} */ error) {
    return { error: `${error.stack}\n${error.cause?.stack ?? ""}` };
  }
}

module.exports = { reportOf };
