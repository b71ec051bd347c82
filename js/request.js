"use strict";

// A request for a compaction, checked: its signal, its range, and what the native side is told.

const {
  abortSignal,
  budgetLimits,
  choice,
  modelLimits,
  optionalFunction,
  optionalText,
  required,
  summaryInput,
} = require("./arguments.js");
const { sessionKey } = require("./cache.js");
const { invalidArgument } = require("./errors.js");
const { refineInput } = require("./refine.js");
const { printed } = require("./values.js");

/** Requests for which jitter is drawn. */
const DRAWN = 256;

/**
 * What a run asks of its host and carries over, read once: the host may use its request again meanwhile.
 *
 * @typedef {object} HostSide
 * @property {string} kind of the summarizer
 * @property {string} model `provider/id`
 * @property {(context: object, options: object) => unknown} complete
 * @property {(event: object) => void} hear
 * @property {(error: Error) => unknown} wouldRetry
 * @property {Record<string, any>} record what the checkpoint takes over of the preparation
 */

/**
 * @typedef {object} Checked
 * @property {AbortSignal | undefined} signal
 * @property {HostSide} host
 * @property {any} options how text is measured
 * @property {import("./list.js").MessageList} range history and turn prefix
 * @property {any} input what the native side is told
 */

/** @param {any} request @returns {Checked} */
function checkedRequest(request) {
  const { summarizer, preparation, dialect, charsPerToken } = required(request, "request");
  const signal = abortSignal(request.signal, "request.signal");
  const strategy = choice(request.strategy ?? "chain", "request.strategy", ["chain", "refine"]);
  const budget = budgetLimits(request.budget, "request.budget");
  const { kind } = required(summarizer, "request.summarizer");
  if (kind === "callback") checkCallback(summarizer);
  const { history, prefix, previousSummary } = summaryInput(preparation, "request.preparation");
  const refines = strategy === "refine" && kind !== "extractive";
  if (refines) checkNames(summarizer);
  const refine = refineInput(request);
  const input = {
    history: history.length,
    previous: previousSummary,
    limits: [...budget, ...limitsOf(request)],
    ...fileOperations(preparation.fileOps),
    earlierRead: [],
    earlierModified: [],
    secrets: secretsOf(request.secrets),
    random: randomOf(request.retry),
    hearsEvents: Boolean(optionalFunction(request.onEvent, "request.onEvent")),
    decidesRetries: Boolean(optionalFunction(request.isRetryable, "request.isRetryable")),
    ...(refines ? { refine } : {}),
    ...keptUnder(request),
  };
  const host = hostSide(request, kind);
  return { signal, range: history.and(prefix).snapshot(), input, host, options: { dialect, charsPerToken } };
}

/** @param {any} request @param {string} kind @returns {HostSide} */
function hostSide(request, kind) {
  const { summarizer, preparation, onEvent, isRetryable } = request;
  const { complete } = summarizer;
  const record = {};
  for (const field of ["tokensBefore", "firstKeptEntryId", "retainedTail"]) {
    if (field in preparation) record[field] = preparation[field];
  }
  return {
    kind,
    model: kind === "extractive" ? "" : modelName(summarizer),
    complete: (context, options) => complete.call(summarizer, context, options),
    hear: (event) => onEvent?.call(request, event),
    wouldRetry: (error) => isRetryable.call(request, error),
    record,
  };
}

/** Limits of the model that reads the prompt. @param {any} request */
function limitsOf({ summarizer, mainModel }) {
  const main = modelLimits(mainModel, "request.mainModel");
  return summarizer.kind === "extractive" ? main : modelLimits(summarizer.model, "request.summarizer.model");
}

/** @param {any} summarizer */
function checkCallback(summarizer) {
  if (typeof summarizer.complete !== "function") {
    throw invalidArgument("request.summarizer.complete", "a function");
  }
  required(summarizer.model, "request.summarizer.model");
}

/** Whose finished requests these are, and by which model (requirement D49). @param {any} request */
function keptUnder({ sessionId, summarizer }) {
  const session = optionalText(sessionId, "request.sessionId");
  if (!session || !summarizer.model) return {};
  checkNames(summarizer);
  const { provider, id } = summarizer.model;
  return { session: sessionKey(session), model: JSON.stringify([provider, id]) };
}

/** A model that is named in details and keys has to have a name. @param {any} summarizer */
function checkNames({ model }) {
  const { provider, id } = required(model, "request.summarizer.model");
  for (const [field, name] of Object.entries({ provider, id })) {
    if (typeof name === "string" && name !== "") continue;
    throw invalidArgument(`request.summarizer.model.${field}`, "a name");
  }
}

/** `provider/id` of the model that writes. @param {any} summarizer */
function modelName({ model }) {
  return `${printed(model?.provider)}/${printed(model?.id)}`;
}

/** @param {any} secrets @returns {string[]} */
function secretsOf(secrets) {
  const list = Array.isArray(secrets) ? [...secrets] : (secrets ?? []);
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

module.exports = { checkedRequest };
