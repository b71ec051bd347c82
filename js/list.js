"use strict";

// Messages as they came in: an array, or a range of a resident transcript.

const { Depth, binding, gathered, passageOf } = require("./crossing.js");
const { invalidArgument } = require("./errors.js");
const { reported } = require("./kept.js");
const { Transcript, TranscriptRange } = require("./transcript.js");
const { checkMessage, usageFacts } = require("./values.js");

class MessageList {
  /**
   * @param {import("./crossing.js").Lists} lists the arrays that it is made of
   * @param {ReturnType<typeof TranscriptRange.viewOf>} [view] or what it looks at
   */
  constructor(lists, view) {
    this.lists = lists;
    this.view = view;
  }

  /** @param {unknown} value @param {string} name that an error should use */
  static of(value, name) {
    if (Array.isArray(value)) return new MessageList([[name, value]]);
    const view = TranscriptRange.viewOf(value);
    if (!view) throw invalidArgument(name, "an array of messages or a range of a Transcript");
    return new MessageList([], view);
  }

  get length() {
    if (this.view) return this.view.end - this.view.start;
    return this.lists.reduce((sum, [, messages]) => sum + messages.length, 0);
  }

  /** The messages as an array. @returns {readonly any[]} */
  get messages() {
    const { lists, view } = this;
    if (view) return view.generation.kept.slice(view.start, view.end);
    return lists.length === 1 ? lists[0][1] : lists.flatMap(([, messages]) => messages);
  }

  /** The context's size that a message reports. @param {number} i @returns {number | null} */
  reportedAt(i) {
    if (this.view) return this.view.generation.kept.reportedAt(this.view.start + i);
    const message = this.messages[i];
    checkMessage(message, "messages", i);
    return reported(usageFacts(message));
  }

  /** Throws where one of them is none. */
  check() {
    for (const [name, messages] of this.lists) {
      for (let i = 0; i < messages.length; i++) checkMessage(messages[i], name, i);
    }
  }

  /** The messages at some indices. @param {readonly number[]} indices @returns {any[]} */
  pick(indices) {
    const { view } = this;
    if (view) return view.generation.kept.pick(indices.map((index) => view.start + index));
    const { messages } = this;
    return indices.map((index) => messages[index]);
  }

  /** Indices of the summaries of earlier compactions in a range. @returns {number[]} */
  summaries() {
    return this.with(undefined, Depth.PRINTED, (...source) => binding.summaries(...source));
  }

  /** What stands behind an index. @param {number} start */
  slice(start) {
    if (this.view) return new MessageList([], { ...this.view, start: this.view.start + start });
    return new MessageList([["messages", this.messages.slice(start)]]);
  }

  /** This list and the one behind it as one; ranges that meet stay a range. @param {MessageList} next */
  and(next) {
    if (next.length === 0) return this;
    const [a, b] = [this.view, next.view];
    if (a && b && a.generation === b.generation && a.end === b.start) {
      return new MessageList([], { ...a, end: b.end });
    }
    return new MessageList([...this.#arrays, ...next.#arrays]);
  }

  /** The list as it is now: what is appended to its arrays later is not in it. */
  snapshot() {
    if (this.view) return this;
    return new MessageList(this.lists.map(([name, messages]) => [name, messages.slice()]));
  }

  get #arrays() {
    return this.view ? [/** @type {const} */ (["messages", this.messages])] : this.lists;
  }

  /**
   * Hands the messages to a native function, as records or as a range.
   *
   * @template T
   * @param {{ dialect?: string } | undefined} options
   * @param {number} depth how much is gathered of an array
   * @param {(source: object, start: number, end: number) => T} use
   * @returns {T}
   */
  with(options, depth, use) {
    if (!this.view) return gathered(this.lists, options, depth, use);
    const { generation, start, end } = this.view;
    return use(generation.resident, start, end);
  }

  /**
   * The messages with their texts as far as they are printed.
   *
   * @param {readonly string[]} [secrets] which have to be recognized in them
   */
  passage(secrets = []) {
    // What stays resident ends at the cap: a secret across it can only be found in the message itself.
    if (!this.view || secrets.length > 0) return passageOf(this.#arrays, secrets);
    const { generation, start, end } = this.view;
    return binding.passageOfResident(generation.resident, start, end);
  }

  /** What goes out where this went in: arrays for arrays, else ranges. @param {readonly any[]} messages */
  like(messages) {
    return this.view ? new Transcript(messages).range() : messages;
  }

  /** A part of the list, as it goes out. @param {number} start @param {number} end */
  part(start, end) {
    if (!this.view) return this.messages.slice(start, end);
    const { generation, start: first } = this.view;
    return new TranscriptRange(generation, first + start, first + end);
  }
}

module.exports = { MessageList };
