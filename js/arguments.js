"use strict";

// What callers pass, checked for shape; numbers are checked natively.

const { invalidArgument } = require("./errors.js");

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

/** @param {unknown} value @param {string} name @returns {readonly any[]} */
function messageList(value, name) {
  if (!Array.isArray(value)) throw invalidArgument(name, "an array of messages");
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
 * @returns {{ lists: Record<string, readonly any[]>, previousSummary: string }}
 */
function summaryInput(value, name) {
  const input = required(value, name);
  const lists = {
    [`${name}.messagesToSummarize`]: messageList(input.messagesToSummarize, `${name}.messagesToSummarize`),
  };
  if (input.isSplitTurn === true) {
    const prefix = input.turnPrefixMessages ?? [];
    lists[`${name}.turnPrefixMessages`] = messageList(prefix, `${name}.turnPrefixMessages`);
  }
  const previousSummary = input.previousSummary ?? "";
  if (typeof previousSummary !== "string") throw invalidArgument(`${name}.previousSummary`, "a string");
  return { lists, previousSummary };
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
  messageList,
  number,
  optional,
  required,
  summaryInput,
};
