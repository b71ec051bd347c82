// The record of a run: what was measured, on what, from which commit. README's table and picture are made of it.

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { arch, cpus, platform, release, totalmem } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

import { chart } from "./chart.mjs";
import { sessionFacts } from "./sessions.mjs";
import { versions } from "./sides.mjs";

/** @typedef {import("./lines.mjs").Line} Line */
/** @typedef {{ node: string, v8: string, lines: Line[] }} Measured */

/**
 * @typedef {object} BenchRecord
 * @property {string} taken when the run began
 * @property {{ hash: string, changed: boolean } | undefined} commit whether files differed from it
 * @property {{ cpu: string, cores: number, memory: string, system: string }} machine
 * @property {Record<string, string>} packages versions by name
 * @property {number} processes fresh ones a row
 * @property {{ name: string, messages: number, bytes: number }[]} sessions
 * @property {Measured[]} nodes
 */

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FOLDER = "benches/record";
/** Digits that are kept of a figure. */
const DIGITS = 4;

/**
 * @param {Pick<BenchRecord, "processes" | "nodes"> & { taken: Date, sessions: string[] }} run
 * @returns {BenchRecord}
 */
export function recordOf({ taken, processes, sessions, nodes }) {
  return {
    taken: taken.toISOString(),
    commit: commit(),
    machine: {
      cpu: cpus()[0]?.model.trim() ?? "unknown",
      cores: cpus().length,
      memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
      system: `${platform()} ${release().split(".", 2).join(".")} ${arch()}`,
    },
    packages: versions(),
    processes,
    sessions: sessions.map(sessionFacts),
    nodes,
  };
}

/** The commit that is checked out; `undefined` outside of a repository. */
function commit() {
  const git = (/** @type {string[]} */ ...args) => {
    const { status, stdout } = spawnSync("git", args, { cwd: ROOT, encoding: "utf8" });
    return status === 0 ? stdout.trim() : undefined;
  };
  const hash = git("rev-parse", "HEAD");
  // Records and what is made of them change no figure.
  const changed = git("status", "--porcelain", "--", ".", `:!${FOLDER}`, ":!README.md") !== "";
  return hash === undefined ? undefined : { hash, changed };
}

/** The record as a file: a line of the table is a line of the file. @param {BenchRecord} record */
export function recordText(record) {
  const short = (/** @type {string} */ _, /** @type {unknown} */ value) =>
    typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value;
  const text = JSON.stringify(record, short, 1);
  return `${text.replace(/\n {5,}/g, " ").replace(/\n {4}(?=[}\]])/g, " ")}\n`;
}

/**
 * Writes a record and its picture under the day of the run; a second run of a day takes the first one's place.
 *
 * @param {BenchRecord} record @returns {string} its path in the repository
 */
export function writeRecord(record) {
  const path = `${FOLDER}/${record.taken.slice(0, 10)}.json`;
  mkdirSync(join(ROOT, FOLDER), { recursive: true });
  write(path, recordText(record));
  drawRecord(path);
  return path;
}

/** Draws the picture beside a record. @param {string} path */
export function drawRecord(path) {
  write(picturePath(path), chart(readRecord(path)));
}

/** Whole or not at all. @param {string} path @param {string} text */
function write(path, text) {
  const unfinished = join(ROOT, `${path}.tmp`);
  writeFileSync(unfinished, text);
  renameSync(unfinished, join(ROOT, path));
}

/** @param {string} path */
export function picturePath(path) {
  return `${FOLDER}/${basename(path, ".json")}.svg`;
}

/** @param {string} path @returns {BenchRecord} */
export function readRecord(path) {
  return JSON.parse(readFileSync(join(ROOT, path), "utf8"));
}

/** Path of the newest record, if there is any. */
export function newestRecord() {
  const names = readdirSync(join(ROOT, FOLDER)).filter((name) => /^\d{4}-\d\d-\d\d\.json$/.test(name));
  const newest = names.sort().at(-1);
  return newest === undefined ? undefined : `${FOLDER}/${newest}`;
}
