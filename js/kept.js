"use strict";

// The messages that a transcript keeps references to.

const { binding } = require("./crossing.js");
const { usageFacts } = require("./values.js");

/** The context's size by what a message says of its usage. @param {ReturnType<typeof usageFacts>} facts @returns {number | null} */
function reported(facts) {
  return facts ? binding.reportedTokens(...facts) : null;
}

/** Messages that are at hand. */
class Kept {
  /** @type {any[]} */
  messages = [];
  /** What each says of its usage, as it stood when it came. @type {ReturnType<typeof usageFacts>[]} */
  usages = [];

  get length() {
    return this.messages.length;
  }

  /** @param {number} i @returns {any} */
  at(i) {
    return this.messages[i];
  }

  /** @param {number} start @param {number} end @returns {any[]} */
  slice(start, end) {
    return this.messages.slice(start, end);
  }

  /** @param {readonly number[]} places @returns {any[]} */
  pick(places) {
    return places.map((place) => this.messages[place]);
  }

  /** The context's size that a message reports. @param {number} i @returns {number | null} */
  reportedAt(i) {
    return reported(this.usages[i]);
  }

  /** @param {any[]} messages @param {ReturnType<typeof usageFacts>[]} usages */
  push(messages, usages) {
    for (const message of messages) this.messages.push(message);
    for (const facts of usages) this.usages.push(facts);
  }

  /** The first `end` messages. @param {number} end */
  until(end) {
    const kept = this.copy();
    kept.messages.length = end;
    kept.usages.length = end;
    return kept;
  }

  /** The same with another message at a place. @param {number} place @param {any} message */
  with(place, message) {
    const kept = this.copy();
    kept.messages[place] = message;
    kept.usages[place] = usageFacts(message);
    return kept;
  }

  /** @returns {Kept} */
  copy() {
    return Object.assign(Object.create(Object.getPrototypeOf(this)), this, {
      messages: this.messages.slice(),
      usages: this.usages.slice(),
    });
  }
}

module.exports = { Kept, reported };
