"use strict";

// Applies the edits of a native plan to shallow copies. It decides nothing.

/**
 * @typedef {object} Edit
 * @property {number} message
 * @property {string} place
 * @property {number} block
 * @property {number} member
 * @property {string} text
 */

/**
 * The messages with their edits; those without an edit are the same objects.
 *
 * @param {readonly any[]} messages
 * @param {readonly Edit[]} edits
 * @returns {any[]}
 */
function applyEdits(messages, edits) {
  const edited = messages.slice();
  const byMessage = new Map();
  for (const edit of edits) {
    const known = byMessage.get(edit.message);
    if (known) known.push(edit);
    else byMessage.set(edit.message, [edit]);
  }
  for (const [index, changes] of byMessage) edited[index] = editedMessage(messages[index], changes);
  return edited;
}

/** @param {any} message @param {Edit[]} edits */
function editedMessage(message, edits) {
  /** Names of the arguments of each call that is edited. @type {Map<number, string[]>} */
  const names = new Map();
  const copy = copyOf(message);
  if (Array.isArray(message.content)) set(copy, "content", message.content.slice());
  const dropped = new Set();
  for (const edit of edits) {
    if (edit.place === "drop") dropped.add(edit.block);
    else editPlace(copy, edit, message, names);
  }
  if (dropped.size > 0)
    set(
      copy,
      "content",
      copy.content.filter((_, block) => !dropped.has(block)),
    );
  return copy;
}

/** @param {any} copy @param {Edit} edit @param {any} original @param {Map<number, string[]>} names */
function editPlace(copy, edit, original, names) {
  const { place, block, text } = edit;
  switch (place) {
    case "content":
    case "command":
    case "output":
    case "summary":
      set(copy, place, text);
      break;
    case "image":
      copy.content[block] = { type: "text", text };
      break;
    case "condense":
      set(copy, "content", [{ type: "text", text }]);
      break;
    case "argument":
      editArgument(copy.content, edit, original.content[block], names);
      break;
    case "arguments":
      set(copy.content, block, copyOf(copy.content[block]));
      set(copy.content[block], "arguments", { arguments: text });
      break;
    default:
      set(copy.content, block, copyOf(copy.content[block]));
      set(copy.content[block], place, text);
  }
}

/** Several edits may fall on the arguments of one call: they are copied once. */
function editArgument(content, { block, member, text }, original, names) {
  if (content[block] === original) {
    names.set(block, Object.keys(original.arguments));
    const args = original.arguments;
    content[block] = copyOf(original);
    set(content[block], "arguments", Array.isArray(args) ? args.slice() : { ...args });
  }
  set(content[block].arguments, names.get(block)[member], text);
}

/** A shallow copy that keeps what an object inherits. @param {any} object */
function copyOf(object) {
  const prototype = Object.getPrototypeOf(object);
  return prototype === Object.prototype ? { ...object } : Object.assign(Object.create(prototype), object);
}

/** Defines and does not assign: a key may be called `__proto__`, a member be an accessor of its class. */
function set(/** @type {object} */ object, /** @type {PropertyKey} */ key, /** @type {unknown} */ value) {
  Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true });
}

module.exports = { applyEdits };
