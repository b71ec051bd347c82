// The sessions to measure on: the two real ones where they lie beside the repository, else the sample.

import { existsSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Name of each session and its file, relative to the repository. @type {[name: string, file: string][]} */
const REAL = [
  ["before", "../shared/sessions/before-compaction.jsonl"],
  ["large", "../shared/sessions/large-session.jsonl"],
];
/** @type {[name: string, file: string]} */
const SAMPLE = ["sample", "examples/session.jsonl"];

const pathOf = (/** @type {string} */ file) => fileURLToPath(new URL(`../../${file}`, import.meta.url));

/** Names of the sessions that are there. */
export function sessionNames() {
  const present = REAL.filter(([, file]) => existsSync(pathOf(file)));
  if (present.length === 0 && existsSync(pathOf(SAMPLE[1]))) present.push(SAMPLE);
  return present.map(([name]) => name);
}

/** A session's file. @param {string} name */
export function sessionPath(name) {
  const file = [...REAL, SAMPLE].find(([known]) => known === name)?.[1];
  if (file === undefined) throw new Error(`no session is called ${name}`);
  return pathOf(file);
}

/**
 * A session's file and its messages, in file order.
 *
 * @param {string} name
 */
export function readSession(name) {
  const path = sessionPath(name);
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
  const entries = lines.map((line) => JSON.parse(line));
  return { path, messages: entries.filter(({ type }) => type === "message").map(({ message }) => message) };
}

/** What is said of a session beside its figures. @param {string} name */
export function sessionFacts(name) {
  const { path, messages } = readSession(name);
  return { name, messages: messages.length, bytes: statSync(path).size };
}
