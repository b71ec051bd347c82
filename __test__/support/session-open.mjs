// Session files on disk, opened and held against pi's reading of the same bytes.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import * as library from "../../index.js";
import { random } from "./random.mjs";
import { told, wordsOf } from "./session-oracle.mjs";
import { storedMessages } from "./session-trees.mjs";
import { calls } from "./transcript-calls.mjs";

/** @typedef {import("./random.mjs").Random} Random */
/** @typedef {import("./transcripts.mjs").Message} Message */
/** @typedef {NonNullable<ReturnType<typeof import("./session-oracle.mjs").asPiReads>>} Reading */

/** @type {(path: any, options?: any) => Promise<any>} */
export const openSession = /** @type {any} */ (library).openSession;

/** A folder that goes with the test file. @param {string} name */
export function sessionFolder(name) {
  const path = mkdtempSync(join(tmpdir(), `pi-compaction-${name}-`));
  after(() => rmSync(path, { recursive: true, force: true }));
  let files = 0;
  /** @param {string | Buffer} content */
  const file = (content) => {
    const at = join(path, `${++files}.jsonl`);
    writeFileSync(at, content);
    return at;
  };
  return { path, file };
}

/** Files of pi that people had, where they lie beside the repository, and our own sample. */
export function realSessions() {
  const beside = (/** @type {string} */ name) =>
    fileURLToPath(new URL(`../../../shared/sessions/${name}.jsonl`, import.meta.url));
  return [
    { name: "sample", path: fileURLToPath(new URL("../../examples/session.jsonl", import.meta.url)) },
    { name: "before-compaction", path: beside("before-compaction") },
    { name: "large-session", path: beside("large-session") },
  ].map(({ name, path }) => ({
    name,
    path,
    skip: existsSync(path) ? false : "the real sessions are not here",
  }));
}

/** What is known of a file from outside. @param {string} path */
export function stateOf(path) {
  const { mtimeMs, size, ino, mode } = statSync(path);
  return { bytes: readFileSync(path), mtimeMs, size, ino, mode };
}

/** Opens a file and holds the reader to leaving it alone. @param {string} path @param {object} [options] */
export async function openUntouched(path, options) {
  const before = stateOf(path);
  const session = await openSession(path, options);
  assert.deepEqual(stateOf(path), before);
  return session;
}

/** @param {any} session @param {Reading} reading @param {string} title */
export function assertReading(session, reading, title) {
  assert.equal(session.length, reading.messages.length, `${title}: length`);
  assert.deepEqual(told([...session]), told(reading.messages), `${title}: messages`);
  const ids = reading.messages.map((_, index) => session.entryId(index));
  assert.deepEqual(ids, reading.ids, `${title}: entryId`);
  assert.equal(session.staleMessages, reading.staleMessages, `${title}: staleMessages`);
  if (reading.endsInCheckpoint !== undefined)
    assert.equal(session.endsInCheckpoint, reading.endsInCheckpoint, `${title}: endsInCheckpoint`);
  assert.deepEqual(
    told(session.previousCheckpoint),
    told(reading.previousCheckpoint),
    `${title}: checkpoint`,
  );
  assert.equal(session.gap?.line, reading.gap, `${title}: gap`);
  assertSkipped(session.skipped, reading.skipped, title);
}

/** The same lines in file order; two reasons for one line in either order. @param {any[]} found @param {any[]} expected @param {string} title */
export function assertSkipped(found, expected, title) {
  const lines = found.map(({ line }) => line);
  assert.deepEqual(
    lines,
    lines.toSorted((a, b) => a - b),
    `${title}: in file order`,
  );
  assert.deepEqual(wordsOf(found, expected), wordsOf(expected, expected), `${title}: skipped`);
}

/**
 * Every function that takes messages answers as for the plain list.
 *
 * @param {any} session @param {readonly Message[]} plain @param {number} seed
 */
export function assertAnswers(session, plain, seed) {
  const rng = random(seed ^ 0xa5);
  const middle = rng.chance(0.5) ? plain.length : rng.between(0, plain.length);
  const given = middle === plain.length && rng.chance(0.5) ? session : session.range(0, middle);
  const prefix = session.range(middle);
  for (const [name, call] of Object.entries(calls(rng, plain.length))) {
    const [found, expected] = [call(given, prefix), call(plain.slice(0, middle), plain.slice(middle))];
    assert.deepEqual(told(found), told(expected), `seed ${seed}: ${name}`);
  }
}

/** A change of a transcript and of the plain list beside it. @param {Random} rng @param {any} session @param {Message[]} plain */
export function changeBoth(rng, session, plain) {
  const kind = plain.length === 0 ? 0 : rng.between(0, 3);
  const at = rng.between(0, Math.max(0, plain.length - 1));
  const added = storedMessages(rng, 5);
  if (kind === 0) {
    session.append(...added);
    plain.push(...added);
  } else if (kind === 1) {
    session.truncate(at);
    plain.length = at;
  } else {
    // Its own message, read from the file, or another.
    const message =
      kind === 2 ? [...session.range(at, at + 1)][0] : (added[0] ?? { role: "user", content: "" });
    session.replace(at, message);
    plain[at] = message;
    assert.ok([...session.range(at, at + 1)][0] === message, "the caller's own object");
  }
}

/** The error of a file that cannot be opened, or has changed. @param {string} path @param {string} title */
export function sessionFileError(path, title) {
  return (/** @type {any} */ error) => {
    assert.ok(error instanceof library.CompactionError, `${title}: ${error?.stack ?? error}`);
    assert.equal(error.code, "session_file", title);
    assert.ok(error.message.includes(path), `${title}: names the path: ${error.message}`);
    assert.match(error.message, /; \w+ \w+/, `${title}: says what to do`);
    assert.doesNotMatch(error.message, /secret/, `${title}: quotes the file`);
    return true;
  };
}
