// A session file of 200 MB: the lines of a real one, over and over, each with an id of its own.

import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { sessionPath } from "./sessions.mjs";
import { loadPiWithSessions } from "./sides.mjs";

const BYTES = 200_000_000;
/** What points to another entry. */
const REFERENCES = ["firstKeptEntryId", "targetId", "fromId"];

/** @type {Map<string, string>} */
const made = new Map();

/** The large file of a session, made when it is first asked for. @param {string} session */
export async function largeFile(session) {
  const known = made.get(session);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), "pi-compaction-bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, `${session}.jsonl`);
  const { entriesOf } = await loadPiWithSessions();
  write(path, entriesOf(sessionPath(session)));
  made.set(session, path);
  return path;
}

/** @param {string} path @param {any[]} entries */
function write(path, [header, ...entries]) {
  const file = openSync(path, "w");
  let written = writeSync(file, `${JSON.stringify(header)}\n`);
  /** @type {string | null} */
  let leaf = null;
  for (let copy = 0; written < BYTES; copy++) {
    const renamed = copied(entries, copy, leaf);
    leaf = renamed.at(-1).id;
    written += writeSync(file, renamed.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  }
  closeSync(file);
}

/** @param {any[]} entries @param {number} copy @param {string | null} leaf the entry before the first */
function copied(entries, copy, leaf) {
  const ids = new Map(entries.map(({ id }, i) => [id, fresh(copy * entries.length + i)]));
  return entries.map((entry) => {
    const own = { ...entry, id: ids.get(entry.id), parentId: ids.get(entry.parentId) ?? leaf };
    for (const name of REFERENCES) if (ids.has(own[name])) own[name] = ids.get(own[name]);
    return own;
  });
}

/** As pi's are: eight hexadecimal digits. @param {number} number */
function fresh(number) {
  return number.toString(16).padStart(8, "0");
}
