// The two sides of every row: this package, and pi's own code doing what a host does with it.

import { createRequire } from "node:module";

const PI = "../../__test__/oracle/node_modules/pi-0.87";
const GPT_TOKENIZER = "../../__test__/oracle/node_modules/gpt-tokenizer/esm/encoding";

const require = createRequire(import.meta.url);

/** @returns {typeof import("../../index.js")} */
export function loadOurs() {
  return require("../../index.js");
}

export async function loadPi() {
  const { convertToLlm, findCutPoint, serializeConversation } = await import(`${PI}/dist/index.js`);
  const text = (/** @type {readonly any[]} */ messages) => serializeConversation(convertToLlm(messages));
  return {
    findCutPoint,
    serializeConversation: text,
    /** Tokens of the larger summary request. @param {any} input */
    promptTokens({ messagesToSummarize, turnPrefixMessages, isSplitTurn, previousSummary }) {
      const history = text(messagesToSummarize).length + (previousSummary?.length ?? 0);
      const prefix = isSplitTurn ? text(turnPrefixMessages).length : 0;
      return Math.ceil(Math.max(history, prefix) / 4);
    },
  };
}

/**
 * What counts tokens exactly in JavaScript, special tokens as text: pi has no such thing.
 *
 * @param {"o200k_base" | "cl100k_base"} encoding @returns {Promise<(text: string) => number>}
 */
export async function loadTokenizer(encoding) {
  const { countTokens } = await import(`${GPT_TOKENIZER}/${encoding}.js`);
  const asText = { allowedSpecial: new Set(), disallowedSpecial: new Set() };
  return (text) => countTokens(text, asText);
}

/** Versions of both sides. */
export function versions() {
  return { package: require("../../package.json").version, pi: require(`${PI}/package.json`).version };
}

/** @typedef {ReturnType<typeof loadOurs>} Ours */
/** @typedef {Awaited<ReturnType<typeof loadPi>>} Pi */
