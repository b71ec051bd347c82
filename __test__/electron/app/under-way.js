"use strict";

/**
 * Begins one run that waits for a provider, one for a client and one for a delay; settles when all three do.
 *
 * @param {any} pi the package @param {any} input
 */
function underWay(pi, { messages, budget, model, hanging }) {
  const preparation = { messagesToSummarize: messages };
  const retry = { enabled: true, maxRetries: 3, baseDelayMs: 60_000 };
  const host = { kind: "callback", model: { ...model, provider: "host", id: "client" } };
  const runs = [
    ["first_token", hanging],
    ["request", { ...host, complete: () => new Promise(() => {}) }],
    ["retry", { ...host, complete: () => Promise.reject(new Error("503")) }],
  ];
  const begun = runs.map(
    ([step, summarizer]) =>
      new Promise((resolve, reject) => {
        const onEvent = (/** @type {any} */ { type }) => type === step && resolve(undefined);
        pi.generateCompaction({ preparation, budget, summarizer, retry, onEvent }).then(
          () => reject(new Error("a summary came back")),
          reject,
        );
      }),
  );
  return Promise.all(begun);
}

module.exports = { underWay };
