"use strict";

// A session file as values.

const library = require("../index.js");

/** @typedef {{ readonly role: string, readonly content?: unknown, readonly [key: string]: unknown }} Message */
/** @typedef {{ line: number, reason: string }} Line */
/**
 * @typedef {object} Session
 * @property {Message[]} messages the newest branch, from what its latest compaction kept
 * @property {(index: number) => string | null} idOf of the entry that a message came from
 * @property {string | undefined} previousSummary
 * @property {any} previousDetails
 * @property {number} stale messages at the start whose usage reports speak of another context
 * @property {boolean} endsInCompaction
 * @property {Line | undefined} gap where the branch begins, when it does so too late
 * @property {readonly Line[]} skipped the first of them
 * @property {number} skippedCount
 */

/** An error with a code of the library's. @param {string} code @param {string} message */
const failure = (code, message) => Object.assign(new Error(message), { code });

/** @param {string} path @returns {Promise<Session>} */
async function openSession(path) {
  const transcript = await library.openSession(path);
  const all = /** @type {Message[]} */ ([...transcript]);
  const { previousCheckpoint, staleMessages } = transcript;
  // The summary goes its own way: a preparation carries it on.
  const summary = previousCheckpoint ? all.findIndex(({ role }) => role === "compactionSummary") : -1;
  const messages = all.filter((_, i) => i !== summary);
  return {
    messages,
    idOf: (index) => transcript.entryId(summary >= 0 && index >= summary ? index + 1 : index),
    previousSummary: previousCheckpoint?.summary,
    previousDetails: previousCheckpoint?.details,
    stale: summary >= 0 && summary < staleMessages ? staleMessages - 1 : staleMessages,
    endsInCompaction: transcript.endsInCheckpoint,
    gap: transcript.gap,
    skipped: transcript.skipped,
    skippedCount: transcript.skippedCount,
  };
}

/** The most lines that are named one by one. */
const NAMED = 10;

/** Says what of the file was not used. @param {Session} session @param {(line: string) => void} say */
function reportLines({ skipped, skippedCount, gap }, say) {
  for (const { line, reason } of skipped.slice(0, NAMED)) say(`line ${line} skipped: ${reason}`);
  if (skippedCount > NAMED) say(`${skippedCount - NAMED} more lines skipped`);
  if (gap) say(`line ${gap.line}: the branch begins here, for ${gap.reason}`);
}

module.exports = { failure, openSession, reportLines };
