"use strict";

// One gathering, one native answer.

const binding = require("../binding.js");
const { gather } = require("./gather.js");
const { Depth } = require("./records.js");

/** Units before which tool results are probed, by dialect. */
const PROBES = { "pi-0.87": binding.probedCap("pi-0.87"), "pi-1.6": binding.probedCap("pi-1.6") };

/**
 * Gathers lengths, has the awaited strings measured, and hands the records on.
 *
 * @template T
 * @param {Record<string, readonly object[]>} lists by the name that an error should use
 * @param {{ dialect?: string }} options
 * @param {number} depth
 * @param {(records: Uint32Array, ends: number[]) => T} use `ends` holds the word at which each list ends
 * @returns {T}
 */
function measured(lists, options, depth, use) {
  const want = { depth, probe: PROBES[options.dialect ?? "pi-0.87"] };
  return gather(lists, want, (records, ends, strings) => {
    let at = 0;
    pass(strings, (batch) => {
      at = binding.measure(records, at, ...batch);
    });
    return use(records, ends);
  });
}

/**
 * Gathers messages with their texts into a native store.
 *
 * @param {readonly object[]} messages
 * @param {number} beyond units that tool results are read beyond their cap; Infinity reads all of everything
 * @param {string} [name] that an error should use
 */
function stored(messages, beyond, name = "messages") {
  return gather({ [name]: messages }, { depth: Depth.TEXT }, (records, [words], strings) => {
    const store = binding.store(records, words, Number.isFinite(beyond) ? beyond : undefined);
    pass(strings, (batch) => binding.read(store, ...batch));
    return store;
  });
}

/** Strings that one native call takes as arguments. */
const BATCH = 4096;

/** Calls `native(...leading, ...batch)` until every string has been passed. */
function pass(/** @type {string[]} */ all, /** @type {(batch: string[]) => void} */ native) {
  for (let at = 0; at < all.length; at += BATCH) {
    native(all.length <= BATCH ? all : all.slice(at, at + BATCH));
  }
}

module.exports = { Depth, binding, measured, stored };
