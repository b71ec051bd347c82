"use strict";

// The resident transcript: references here, sizes and texts on the native side.

const { appendTo, binding, storeOf } = require("./crossing.js");
const { invalidArgument } = require("./errors.js");
const { Kept } = require("./kept.js");
const { checkMessage, usageFacts } = require("./values.js");

/**
 * What a range looks at. Appending only ever adds behind every range, so that a generation is shared; any other
 * edit begins a new one.
 *
 * @typedef {{ resident: object, kept: Kept }} Generation
 */

class TranscriptRange {
  #generation;
  #start;
  #end;

  /** @param {Generation} generation @param {number} start @param {number} end */
  constructor(generation, start, end) {
    this.#generation = generation;
    this.#start = start;
    this.#end = end;
  }

  get length() {
    return this.#end - this.#start;
  }

  *[Symbol.iterator]() {
    for (let i = this.#start; i < this.#end; i++) yield this.#generation.kept.at(i);
  }

  /** @param {any} value @returns {{ generation: Generation, start: number, end: number } | undefined} */
  static viewOf(value) {
    if (value instanceof Transcript) return TranscriptRange.viewOf(value.range());
    if (typeof value !== "object" || value === null || !(#generation in value)) return undefined;
    return { generation: value.#generation, start: value.#start, end: value.#end };
  }
}

class Transcript {
  /** @type {Generation | undefined} */
  #generation;
  /** Numbers of the calls, by which results find them whenever they come. @type {Map<unknown, number>} */
  #ids;

  /**
   * @param {Iterable<any>} [messages]
   * @param {Generation} [generation] what it begins with
   * @param {Map<unknown, number>} [ids] numbers that calls have already
   */
  constructor(
    messages = [],
    generation = { resident: binding.newResident(), kept: new Kept() },
    ids = new Map(),
  ) {
    this.#generation = generation;
    this.#ids = ids;
    if (typeof messages?.[Symbol.iterator] !== "function")
      throw invalidArgument("messages", "an iterable of messages");
    this.#add([...messages]);
  }

  get #current() {
    if (!this.#generation) throw invalidArgument("this", "a transcript that is not disposed");
    return this.#generation;
  }

  get length() {
    return this.#current.kept.length;
  }

  get memoryUsage() {
    return binding.residentBytes(this.#current.resident);
  }

  /** @param {any[]} messages */
  append(...messages) {
    this.#add(messages);
  }

  /** @param {readonly any[]} messages */
  #add(messages) {
    const { resident, kept } = this.#current;
    // Before anything is appended, so that all of them are or none.
    for (const [i, message] of messages.entries()) checkMessage(message, "messages", i);
    const usages = messages.map(usageFacts);
    appendTo(resident, messages, this.#ids);
    kept.push(messages, usages);
  }

  /** @param {number} length */
  truncate(length) {
    const { resident, kept } = this.#current;
    const end = index(length, kept.length, "length");
    this.#generation = {
      resident: binding.editedResident(resident, end, storeOf([])),
      kept: kept.until(end),
    };
  }

  /** @param {number} at @param {any} message */
  replace(at, message) {
    const { resident, kept } = this.#current;
    const place = index(at, kept.length - 1, "index");
    const edited = binding.editedResident(resident, place, storeOf([["message", [message]]], 0, this.#ids));
    this.#generation = { resident: edited, kept: kept.with(place, message) };
  }

  /** @param {number} [start] @param {number} [end] */
  range(start = 0, end = this.length) {
    const last = index(end, this.#current.kept.length, "end");
    return new TranscriptRange(this.#current, index(start, last, "start"), last);
  }

  dispose() {
    this.#generation = undefined;
    this.#ids = new Map();
  }

  [Symbol.iterator]() {
    return this.range()[Symbol.iterator]();
  }
}

/** @param {number} value @param {number} most @param {string} name */
function index(value, most, name) {
  if (!Number.isInteger(value) || value < 0 || value > most) {
    throw invalidArgument(name, `an integer from 0 to ${most}`);
  }
  return value;
}

module.exports = { Transcript, TranscriptRange };
