"use strict";

// Known secrets, masked in whatever a host stores or sends.

const { binding } = require("../crossing.js");
const { secretsOf } = require("./options.js");

/**
 * A copy of a value without the secrets: in texts, in names of fields, at any depth.
 *
 * @template T @param {T} value @param {readonly (string | undefined)[]} secrets @returns {T}
 */
function redactSecrets(value, secrets) {
  const hidden = secretsOf(secrets, "secrets");
  /** @type {string[]} */
  const texts = [];
  const read = mapped(value, (text) => {
    texts.push(text);
    return text;
  });
  const masked = binding.masked(texts, hidden);
  let next = 0;
  return mapped(read, () => masked[next++]);
}

/** Plain data with its texts replaced, in one order. @param {any} value @param {(text: string) => string} replace @returns {any} */
function mapped(value, replace) {
  if (typeof value === "string" || value instanceof String) return replace(String(value));
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return Array.from(value, (member) => mapped(member, replace));
  if (typeof value.toJSON === "function") return mapped(value.toJSON(), replace);
  const shown = value instanceof Error ? { name: value.name, message: value.message, ...value } : value;
  return Object.fromEntries(
    Object.entries(shown).map(([key, member]) => [replace(key), mapped(member, replace)]),
  );
}

module.exports = { redactSecrets };
