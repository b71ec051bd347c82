"use strict";

// Session entries: the branch that they form, and what a compaction entry says.

const { count, optional, required } = require("../arguments.js");
const { invalidArgument } = require("../errors.js");

/**
 * An entry, read once: `at` is what errors call it, `place` where it stands in its branch.
 *
 * @typedef {{ entry: any, at: string, id: string, parent: string | undefined, kind: string, place: number }} Known
 * @typedef {{ throughEntryId?: string, keepEntryIds?: readonly string[], strategy?: string, trigger?: string }} EntryData
 */

/** @param {any} entry @param {string} at @returns {Known} */
function known(entry, at) {
  const { id, parentId, kind } = required(entry, at);
  if (typeof id !== "string" || id === "") throw invalidArgument(`${at}.id`, "a name");
  const parent = parentId ?? undefined;
  if (parent !== undefined && typeof parent !== "string") throw invalidArgument(`${at}.parentId`, "a string");
  if (typeof kind !== "string") throw invalidArgument(`${at}.kind`, "a string");
  return { entry, at, id, parent, kind, place: -1 };
}

/**
 * The entries from the root to a leaf: the last entry, unless another is named.
 *
 * @param {any} list @param {string} name @param {string} [leafId] @returns {Known[]}
 */
function branchOf(list, name, leafId) {
  if (!Array.isArray(list)) throw invalidArgument(name, "an array");
  const entries = Array.from(list, (entry, index) => known(entry, `${name}[${index}]`));
  const places = placesOf(entries);
  const end = leafId === undefined ? entries.length - 1 : places.get(leafId);
  if (end === undefined) throw invalidArgument("options.leafId", "the id of an entry in the list");
  const branch = keepsNoParents(entries) ? entries.slice(0, end + 1) : pathTo(end, entries, places);
  branch.forEach((entry, place) => {
    entry.place = place;
  });
  return branch;
}

/** @param {Known[]} entries */
function placesOf(entries) {
  const places = new Map();
  entries.forEach(({ id, at }, index) => {
    if (places.has(id)) throw invalidArgument(`${at}.id`, "an id that no other entry has");
    places.set(id, index);
  });
  return places;
}

/** A list in which only compactions, which are ours, name a parent is one branch in its order. @param {Known[]} entries */
function keepsNoParents(entries) {
  return entries.every(({ kind, parent }) => parent === undefined || kind === "compaction");
}

/** @param {number} end @param {Known[]} entries @param {Map<string, number>} places */
function pathTo(end, entries, places) {
  const path = [];
  for (let place = end; place >= 0; ) {
    const entry = entries[place];
    path.push(entry);
    if (entry.parent === undefined) break;
    const parent = entries[place - 1]?.id === entry.parent ? place - 1 : places.get(entry.parent);
    if (parent === undefined) throw invalidArgument(`${entry.at}.parentId`, "the id of an entry in the list");
    if (path.length === entries.length) {
      throw invalidArgument(`${entry.at}.parentId`, "an entry that does not descend from it");
    }
    place = parent;
  }
  return path.reverse();
}

/** The message of an entry. @param {Known} known */
function messageOf({ entry, at }) {
  const { message } = entry;
  const { role, content } = required(message, `${at}.message`);
  if (typeof role !== "string") throw invalidArgument(`${at}.message.role`, "a string");
  if (!Array.isArray(content) && typeof content !== "string") {
    throw invalidArgument(`${at}.message.content`, "an array of blocks");
  }
  return message;
}

/** The words of a summary entry. @param {Known} known @returns {string} */
function summaryOf({ entry, at }) {
  const { summary } = entry;
  if (typeof summary !== "string") throw invalidArgument(`${at}.summary`, "a string");
  return summary;
}

/** Whether a value has the shape of a compaction entry's data (requirement E56). @param {any} value */
function isCompactionEntryData(value) {
  try {
    return dataOf(value) !== undefined;
  } catch {
    return false;
  }
}

/** The data, read once; nothing where it has another shape. @param {any} value @returns {EntryData | undefined} */
function dataOf(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
  const { throughEntryId, keepEntryIds: kept, strategy, trigger } = value;
  const words = [throughEntryId, strategy, trigger];
  if (words.some((word) => word !== undefined && typeof word !== "string")) return undefined;
  if (kept === undefined) return { throughEntryId, strategy, trigger };
  const keepEntryIds = Array.isArray(kept) ? Array.from(kept) : [undefined];
  if (keepEntryIds.some((id) => typeof id !== "string")) return undefined;
  return { throughEntryId, keepEntryIds, strategy, trigger };
}

/** @param {any} secrets @param {string} name @returns {string[]} those that are there */
function secretsOf(secrets, name) {
  if (secrets === undefined || secrets === null) return [];
  const list = Array.isArray(secrets) ? Array.from(secrets) : [secrets];
  const given = list.filter((secret) => secret !== undefined && secret !== null);
  if (!Array.isArray(secrets) || given.some((secret) => typeof secret !== "string")) {
    throw invalidArgument(name, "an array of strings");
  }
  return given;
}

/** What a host says of itself to itself. @param {any} value @param {string} name */
function metadataOf(value, name) {
  const metadata = optional(value, name);
  return metadata === undefined ? {} : { metadata };
}

/** @param {any} value @param {string} name @param {number} missing @returns {number} */
function countOr(value, name, missing) {
  return value === undefined || value === null ? missing : count(value, name);
}

module.exports = {
  branchOf,
  countOr,
  dataOf,
  isCompactionEntryData,
  messageOf,
  metadataOf,
  secretsOf,
  summaryOf,
};
