// The two sides of every row: this package, and pi's own code doing what a host does with it.

import { createRequire } from "node:module";

const ORACLE = "../../__test__/oracle/node_modules";
const PI = `${ORACLE}/pi-0.87`;
const GPT_TOKENIZER = `${ORACLE}/gpt-tokenizer`;
/** The pi that keeps its sessions in files. */
const PI_SESSIONS = `${ORACLE}/pi-1.6`;

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
  const { countTokens } = await import(`${GPT_TOKENIZER}/esm/encoding/${encoding}.js`);
  const asText = { allowedSpecial: new Set(), disallowedSpecial: new Set() };
  return (text) => countTokens(text, asText);
}

/** pi's reading of a session file, beside the rest of it. */
export async function loadPiWithSessions() {
  const { buildSessionProjection, loadEntriesFromFile, migrateSessionEntries } = await import(
    `${PI_SESSIONS}/dist/core/session-manager.js`
  );
  /** Entries in today's form, the file's header among them. @param {string} path @returns {any[]} */
  const entriesOf = (path) => {
    const entries = loadEntriesFromFile(path);
    migrateSessionEntries(entries);
    return entries;
  };
  /** The messages that pi would send. @param {string} path @returns {any[]} */
  const messagesOf = (path) => {
    const entries = entriesOf(path).filter(({ type }) => type !== "session");
    // pi draws the ids of version 1 without a look at those it has drawn: once in some thousand reads two are one, and
    // its walk to the root goes in a circle.
    const isSound = new Set(entries.map(({ id }) => id)).size === entries.length;
    return isSound ? buildSessionProjection(entries).messages : messagesOf(path);
  };
  return { ...(await loadPi()), entriesOf, messagesOf };
}

/** Whether everything that is compared with is installed. */
export function isInstalled() {
  try {
    return Object.values(versions()).every((version) => typeof version === "string");
  } catch {
    return false;
  }
}

/** Versions of all sides, by the package's name. @returns {Record<string, string>} */
export function versions() {
  const packages = ["../..", PI, PI_SESSIONS, GPT_TOKENIZER];
  return Object.fromEntries(
    packages.map((folder) => {
      const { name, version } = require(`${folder}/package.json`);
      return [name, version];
    }),
  );
}

/** @typedef {ReturnType<typeof loadOurs>} Ours */
/** @typedef {Awaited<ReturnType<typeof loadPi>>} Pi */
/** @typedef {Awaited<ReturnType<typeof loadPiWithSessions>>} PiWithSessions */
/** @typedef {Awaited<ReturnType<typeof loadTokenizer>>} Tokenizer */
