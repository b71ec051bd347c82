"use strict";

// What stored checkpoints say of themselves.

const { required } = require("./arguments.js");
const { binding } = require("./crossing.js");
const { invalidArgument } = require("./errors.js");
const { isRecord } = require("./values.js");

/** `details.fallback` of a checkpoint without a fresh summary (requirement B21). */
const FALLBACK = "retained_tail";
/** `details.retainedTailShape` of a tail that is a recent window (requirement C14). */
const RECENT_WINDOW = "recent_window";
/** `details.strategy` of a context that was begun anew. */
const FRESH_WINDOW = "fresh_window";
/** UTF-16 units that a mark counts as a token. */
const UNITS_PER_TOKEN = 4;

/** @param {any} details @returns {number | undefined} */
function generationOf(details) {
  const generation = details?.generation;
  return Number.isSafeInteger(generation) && generation > 0 ? generation : undefined;
}

function compactionMark(record) {
  const { id, throughMessageId, summary, details } = required(record, "record");
  if (typeof summary !== "string") throw invalidArgument("record.summary", "a string");
  return {
    id,
    throughMessageId,
    generation: generationOf(details) ?? 1,
    summaryTokens: Math.ceil(summary.length / UNITS_PER_TOKEN),
    summarized: details?.strategy !== FRESH_WINDOW,
    ...(details?.fallback === FALLBACK ? { fallback: FALLBACK } : {}),
  };
}

function stripFallbackNotice(summary) {
  if (typeof summary !== "string") throw invalidArgument("summary", "a string");
  return binding.stripFallbackNotice(summary);
}

/**
 * What a compaction carries on of an earlier checkpoint; details of another shape are left out and told of.
 *
 * @param {any} previous @param {string} previousSummary where there is no record
 */
function carriedOn(previous, previousSummary) {
  /** @type {string[]} */
  const warnings = [];
  if (previous === undefined || previous === null) {
    return { summary: previousSummary, generation: 0, readFiles: [], modifiedFiles: [], warnings };
  }
  const { summary, details: stated } = required(previous, "request.previousCheckpoint");
  if (typeof summary !== "string") throw invalidArgument("request.previousCheckpoint.summary", "a string");
  const details = stated && isRecord(stated) ? stated : {};
  if (stated !== undefined && stated !== null && details !== stated) {
    warnings.push("previousCheckpoint.details is no object and was not used");
  }
  const usable = (/** @type {string} */ field, /** @type {any} */ value, /** @type {any} */ missing) => {
    if (value === undefined && details[field] !== undefined) {
      warnings.push(`previousCheckpoint.details.${field} is of another shape and was not used`);
    }
    return value ?? missing;
  };
  return {
    summary,
    generation: usable("generation", generationOf(details), 1),
    readFiles: usable("readFiles", paths(details.readFiles), []),
    modifiedFiles: usable("modifiedFiles", paths(details.modifiedFiles), []),
    warnings,
  };
}

/** @param {any} list @returns {string[] | undefined} */
function paths(list) {
  const all = Array.isArray(list) ? [...list] : [undefined];
  return all.every((path) => typeof path === "string") ? all : undefined;
}

module.exports = { FALLBACK, RECENT_WINDOW, carriedOn, compactionMark, stripFallbackNotice };
