// Entries of Prism's sessions.

import { createDefaultCompactionStrategy } from "../../prism.js";

/** @typedef {import("../../prism.js").SessionEntry} Entry */

/** @param {string} id @param {string | undefined} parentId @param {object} fields @returns {any} */
export function entry(id, parentId, fields) {
  const parent = parentId === undefined ? {} : { parentId };
  return { id, ...parent, sessionId: "s", timestamp: "2026-01-01T00:00:00.000Z", ...fields };
}

/** @param {string} role @param {string} text */
export const said = (role, text) => ({
  kind: "message",
  message: { role, content: [{ type: "text", text }] },
});

/** @param {string} name */
export const called = (name, args = {}) => ({
  kind: "message",
  message: { role: "assistant", content: [{ type: "tool_call", id: `call-${name}`, name, arguments: args }] },
});

/** @param {string} name @param {unknown} result */
export const resulted = (name, result, more = {}) => ({
  kind: "message",
  message: {
    role: "tool",
    content: [{ type: "tool_result", toolCallId: `call-${name}`, name, result, ...more }],
  },
});

/** A branch `e0`, `e1`, … of what the entries hold. @param {readonly object[]} all @param {string} [prefix] */
export function branch(all, prefix = "e") {
  return all.map((fields, at) =>
    entry(`${prefix}${at}`, at === 0 ? undefined : `${prefix}${at - 1}`, fields),
  );
}

/** A branch of words, by turns of a person and a model. @param {number} length */
export function talk(length, text = (/** @type {number} */ at) => `text ${at}`) {
  const speaker = (/** @type {number} */ at) => (at % 2 === 0 ? "user" : "assistant");
  return branch(Array.from({ length }, (_, at) => said(speaker(at), text(at))));
}

/** One kind of entry after the other, with words of its own. @param {import("./random.mjs").Random} random @param {number} at */
export function anyFields(random, at) {
  const kinds = [
    () => said("user", `question ${at}`),
    () => said("assistant", `answer ${at}`),
    () => called(`tool-${at}`, { key: `argument ${at}` }),
    () => resulted(`tool-${at}`, `result ${at}`),
    () => ({ kind: "summary", summary: `branch summary ${at}` }),
    () => ({ kind: "label", label: `label ${at}` }),
    () => ({ kind: "model_change", model: { provider: "p", model: `m${at}` } }),
    () => ({ kind: "metadata", metadata: { note: `hidden ${at}` } }),
    () => ({ kind: "custom", data: { note: `hidden ${at}` } }),
  ];
  return random.pick(kinds)();
}

/** A compaction of entries by the default strategy. @param {any[]} entries @param {any} [options] @param {any} [more] */
export async function compacted(entries, options, more) {
  const strategy = createDefaultCompactionStrategy(options);
  const { summary, entries: made } = await strategy.compact({ sessionId: "s", entries, ...more });
  return { summary, made, data: made[0].data, lines: summary.split("\n") };
}
