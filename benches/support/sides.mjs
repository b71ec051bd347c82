// The two sides of every row: this package, and pi's own code doing what a host does with it.

import { createRequire } from "node:module";

const ORACLE = "../../__test__/oracle/node_modules";
const PI = `${ORACLE}/pi-0.87`;
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
  const messagesOf = (path) =>
    buildSessionProjection(entriesOf(path).filter(({ type }) => type !== "session")).messages;
  return { ...(await loadPi()), entriesOf, messagesOf };
}

/** Exact tokens in JavaScript: pi has none. */
export async function loadTokenizer() {
  const { countTokens } = require(`${ORACLE}/gpt-tokenizer/cjs/encoding/o200k_base.js`);
  /** The text may hold what looks like a special token: it is text. */
  const plain = { allowedSpecial: new Set(), disallowedSpecial: new Set() };
  return { countTokens: (/** @type {string} */ text) => countTokens(text, plain) };
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
  const packages = ["../..", PI, PI_SESSIONS, `${ORACLE}/gpt-tokenizer`];
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
