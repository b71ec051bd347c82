"use strict";

// The context that a branch with compactions leaves to its model.

const { optional, optionalText } = require("../arguments.js");
const { branchOf, dataOf, messageOf, summaryOf } = require("./entry.js");

/** @typedef {import("./entry.js").Known} Known */
/**
 * @typedef {object} View
 * @property {string | undefined} carried the summary of the latest compaction
 * @property {number} through place of the last entry that it covers; -1 for none
 * @property {Known[]} messages those that the model still reads
 * @property {Known[]} summaries summary entries behind what is covered
 * @property {Known[]} uncovered what no summary covers, in order
 */

/** @param {readonly any[]} entries @param {{ leafId?: string }} [options] */
function rebuildSessionContext(entries, options) {
  const leafId = optionalText(optional(options, "options")?.leafId, "options.leafId");
  const branch = branchOf(entries, "entries", leafId);
  const { carried, messages, summaries } = viewOf(branch);
  const later = summaries.map(summaryOf);
  return {
    leafId: branch[branch.length - 1]?.id,
    entries: branch.map(({ entry }) => entry),
    messages: messages.map(messageOf),
    // Providers refuse an empty text.
    summaries: carried ? [carried, ...later] : later,
  };
}

/** @param {Known[]} branch @returns {View} */
function viewOf(branch) {
  const { carried, through, kept } = boundaryOf(branch);
  const isKept = (/** @type {Known} */ { kind, id }) => kind === "message" && kept.has(id);
  const isOpen = (/** @type {Known} */ known) => known.place > through || isKept(known);
  const uncovered = branch.filter((known) => known.kind !== "compaction" && isOpen(known));
  return {
    carried,
    through,
    messages: uncovered.filter(({ kind }) => kind === "message"),
    summaries: uncovered.filter(({ kind }) => kind === "summary"),
    uncovered,
  };
}

/** What the latest valid compaction of a branch covers and keeps (requirements E52, E53, E100). */
function boundaryOf(/** @type {Known[]} */ branch) {
  for (let place = branch.length - 1; place >= 0; place--) {
    const { kind, entry } = branch[place];
    if (kind !== "compaction") continue;
    const { data, summary } = entry;
    const said = dataOf(data);
    if (!said || typeof summary !== "string") continue;
    return { carried: summary, through: throughOf(branch, place, said), kept: new Set(said.keepEntryIds) };
  }
  return { carried: undefined, through: -1, kept: new Set() };
}

/**
 * How far a compaction's summary goes: nowhere where it names no entry, up to itself where that entry is not before it.
 *
 * @param {Known[]} branch @param {number} place of the compaction @param {import("./entry.js").EntryData} said
 */
function throughOf(branch, place, { throughEntryId }) {
  if (throughEntryId === undefined) return -1;
  const through = branch.findIndex(({ id }) => id === throughEntryId);
  return through >= 0 && through < place ? through : place;
}

module.exports = { rebuildSessionContext, viewOf };
