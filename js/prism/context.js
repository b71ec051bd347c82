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
 * @property {Known[]} summaries summary entries that are later than the compaction
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
    summaries: carried === undefined ? later : [carried, ...later],
  };
}

/** @param {Known[]} branch @returns {View} */
function viewOf(branch) {
  const { carried, place: boundary, through, kept } = boundaryOf(branch);
  const stays = (/** @type {Known} */ { place, id }) => place > boundary || kept.has(id);
  const isCovered = (/** @type {Known} */ { place, id }) => place <= through && !kept.has(id);
  return {
    carried,
    through,
    messages: branch.filter((known) => known.kind === "message" && stays(known)),
    summaries: branch.filter(({ kind, place }) => kind === "summary" && place > boundary),
    uncovered: branch.filter((known) => known.kind !== "compaction" && !isCovered(known)),
  };
}

/** The latest valid compaction of a branch, what it covers and what it keeps (requirements E52, E53, E100). */
function boundaryOf(/** @type {Known[]} */ branch) {
  for (let place = branch.length - 1; place >= 0; place--) {
    const { kind, entry } = branch[place];
    if (kind !== "compaction") continue;
    const { data, summary } = entry;
    const said = dataOf(data);
    if (!said || typeof summary !== "string") continue;
    const end = branch.findIndex(({ id }) => id === said.throughEntryId);
    // Of a summary that does not say how far it goes, all before it is taken for covered.
    const through = end >= 0 && end < place ? end : place;
    return { carried: summary, place, through, kept: new Set(said.keepEntryIds) };
  }
  return { carried: undefined, place: -1, through: -1, kept: new Set() };
}

module.exports = { rebuildSessionContext, viewOf };
