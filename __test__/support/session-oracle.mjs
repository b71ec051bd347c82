// What pi 1.6.0 makes of a session file. pi repairs and migrates what it opens, so it is handed lines, never a path.

import * as pi from "../oracle/node_modules/pi-1.6/dist/core/session-manager.js";

/** @typedef {import("./transcripts.mjs").Message} Message */
/** @typedef {{ line: number, reason: string }} Line */

const NO_HEADER = "no session header in the file; read without it";
const NO_JSON = "not valid JSON";
const CUT_OFF = "cut off: the file ends inside this line";
/** Of a last line without LF: which of the two it is, a test of its own says. */
const UNENDED = `${NO_JSON} or ${CUT_OFF}`;

/** An object as JSON has them. @param {any} value */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** What is wrong with a line, and what of it pi still reads. @param {string} text @param {boolean} ended */
function lineOf(text, ended) {
  let entry;
  try {
    entry = JSON.parse(text);
  } catch {
    return { reason: ended ? NO_JSON : UNENDED };
  }
  if (!isObject(entry)) return { reason: "not a JSON object" };
  if (typeof entry.type !== "string") return { entry, reason: "an entry without a type" };
  if (entry.type !== "message" || isObject(entry.message)) return { entry };
  // pi throws on such an entry; it keeps its place in the tree and says nothing.
  return { entry: { ...entry, type: "label" }, reason: "a message entry without a message" };
}

/** Lines end at LF only; a byte order mark at the start is no part of the first. @param {Buffer} bytes */
function readLines(bytes) {
  const lines = bytes
    .toString("utf8")
    .replace(/^\ufeff/, "")
    .split("\n");
  const [entries, places, skipped] = [/** @type {any[]} */ ([]), new Map(), /** @type {Line[]} */ ([])];
  for (const [index, text] of lines.entries()) {
    if (text.trim() === "") continue;
    const { entry, reason } = lineOf(text, index < lines.length - 1);
    if (reason !== undefined) skipped.push({ line: index + 1, reason });
    if (entry === undefined) continue;
    entries.push(entry);
    places.set(entry, index + 1);
  }
  return { entries, places, skipped };
}

/**
 * Follows parents as pi does, and cuts the link that would lead pi around in a circle for ever.
 *
 * @param {any[]} members @param {any} leaf
 */
function climb(members, leaf) {
  const named = new Map(members.map((entry) => [entry.id, entry]));
  const path = /** @type {any[]} */ ([]);
  for (let entry = leaf; entry; ) {
    path.unshift(entry);
    const parent = entry.parentId ? named.get(entry.parentId) : undefined;
    if (parent && path.includes(parent)) {
      entry.parentId = null;
      return { path, gap: entry };
    }
    if (!parent) return { path, gap: entry.parentId ? entry : undefined };
    entry = parent;
  }
  return { path, gap: undefined };
}

/** Messages at the start that stand before the last edit or compaction of the branch. @param {any[]} projected @param {any[]} path */
function staleOf(projected, path) {
  const boundary = path.findLastIndex(({ type }) => type === "compaction" || type === "context_edit");
  let [stale, count] = [0, 0];
  for (const { sourceEntry, messages } of projected) {
    count += messages.length;
    if (path.indexOf(sourceEntry) <= boundary) stale = count;
  }
  return stale;
}

/** The checkpoint at the head of a projection. @param {any[]} projected */
function checkpointOf(projected) {
  const [head] = projected;
  if (head?.sourceEntry.type !== "compaction" || head.messages.length === 0) return undefined;
  const { summary, details, tokensBefore } = head.sourceEntry;
  return { summary, details, tokensBefore };
}

/** Whether nothing was said since the last compaction; `undefined` where only state of pi follows it. @param {any[]} path */
function endsInCheckpoint(path) {
  if (path.at(-1)?.type === "compaction") return true;
  const said = path.slice(path.findLastIndex(({ type }) => type === "compaction"));
  const compacted = path.some(({ type }) => type === "compaction");
  return !compacted || said.some(({ type }) => type === "message" || type === "custom_message")
    ? false
    : undefined;
}

/**
 * The branch of `leafId`, or of the newest entry; `undefined` where there is no such entry. A header behind which all
 * lines were skipped is an empty branch: the host is to hear of the lines.
 *
 * @param {Buffer | string} content @param {string} [leafId]
 */
export function asPiReads(content, leafId) {
  const { entries, places, skipped } = readLines(Buffer.from(content));
  const header = entries.find(({ type }) => type === "session");
  const named = entries.some(({ id }) => typeof id === "string");
  const linear = header ? (header.version ?? 1) < 2 : !named;
  if (header || linear) pi.migrateSessionEntries(entries);
  if (!header) skipped.push({ line: 1, reason: NO_HEADER });
  const members = entries.filter(({ type }) => type !== "session");
  const leaf = leafId === undefined ? members.at(-1) : members.findLast(({ id }) => !linear && id === leafId);
  const isEmptied = header && leafId === undefined && skipped.length > 0;
  if (leaf === undefined && !isEmptied) return undefined;
  const { path, gap } = climb(members, leaf);
  const projected = leaf ? pi.buildSessionProjection(members, leaf.id).entries : [];
  const spoken = projected.flatMap((/** @type {any} */ entry) =>
    entry.messages.map((/** @type {Message} */ message) => ({ message, id: entry.sourceEntry.id ?? null })),
  );
  return {
    messages: /** @type {Message[]} */ (spoken.map((/** @type {any} */ { message }) => message)),
    ids: spoken.map((/** @type {any} */ { id }) => (linear ? null : id)),
    staleMessages: staleOf(projected, path),
    endsInCheckpoint: endsInCheckpoint(path),
    previousCheckpoint: checkpointOf(projected),
    gap: gap && !linear ? places.get(gap) : undefined,
    skipped: skipped.sort((a, b) => a.line - b.line || (a.reason < b.reason ? -1 : 1)),
    leafIds: linear ? [] : [...new Set(members.map(({ id }) => id).filter((id) => typeof id === "string"))],
  };
}

/** Lines with their reasons, so that they can be compared with an oracle's. @param {readonly Line[]} lines @param {readonly Line[]} expected */
export function wordsOf(lines, expected) {
  const unended = expected.find(({ reason }) => reason === UNENDED)?.line;
  const reasonOf = (/** @type {Line} */ { line, reason }) =>
    line === unended && [NO_JSON, CUT_OFF].includes(reason) ? UNENDED : reason;
  return lines.map((line) => `${line.line} ${reasonOf(line)}`).sort();
}

/**
 * A value without what JSON does not tell apart: members that are `undefined`, and times that are none. Numbers keep
 * their sign and their infinity.
 *
 * @param {any} value @returns {any}
 */
export function told(value) {
  if (typeof value === "number" && Number.isNaN(value)) return null;
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(told);
  const members = Object.keys(value).filter((key) => value[key] !== undefined);
  return Object.fromEntries(members.map((key) => [key, told(value[key])]));
}
