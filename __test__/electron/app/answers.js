"use strict";

// The four functions, asked in whichever process this runs; and what only this much of the package shows.

/** What a package answers. @param {any} pi the package @param {any} input */
async function answers(pi, { messages, budget, model, http, hanging }) {
  const preparation = { messagesToSummarize: messages };
  const request = { preparation, budget };
  const by = (/** @type {any} */ summarizer) => pi.generateCompaction({ ...request, summarizer });
  const complete = async (/** @type {any} */ context) => ({
    content: [{ type: "text", text: `heard ${context.messages[0].content[0].text.length} units` }],
  });
  return {
    exceeds: pi.compactionSummaryWouldExceedBudget(preparation, budget, model),
    tail: pi.buildRetainedTail(messages, 600, { retentionMode: "active_turn" }),
    chunks: pi.planChunks(preparation, { promptLimit: 1_500 }),
    extractive: await by({ kind: "extractive" }),
    callback: await by({ kind: "callback", model: { ...model, provider: "host", id: "client" }, complete }),
    http: await by(http),
    abort: await aborted(pi, { ...request, summarizer: hanging }),
  };
}

/** Gives a run up as soon as its answer has begun. @param {any} pi @param {any} request */
async function aborted(pi, request) {
  const controller = new AbortController();
  const reason = { given: "up" };
  const onEvent = (/** @type {any} */ { type }) => type === "first_token" && controller.abort(reason);
  const outcome = pi.generateCompaction({ ...request, signal: controller.signal, onEvent });
  return outcome.then(
    () => "a summary came back",
    (/** @type {unknown} */ error) => (error === reason ? "rejected with the reason" : String(error)),
  );
}

module.exports = { answers };
