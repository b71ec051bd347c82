// Exact tokens of a session's text, against gpt-tokenizer in the column that is pi's elsewhere.

import { strictEqual } from "node:assert/strict";

import { loadOurs, loadTokenizer } from "./sides.mjs";

/** @typedef {import("./sides.mjs").Ours} Ours */
/** @typedef {{ text: string, theirs: (text: string) => number }} Data */

/** @param {"o200k_base" | "cl100k_base"} encoding */
export function tokensOf(encoding) {
  return {
    name: `exact tokens, ${encoding}`,
    /** @param {{ messages: any[] }} session @returns {Promise<Data>} */
    prepare: async ({ messages }) => ({
      text: loadOurs().serializeConversation(messages),
      theirs: await loadTokenizer(encoding),
    }),
    ours: (/** @type {Ours} */ ours, /** @type {Data} */ { text }) => ours.countTokens(text, encoding),
    pi: (/** @type {unknown} */ _, /** @type {Data} */ { text, theirs }) => theirs(text),
    assertEqual: async (
      /** @type {Ours} */ ours,
      /** @type {unknown} */ _,
      /** @type {Data} */ { text, theirs },
    ) => strictEqual(await ours.countTokens(text, encoding), theirs(text)),
  };
}
