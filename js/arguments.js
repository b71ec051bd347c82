"use strict";

// What callers pass, checked.

const { invalidArgument } = require("./errors.js");
const { MessageList } = require("./list.js");

/** An optional object. @param {any} value @param {string} name @returns {any} */
function optional(value, name) {
  return value === undefined || value === null ? undefined : required(value, name);
}

/** @param {any} value @param {string} name @returns {any} */
function required(value, name) {
  if (value === null || typeof value !== "object") throw invalidArgument(name, "an object");
  return value;
}

const COUNT = "a non-negative safe integer";
/** Stands for a count that is not there. */
const ABSENT = -1;

/** @param {any} value @param {string} name @returns {number} */
function count(value, name) {
  if (!Number.isSafeInteger(value) || value < 0) throw invalidArgument(name, COUNT);
  return value;
}

/** @param {any} value @param {string} name */
function optionalCount(value, name) {
  return value === undefined || value === null ? ABSENT : count(value, name);
}

/** @param {any} value @param {string} name @returns {string | undefined} */
function optionalText(value, name) {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw invalidArgument(name, "a string");
  return value;
}

/** pi's compaction settings in a preparation. @param {any} preparation @param {string} name @returns {any} */
function settingsOf(preparation, name) {
  const settings = optional(preparation.settings, `${name}.settings`) ?? {};
  optionalCount(settings.reserveTokens, `${name}.settings.reserveTokens`);
  optionalCount(settings.keepRecentTokens, `${name}.settings.keepRecentTokens`);
  return settings;
}

/** A budget as its numbers. @param {any} value @param {string} name */
function budgetLimits(value, name) {
  const { hardLimit, requestHeadroom, keepRecentTokens } = required(value, name);
  optionalCount(keepRecentTokens, `${name}.keepRecentTokens`);
  return [count(hardLimit, `${name}.hardLimit`), count(requestHeadroom, `${name}.requestHeadroom`)];
}

/** A model's limits as numbers; an absent model knows nothing. @param {any} value @param {string} name */
function modelLimits(value, name) {
  if (value === undefined || value === null) return [ABSENT, ABSENT, ABSENT];
  const { contextWindow, maxTokens, maxInputTokens } = required(value, name);
  return [
    optionalCount(contextWindow, `${name}.contextWindow`),
    optionalCount(maxTokens, `${name}.maxTokens`),
    optionalCount(maxInputTokens, `${name}.maxInputTokens`),
  ];
}

/**
 * The range and the summary of a preparation. The turn prefix counts only in a split turn (requirements A42).
 *
 * @param {any} value @param {string} name
 */
function summaryInput(value, name) {
  const input = required(value, name);
  const history = MessageList.of(input.messagesToSummarize, `${name}.messagesToSummarize`);
  const inTurn = input.isSplitTurn === true ? (input.turnPrefixMessages ?? []) : [];
  const prefix = MessageList.of(inTurn, `${name}.turnPrefixMessages`);
  const previousSummary = input.previousSummary ?? "";
  if (typeof previousSummary !== "string") throw invalidArgument(`${name}.previousSummary`, "a string");
  optionalCount(input.tokensBefore, `${name}.tokensBefore`);
  return { history, prefix, previousSummary };
}

/** @param {any} value @param {string} name @param {readonly string[]} of */
function choice(value, name, of) {
  if (of.includes(value)) return value;
  throw invalidArgument(name, of.map((word) => `"${word}"`).join(" or "));
}

/** @param {any} value @param {string} name */
function flag(value, name) {
  if (![undefined, null, true, false].includes(value)) throw invalidArgument(name, "a boolean");
}

/** @param {any} value @param {string} name */
function optionalFunction(value, name) {
  if (value !== undefined && value !== null && typeof value !== "function") {
    throw invalidArgument(name, "a function");
  }
  return value;
}

/** @param {any} value @param {string} name @returns {AbortSignal | undefined} */
function abortSignal(value, name) {
  if (value === undefined || value === null) return undefined;
  const methods = ["addEventListener", "removeEventListener"];
  if (typeof value.aborted !== "boolean" || methods.some((method) => typeof value[method] !== "function")) {
    throw invalidArgument(name, "an AbortSignal");
  }
  return value;
}

module.exports = {
  ABSENT,
  abortSignal,
  budgetLimits,
  choice,
  count,
  flag,
  modelLimits,
  optional,
  optionalCount,
  optionalFunction,
  optionalText,
  required,
  settingsOf,
  summaryInput,
};
