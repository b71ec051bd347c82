"use strict";

// One gathering, one native answer.

const binding = require("./addon.js");
const { gather } = require("./gather.js");
const { Depth } = require("./records.js");

/** Messages, each list with the name that an error should use. @typedef {readonly (readonly [string, readonly any[]])[]} Lists */

/** Units before which tool results are probed, by dialect. */
const PROBES = { "pi-0.87": binding.probedCap("pi-0.87"), "pi-1.6": binding.probedCap("pi-1.6") };

/**
 * Gathers lengths, has the awaited strings measured, and hands the records on.
 *
 * @template T
 * @param {Lists} lists
 * @param {{ dialect?: string } | undefined} options
 * @param {number} depth
 * @param {(records: Uint32Array, start: number, end: number) => T} use
 * @returns {T}
 */
function gathered(lists, options, depth, use) {
  const want = { depth, probe: PROBES[options?.dialect ?? "pi-0.87"] };
  return gather(lists, want, (records, words, strings) => {
    let at = 0;
    pass(strings, (batch) => {
      at = binding.measure(records, at, ...batch);
    });
    return use(records, 0, words);
  });
}

/**
 * Gathers messages with their texts into a native store.
 *
 * @param {Lists} lists
 * @param {number} [beyond] units that tool results are read beyond their cap; Infinity reads all of everything
 * @param {Map<unknown, number>} [ids] numbers of calls that hold beyond this gathering
 */
function storeOf(lists, beyond = 0, ids = undefined) {
  return gather(lists, { depth: Depth.TEXT, ids }, (records, words, strings) => {
    const store = binding.store(records, words, Number.isFinite(beyond) ? beyond : undefined);
    pass(strings, (batch) => binding.read(store, ...batch));
    return store;
  });
}

/** Messages that are appended at once: their strings are to fit one call, as a rule. */
const SLICE = 256;

/**
 * Appends messages to a resident transcript, within which `ids` number the calls.
 *
 * @param {object} resident @param {readonly object[]} messages @param {Map<unknown, number>} ids
 */
function appendTo(resident, messages, ids) {
  for (let at = 0; at < messages.length; at += SLICE) {
    const slice = messages.length <= SLICE ? messages : messages.slice(at, at + SLICE);
    const fits = gather([["messages", slice]], { depth: Depth.TEXT, ids }, (records, words, strings) => {
      if (strings.length > BATCH) return false;
      binding.append(resident, records, words, ...strings);
      return true;
    });
    if (!fits) binding.appendToResident(resident, storeOf([["messages", slice]], 0, ids));
  }
}

/** Units that a unit of a secret takes at most inside a JSON string. */
const ESCAPED = 6;

/**
 * Messages with their texts as far as they are printed, and so far beyond that a secret across the cap is recognized.
 *
 * @param {Lists} lists @param {readonly string[]} secrets
 */
function passageOf(lists, secrets) {
  const beyond = ESCAPED * secrets.reduce((longest, { length }) => Math.max(longest, length), 0);
  return binding.passageOfStore(storeOf(lists, beyond));
}

/** Messages with all of their texts. @param {readonly object[]} messages */
function wholePassageOf(messages) {
  return binding.passageOfStore(storeOf([["messages", messages]], Number.POSITIVE_INFINITY));
}

/** Strings that one native call takes as arguments. */
const BATCH = 4096;

/** Calls `native(...leading, ...batch)` until every string has been passed. */
function pass(/** @type {string[]} */ all, /** @type {(batch: string[]) => void} */ native) {
  for (let at = 0; at < all.length; at += BATCH) {
    native(all.length <= BATCH ? all : all.slice(at, at + BATCH));
  }
}

module.exports = { Depth, appendTo, binding, gathered, passageOf, storeOf, wholePassageOf };
