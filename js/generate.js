"use strict";

const {
  abortSignal,
  budgetLimits,
  modelLimits,
  optional,
  optionalFunction,
  required,
  summaryInput,
} = require("./arguments.js");
const { connections } = require("./connections.js");
const { binding } = require("./crossing.js");
const { fromFailure, invalidArgument } = require("./errors.js");
const { callbackOf } = require("./host.js");
const { measuredTokens } = require("./sizing.js");

/** Requests for which jitter is drawn. */
const DRAWN = 256;

/** @param {any} request */
function generateCompaction(request) {
  return new Promise((resolve, reject) => {
    const { signal, range, input } = checked(request);
    if (signal?.aborted) throw signal.reason;

    const run = binding.newRun();
    const controller = new AbortController();
    const abort = () => {
      binding.cancelRun(run);
      controller.abort(signal?.reason);
      reject(signal?.reason);
    };
    const settle = (/** @type {any} */ { failure, checkpoint }) => {
      // Called from the native side: what a getter of the request or the signal throws would end the process.
      try {
        signal?.removeEventListener("abort", abort);
        if (failure) reject(fromFailure(failure, host.thrown));
        else if (checkpoint) resolve(result(request, range, checkpoint));
      } catch (error) {
        reject(error);
      }
    };
    const host = { run, request, settle, signal: controller.signal, thrown: undefined };
    const network = request.summarizer.kind === "http" ? connections() : undefined;
    // Before anything begins: a getter of a message may abort, and a listener that cannot be added ends it here.
    signal?.addEventListener("abort", abort, { once: true });
    try {
      binding.generate(run, range.passage(input.secrets), input, request, network, callbackOf(host));
    } catch (error) {
      signal?.removeEventListener("abort", abort);
      throw error;
    }
    if (signal?.aborted) abort();
  });
}

/** A request whose fields are what they should be: its signal, its range, and what the native side is told. */
function checked(/** @type {any} */ request) {
  const { summarizer, preparation } = required(request, "request");
  const signal = abortSignal(request.signal, "request.signal");
  const strategy = request.strategy ?? "chain";
  if (strategy !== "chain") throw invalidArgument("request.strategy", '"chain"');
  const budget = budgetLimits(request.budget, "request.budget");
  if (required(summarizer, "request.summarizer").kind === "callback") checkCallback(summarizer);
  const { history, prefix, previousSummary } = summaryInput(preparation, "request.preparation");
  const input = {
    history: history.length,
    previous: previousSummary,
    limits: [...budget, ...limitsOf(request)],
    ...fileOperations(preparation.fileOps),
    secrets: secretsOf(request.secrets),
    random: randomOf(request.retry),
    hearsEvents: Boolean(optionalFunction(request.onEvent, "request.onEvent")),
    decidesRetries: Boolean(optionalFunction(request.isRetryable, "request.isRetryable")),
  };
  return { signal, range: history.and(prefix), input };
}

/** Limits of the model that reads the prompt. @param {any} request */
function limitsOf({ summarizer, mainModel }) {
  if (summarizer.kind === "extractive") return modelLimits(mainModel, "request.mainModel");
  return modelLimits(summarizer.model, "request.summarizer.model");
}

/** @param {any} summarizer */
function checkCallback(summarizer) {
  if (typeof summarizer.complete !== "function") {
    throw invalidArgument("request.summarizer.complete", "a function");
  }
  required(summarizer.model, "request.summarizer.model");
}

/** @param {any} secrets @returns {string[]} */
function secretsOf(secrets) {
  const list = secrets ?? [];
  if (!Array.isArray(list) || list.some((secret) => typeof secret !== "string")) {
    throw invalidArgument("request.secrets", "an array of strings");
  }
  return list;
}

/** Numbers for jitter: the core has no randomness of its own. @param {any} retry */
function randomOf(retry) {
  if (!retry?.jitter) return [];
  const drawn = (/** @type {number} */ number) => (number >= 0 && number < 1 ? number : 0);
  const draw = typeof retry.random === "function" ? () => drawn(Number(retry.random())) : Math.random;
  return Array.from({ length: DRAWN }, draw);
}

/** @param {any} fileOps the host's own record of the files, as pi keeps it */
function fileOperations(fileOps) {
  if (fileOps === undefined || fileOps === null) return {};
  const { read, written, edited } = required(fileOps, "request.preparation.fileOps");
  const paths = (/** @type {any} */ list, /** @type {string} */ name) => {
    const given = typeof list === "string" ? [undefined] : [...(list ?? [])];
    if (given.every((path) => typeof path === "string")) return given;
    throw invalidArgument(`request.preparation.fileOps.${name}`, "a set of strings");
  };
  return {
    read: paths(read, "read"),
    modified: [...paths(written, "written"), ...paths(edited, "edited")],
  };
}

/** What pi's hook takes. */
function result(request, range, checkpoint) {
  const { preparation, summarizer } = request;
  const { summary, readFiles, modifiedFiles, tokensBefore, tokensAfter, written } = checkpoint;
  const { usage, ...how } = written ?? {};
  const compaction = {
    summary,
    tokensBefore: preparation.tokensBefore ?? measuredTokens(range, optional(request, "request")),
    ...(usage ? { usage } : {}),
    details: {
      readFiles,
      modifiedFiles,
      summarizer: summarizer.kind,
      ...(written ? { strategy: "chain" } : {}),
      ...how,
      tokensBefore,
      tokensAfter,
    },
  };
  for (const kept of ["firstKeptEntryId", "retainedTail"]) {
    if (kept in preparation) compaction[kept] = preparation[kept];
  }
  return compaction;
}

/** The policy when none is given. */
const COMPACTION_SUMMARY_RETRY_POLICY = Object.freeze(binding.summaryRetryPolicy());

module.exports = { COMPACTION_SUMMARY_RETRY_POLICY, generateCompaction };
