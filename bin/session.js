"use strict";

// A session file as values.

const { readSession } = require("../binding.js");

/** @typedef {{ readonly role: string, readonly content?: unknown, readonly [key: string]: unknown }} Message */
/** @typedef {{ line: number, reason: string }} Line */
/**
 * @typedef {object} Session
 * @property {Message[]} messages the newest branch, from what its latest compaction kept
 * @property {(string | null)[]} ids of the entries that the messages came from
 * @property {string | undefined} previousSummary
 * @property {any} previousDetails
 * @property {number} stale messages at the start whose usage reports speak of another context
 * @property {boolean} endsInCompaction
 * @property {Line | undefined} gap where the branch begins, when it does so too late
 * @property {Line[]} skipped
 */

/** An error with a code of the library's. @param {string} code @param {string} message */
const failure = (code, message) => Object.assign(new Error(message), { code });

/** @param {string | null | undefined} text */
const parse = (text) => (text == null ? undefined : JSON.parse(text));

/** @param {string} path @returns {Promise<Session>} */
async function openSession(path) {
  try {
    const read = await readSession(path);
    return {
      messages: read.messages.map((/** @type {string} */ text) => JSON.parse(text)),
      ids: read.ids.map((/** @type {string | null | undefined} */ id) => parse(id) ?? null),
      previousSummary: parse(read.previousSummary),
      previousDetails: parse(read.previousDetails),
      stale: read.stale,
      endsInCompaction: read.endsInCompaction,
      gap: read.gap ?? undefined,
      skipped: read.skipped,
    };
  } catch (error) {
    const { code, message } = /** @type {any} */ (error);
    throw failure(code === "session_file" ? code : "internal", message);
  }
}

/** The most lines that are named one by one. */
const NAMED = 10;

/** Says what of the file was not used. @param {Session} session @param {(line: string) => void} say */
function reportLines({ skipped, gap }, say) {
  for (const { line, reason } of skipped.slice(0, NAMED)) say(`line ${line} skipped: ${reason}`);
  if (skipped.length > NAMED) say(`${skipped.length - NAMED} more lines skipped`);
  if (gap) say(`line ${gap.line}: the branch begins here, for ${gap.reason}`);
}

module.exports = { failure, openSession, reportLines };
