"use strict";

// Session entries: the branch that they form, and what a compaction entry says.

const { invalidArgument } = require("../errors.js");

/** @typedef {{ throughEntryId?: string, keepEntryIds?: readonly string[], strategy?: string, trigger?: string }} EntryData */

/** An entry, read once. */
class Known {
  /** Where it stands in its branch. */
  place = -1;

  /** @param {any} entry @param {string} list what errors call the list that it is from @param {number} index */
  constructor(entry, list, index) {
    this.entry = entry;
    this.list = list;
    this.index = index;
    if (!isObject(entry)) throw invalidArgument(this.at, "an object");
    const { id, parentId, kind } = entry;
    if (typeof id !== "string" || id === "") throw this.isWrong("id", "a name");
    /** @type {string | undefined} */
    this.parent = parentId ?? undefined;
    if (this.parent !== undefined && typeof parentId !== "string") throw this.isWrong("parentId", "a string");
    if (typeof kind !== "string") throw this.isWrong("kind", "a string");
    this.id = id;
    this.kind = kind;
  }

  /** What errors call it: no text is made of the many that are right. */
  get at() {
    return `${this.list}[${this.index}]`;
  }

  /** @param {string} field @param {string} expected */
  isWrong(field, expected) {
    return invalidArgument(`${this.at}.${field}`, expected);
  }
}

/** @param {unknown} value */
function isObject(value) {
  return value !== null && typeof value === "object";
}

/**
 * The entries from the root to a leaf: the last entry, unless another is named.
 *
 * @param {any} list @param {string} name @param {string} [leafId] @returns {Known[]}
 */
function branchOf(list, name, leafId) {
  if (!Array.isArray(list)) throw invalidArgument(name, "an array");
  const entries = Array.from(list, (entry, index) => new Known(entry, name, index));
  const places = placesOf(entries);
  const end = leafId === undefined ? entries.length - 1 : places.get(leafId);
  if (end === undefined) throw invalidArgument("options.leafId", "the id of an entry in the list");
  const branch = pathTo(end, entries, places);
  branch.forEach((entry, place) => {
    entry.place = place;
  });
  return branch;
}

/** @param {Known[]} entries */
function placesOf(entries) {
  const places = new Map();
  entries.forEach((known, index) => {
    if (places.has(known.id)) throw known.isWrong("id", "an id that no other entry has");
    places.set(known.id, index);
  });
  return places;
}

/**
 * How many entries at the beginning of a list follow each other without a word of it: those ahead of the first that
 * names a parent. Compactions, which are ours, do not count.
 *
 * @param {Known[]} entries
 */
function unlinked(entries) {
  const first = entries.findIndex(({ kind, parent }) => parent !== undefined && kind !== "compaction");
  return first === -1 ? entries.length : first;
}

/** @param {number} end @param {Known[]} entries @param {Map<string, number>} places */
function pathTo(end, entries, places) {
  const start = unlinked(entries);
  const path = [];
  let place = end;
  while (place >= start) {
    const entry = entries[place];
    path.push(entry);
    if (entry.parent === undefined) return path.reverse();
    const parent = entries[place - 1]?.id === entry.parent ? place - 1 : places.get(entry.parent);
    if (parent === undefined) throw entry.isWrong("parentId", "the id of an entry in the list");
    if (path.length === entries.length) {
      throw entry.isWrong("parentId", "an entry that does not descend from it");
    }
    place = parent;
  }
  return [...entries.slice(0, place + 1), ...path.reverse()];
}

/** The message of an entry. @param {Known} known */
function messageOf(known) {
  const { message } = known.entry;
  if (!isObject(message)) throw known.isWrong("message", "an object");
  const { role, content } = message;
  if (typeof role !== "string") throw known.isWrong("message.role", "a string");
  if (!Array.isArray(content) && typeof content !== "string") {
    throw known.isWrong("message.content", "an array of blocks");
  }
  return message;
}

/** The words of a summary entry. @param {Known} known @returns {string} */
function summaryOf(known) {
  const { summary } = known.entry;
  if (typeof summary !== "string") throw known.isWrong("summary", "a string");
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
  if (!isObject(value) || Array.isArray(value)) return undefined;
  const { throughEntryId, keepEntryIds: kept, strategy, trigger } = value;
  const words = [throughEntryId, strategy, trigger];
  if (words.some((word) => word !== undefined && typeof word !== "string")) return undefined;
  if (kept === undefined) return { throughEntryId, strategy, trigger };
  const keepEntryIds = Array.isArray(kept) ? Array.from(kept) : [undefined];
  if (keepEntryIds.some((id) => typeof id !== "string")) return undefined;
  return { throughEntryId, keepEntryIds, strategy, trigger };
}

module.exports = {
  branchOf,
  dataOf,
  isCompactionEntryData,
  messageOf,
  summaryOf,
};
