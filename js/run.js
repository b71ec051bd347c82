"use strict";

// One native run, bridged to the host's signal.

const { cache } = require("./cache.js");
const { connections } = require("./connections.js");
const { binding } = require("./crossing.js");
const { fromFailure } = require("./errors.js");
const { callbackOf } = require("./host.js");

/**
 * How a run ended: with a checkpoint, or with an error and what may stand in its place.
 *
 * @typedef {{ checkpoint?: any, error?: Error, fallback?: any, tally: any }} Ended
 */

/**
 * Resolves when the run has ended; rejects with the signal's reason when it fires, or with what was thrown while the
 * request was read.
 *
 * @param {any} request @param {import("./request.js").Checked} checked @returns {Promise<Ended>}
 */
function run(request, { signal, range, input, host: asked }) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) throw signal.reason;
    const handle = binding.newRun();
    // Only a client of the host's own has to be told.
    const controller = asked.kind === "callback" ? new AbortController() : undefined;
    const abort = () => {
      binding.cancelRun(handle);
      const reason = reasonOf(signal);
      reject(reason);
      controller?.abort(reason);
    };
    const settle = (/** @type {any} */ { failure, ...outcome }) => {
      // Called from the native side: what the signal throws would end the process.
      try {
        if (failure) resolve({ ...outcome, error: fromFailure(failure, host.thrown) });
        else if (outcome.checkpoint) resolve(outcome);
        signal?.removeEventListener("abort", abort);
      } catch (error) {
        reject(error);
      }
    };
    const host = { run: handle, asked, settle, signal: controller?.signal, thrown: undefined };
    const network = asked.kind === "http" ? connections() : undefined;
    // Before anything begins: a getter of a message may abort, and a listener that cannot be added ends it here.
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const passage = range.passage(input.secrets);
      binding.generate(handle, passage, input, request, cache(), network, callbackOf(host));
    } catch (error) {
      signal?.removeEventListener("abort", abort);
      throw error;
    }
    if (signal?.aborted) abort();
  });
}

/** @param {AbortSignal | undefined} signal whose reason may refuse to be read */
function reasonOf(signal) {
  try {
    return signal?.reason;
  } catch (thrown) {
    return thrown;
  }
}

module.exports = { run };
