"use strict";

// What callers pass, checked for shape; numbers are checked natively.

const { invalidArgument } = require("./errors.js");
const { MessageList } = require("./list.js");

const NONE = Object.freeze({});

/** An optional object. @param {any} value @param {string} name @returns {any} */
function optional(value, name) {
  return value === undefined || value === null ? NONE : required(value, name);
}

/** @param {any} value @param {string} name @returns {any} */
function required(value, name) {
  if (value === null || typeof value !== "object") throw invalidArgument(name, "an object");
  return value;
}

/** @param {any} value @param {string} name @returns {number} */
function number(value, name) {
  if (typeof value !== "number") throw invalidArgument(name, "a non-negative safe integer");
  return value;
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
  return { history, prefix, previousSummary };
}

/** @param {any} value @param {string} name @returns {AbortSignal | undefined} */
function abortSignal(value, name) {
  if (value === undefined || value === null) return undefined;
  if (typeof value.aborted !== "boolean" || typeof value.addEventListener !== "function") {
    throw invalidArgument(name, "an AbortSignal");
  }
  return value;
}

module.exports = {
  abortSignal,
  number,
  optional,
  required,
  summaryInput,
};
