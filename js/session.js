"use strict";

// A session file as a transcript: places in a file on the native side, messages made of their lines when asked for.

const { resolve: resolvePath } = require("node:path");

const { abortSignal, optional, optionalFunction, optionalText } = require("./arguments.js");
const { binding, storeOf } = require("./crossing.js");
const { fromFailure, invalidArgument, later, typed } = require("./errors.js");
const { Kept, reported } = require("./kept.js");
const { tell } = require("./listener.js");
const { Transcript, TranscriptRange } = require("./transcript.js");
const { usageFacts } = require("./values.js");

/** @typedef {ReturnType<typeof usageFacts>} Usage */

/** Messages of which the first are lines of a file, and those of `messages` come after them. */
class KeptInFile extends Kept {
  /** Other messages in the place of some of the file. @type {Map<number, any>} */
  others = new Map();

  /** @param {any} opened @param {Map<number, Usage>} known what some of the file say of their usage */
  constructor(opened, known) {
    super();
    this.opened = opened;
    this.known = known;
    this.inFile = opened.places - opened.absent.length;
  }

  get length() {
    return this.inFile + this.messages.length;
  }

  /** @param {number} i */
  at(i) {
    return this.slice(i, i + 1)[0];
  }

  /** @param {number} start @param {number} end */
  slice(start, end) {
    return this.pick(Array.from({ length: Math.max(0, end - start) }, (_, i) => start + i));
  }

  /** Reads the lines of those that are in the file, at once. @param {readonly number[]} indices */
  pick(indices) {
    const picked = indices.map((i) =>
      i < this.inFile ? this.others.get(i) : this.messages[i - this.inFile],
    );
    const away = picked.flatMap((message, i) => (message === undefined ? [i] : []));
    if (away.length === 0) return picked;
    const places = away.map((i) => this.placeOf(indices[i]));
    for (const [at, message] of messagesAt(this.opened, places).entries()) {
      // A place that holds no message now held one when the file was opened.
      picked[away[at]] = message ?? changed(this.opened.session);
    }
    return picked;
  }

  /** Whether a message is a line of the file. @param {number} i */
  isInFile(i) {
    return i < this.inFile && !this.others.has(i);
  }

  /** The place of a message that is in the file: places that turned out to hold none are passed over. @param {number} i */
  placeOf(i) {
    let place = i;
    for (const absent of this.opened.absent) if (absent <= place) place++;
    return place;
  }

  /** @param {number} end */
  until(end) {
    const kept = /** @type {KeptInFile} */ (super.until(Math.max(0, end - this.inFile)));
    kept.inFile = Math.min(end, this.inFile);
    return kept;
  }

  /** @param {number} place @param {any} message */
  with(place, message) {
    if (place >= this.inFile) return super.with(place - this.inFile, message);
    const kept = /** @type {KeptInFile} */ (this.copy());
    kept.others.set(place, message);
    kept.known.set(place, usageFacts(message));
    return kept;
  }

  copy() {
    const [others, known] = [new Map(this.others), new Map(this.known)];
    return Object.assign(super.copy(), { others, known });
  }

  /** @param {number} i */
  reportedAt(i) {
    if (i >= this.inFile) return super.reportedAt(i - this.inFile);
    if (this.known.has(i)) return reported(this.known.get(i));
    return binding.sessionReported(this.opened.session, this.placeOf(i)) ?? null;
  }
}

// A host waits for that module only when it reads lines.
const messageOf = later(() => require("./session-entry.js"), "messageOf");

// An iteration, unlike a function of this package, has nobody else who would type what is thrown.
const linesAt = typed(binding.sessionLines);
const editAt = typed(binding.sessionEdit);
const changed = typed(binding.sessionChanged);

/** A line as its entry: what is none was one when the file was opened. @param {object} session @param {string} line */
function entryOf(session, line) {
  try {
    const entry = JSON.parse(line);
    if (entry !== null && typeof entry === "object") return entry;
  } catch {}
  return changed(session);
}

/** The entries at some places. @param {any} opened @param {number[]} places @returns {any[]} */
function entriesAt({ session }, places) {
  return linesAt(session, places).map((/** @type {string} */ line) => entryOf(session, line));
}

/** @param {any} opened @param {number[]} places @returns {any[]} undefined where a place holds none */
function messagesAt(opened, places) {
  const { session, summary, hookRole } = opened;
  return entriesAt(opened, places).map((entry, i) => {
    const edit = editAt(session, places[i]);
    const of = { isSummary: places[i] === summary, hookRole };
    const message = messageOf(entry, edit === "" ? undefined : entryOf(session, edit), of);
    return message !== null && typeof message === "object" ? message : undefined;
  });
}

/** Numbers of calls: those of the file, then those of messages that come later. @extends {Map<unknown, number>} */
class CallNumbers extends Map {
  #session;
  #first;

  /** @param {object} session */
  constructor(session) {
    super();
    this.#session = session;
    this.#first = binding.sessionCallCount(session);
  }

