"use strict";

// What JavaScript makes of odd values.

const { invalidArgument } = require("./errors.js");

/** What JavaScript prints for a value; nothing where it throws. @param {any} value */
function printed(value) {
  try {
    return String(value);
  } catch {
    return "";
  }
}

/** Throws where a list holds no message. @param {unknown} message @param {string} name of the list @param {number} at */
function checkMessage(message, name, at) {
  if (message === null || typeof message !== "object")
    throw invalidArgument(`${name}[${at}]`, "a message object");
}

/** An object that is nothing but its members. @param {any} value */
function isRecord(value) {
  if (typeof value !== "object") return false;
  const prototype = Object.getPrototypeOf(value);
  // Of any realm: what a plain object inherits from inherits from nothing.
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The unit at an index of the joined text blocks; -1 where there is none. */
function unitAt(/** @type {any} */ value, /** @type {number} */ index) {
  if (typeof value === "string") return index < value.length ? value.charCodeAt(index) : -1;
  if (!Array.isArray(value)) return -1;
  let at = index;
  for (const block of value) {
    if (block === null || typeof block !== "object" || block.type !== "text") continue;
    const shown = block.text === null || block.text === undefined ? "" : printed(block.text);
    if (at < shown.length) return shown.charCodeAt(at);
    at -= shown.length;
  }
  return -1;
}

/**
 * What an assistant message says of its usage: stop reason and numbers, as they stand there.
 *
 * @param {any} message @returns {[string, number, number, number, number, number] | undefined}
 */
function usageFacts(message) {
  if (message.role !== "assistant") return undefined;
  const { usage, stopReason } = message;
  if (usage === null || typeof usage !== "object") return undefined;
  const { totalTokens, input, output, cacheRead, cacheWrite } = usage;
  const numbers = [totalTokens, input, output, cacheRead, cacheWrite].map(Number);
  return /** @type {any} */ ([String(stopReason), ...numbers]);
}

module.exports = { checkMessage, isRecord, printed, unitAt, usageFacts };
