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
  const copy = { ...message };
  if (Array.isArray(message.content)) copy.content = message.content.slice();
  const dropped = new Set();
  for (const edit of edits) {
    if (edit.place === "drop") dropped.add(edit.block);
    else editPlace(copy, edit, message, names);
  }
  if (dropped.size > 0) copy.content = copy.content.filter((_, block) => !dropped.has(block));
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
      copy[place] = text;
      break;
    case "image":
      copy.content[block] = { type: "text", text };
      break;
    case "condense":
      copy.content = [{ type: "text", text }];
      break;
    case "argument":
      editArgument(copy.content, edit, original.content[block], names);
      break;
    case "arguments":
      copy.content[block] = { ...copy.content[block], arguments: { arguments: text } };
      break;
    default:
      copy.content[block] = { ...copy.content[block], [place]: text };
  }
}

/** Several edits may fall on the arguments of one call: they are copied once. */
function editArgument(content, { block, member, text }, original, names) {
  if (content[block] === original) {
    names.set(block, Object.keys(original.arguments));
    const args = original.arguments;
    content[block] = { ...original, arguments: Array.isArray(args) ? args.slice() : { ...args } };
  }
  // Defined, not assigned: a key may be called `__proto__`.
  Object.defineProperty(content[block].arguments, names.get(block)[member], {
    value: text,
    configurable: true,
    enumerable: true,
    writable: true,
  });
}

module.exports = { applyEdits };