  /** @param {unknown} id */
  get(id) {
    const known = super.get(id);
    if (known !== undefined || typeof id !== "string") return known;
    return binding.sessionCall(this.#session, id) ?? undefined;
  }

  get size() {
    return (this.#first ?? 0) + super.size;
  }
}

/** Places that are built between two turns of the event loop. */
const AT_ONCE = 64;

/** @param {string} path @param {any} [options] */
async function openSession(path, options) {
  if (typeof path !== "string" || path === "") throw invalidArgument("path", "the path of a session file");
  const { leafId, signal: given, onProgress } = optional(options, "options") ?? {};
  optionalText(leafId, "options.leafId");
  optionalFunction(onProgress, "options.onProgress");
  const signal = abortSignal(given, "options.signal");
  const opened = await read(absolute(path), leafId ?? undefined, signal, onProgress);
  const ids = new CallNumbers(opened.session);
  const stores = [];
  const known = new Map();
  for (const [i, place] of opened.odd.entries()) {
    if (i % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    if (signal?.aborted) throw signal.reason;
    const [message] = messagesAt(opened, [place]);
    stores.push(storeOf(message === undefined ? [] : [["message", [message]]], 0, ids));
    if (message === undefined) opened.absent.push(place);
    else known.set(place - opened.absent.length, usageFacts(message));
  }
  const resident =
    stores.length === 0 ? opened.resident : binding.sessionFilled(opened.resident, opened.odd, stores);
  return new SessionTranscript(resident, new KeptInFile(opened, known), ids);
}

/** The process may go elsewhere before a line is read again. @param {string} path */
function absolute(path) {
  try {
    return resolvePath(path);
  } catch {
    throw invalidArgument("path", "an absolute path, for the working directory is gone");
  }
}

/** Stretches of the file between two calls of `onProgress`. */
const STRETCHES_A_TELLING = 16;

/** @returns {Promise<any>} */
function read(
  /** @type {string} */ path,
  /** @type {string | undefined} */ leafId,
  /** @type {AbortSignal | undefined} */ signal,
  /** @type {any} */ onProgress,
) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) throw signal.reason;
    const run = binding.newRun();
    const abort = () => {
      binding.cancelRun(run);
      reject(signal?.reason);
    };
    const progress = { hear: (/** @type {object} */ event) => onProgress?.(event) };
    const hear = (/** @type {any} */ { opened, failure, bytes, total }) => {
      if (opened === undefined && failure === undefined) {
        if (!signal?.aborted) tell(progress, { bytes, total });
        return;
      }
      signal?.removeEventListener("abort", abort);
      if (failure) reject(fromFailure(failure, undefined));
      else resolve({ ...opened, absent: [] });
    };
    signal?.addEventListener("abort", abort, { once: true });
    binding.openSession(run, path, leafId, onProgress ? STRETCHES_A_TELLING : 0, hear);
  });
}

class SessionTranscript extends Transcript {
  #kept;

  /** @param {object} resident @param {KeptInFile} kept @param {Map<unknown, number>} ids */
  constructor(resident, kept, ids) {
    super([], { resident, kept }, ids);
    this.#kept = kept;
  }

  get skipped() {
    return this.#kept.opened.skipped;
  }

  get skippedCount() {
    return this.#kept.opened.skippedCount;
  }

  get gap() {
    return this.#kept.opened.gap ?? undefined;
  }

  get staleMessages() {
    const { stale, absent } = this.#kept.opened;
    return stale - absent.filter((/** @type {number} */ place) => place < stale).length;
  }

  get endsInCheckpoint() {
    return this.#kept.opened.endsInCompaction;
  }

  get previousCheckpoint() {
    const { summary } = this.#kept.opened;
    if (summary === undefined || summary === null) return undefined;
    const [entry] = entriesAt(this.#kept.opened, [summary]);
    const { details, tokensBefore } = entry;
    return {
      summary: typeof entry.summary === "string" ? entry.summary : "",
      ...(details !== null && typeof details === "object" ? { details } : {}),
      ...(typeof tokensBefore === "number" ? { tokensBefore } : {}),
    };
  }

  get bytesRead() {
    return this.#kept.opened.bytesRead + binding.sessionBytesRead(this.#kept.opened.session);
  }

  get peakBuffered() {
    return this.#kept.opened.peakBuffered;
  }

  /** @param {number} index */
  entryId(index) {
    if (!Number.isInteger(index) || index < 0 || index >= this.length) {
      throw invalidArgument("index", `an integer from 0 to ${this.length - 1}`);
    }
    const kept = /** @type {KeptInFile} */ (TranscriptRange.viewOf(this)?.generation.kept);
    if (kept.opened.linear || !kept.isInFile(index)) return null;
    const [{ id }] = entriesAt(kept.opened, [kept.placeOf(index)]);
    return typeof id === "string" ? id : null;
  }
}

module.exports = { SessionTranscript, openSession };
