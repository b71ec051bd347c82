import * as cl100k from "../oracle/node_modules/gpt-tokenizer/esm/encoding/cl100k_base.js";
import * as o200k from "../oracle/node_modules/gpt-tokenizer/esm/encoding/o200k_base.js";

/** Where the packages lie that only tests know. */
export const ORACLE = new URL("../oracle/node_modules/", import.meta.url);

/** @type {readonly ("o200k_base" | "cl100k_base")[]} */
export const encodings = ["o200k_base", "cl100k_base"];

const COUNTERS = { o200k_base: o200k.countTokens, cl100k_base: cl100k.countTokens };
/** Special tokens are text. */
const AS_TEXT = { allowedSpecial: new Set(), disallowedSpecial: new Set() };

/** Tokens by gpt-tokenizer. @param {string} text @param {"o200k_base" | "cl100k_base"} encoding @returns {number} */
export function oracleTokens(text, encoding) {
  return COUNTERS[encoding](text, AS_TEXT);
}

/** A budget with this limit (requirements A40): no headroom, hence no answer to hold back for. @param {number} limit */
export function budgetOf(limit) {
  return { hardLimit: limit + 2_048, requestHeadroom: 0 };
}
