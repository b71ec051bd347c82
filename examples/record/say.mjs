// The words in which the acts are written.

/**
 * @typedef {{ name: string, arguments: Record<string, unknown>, fails?: boolean }} Call
 * @typedef {"cut" | "hangs" | "stopped"} End how an answer ends that does not end well: its connection breaks,
 *   it never ends and the person interrupts it, or the person interrupts the tools that it called
 * @typedef {{ kind: "answer", text: string | ((output: string) => string), thinking?: string, calls: Call[],
 *   end?: End }} Answer a text that is a function is given the last tool result
 * @typedef {{ kind: "user", text: string } | { kind: "shell", command: string }} Person
 * @typedef {Person | Answer} Line
 */

/** What the person types. @param {string} text @returns {Person} */
export const user = (text) => ({ kind: "user", text });

/** A command that the person runs in the session. @param {string} command @returns {Person} */
export const shell = (command) => ({ kind: "shell", command });

/** An answer that goes on with tools. @param {Answer["text"]} text @param {...Call} calls @returns {Answer} */
export const step = (text, ...calls) => ({ kind: "answer", text, calls });

/** An answer that ends the turn. @param {Answer["text"]} text @returns {Answer} */
export const say = (text) => step(text);

/** @param {string} thinking @param {Answer} answer @returns {Answer} */
export const think = (thinking, answer) => ({ ...answer, thinking });

/** @param {End} end @param {Answer} answer @returns {Answer} */
export const ending = (end, answer) => ({ ...answer, end });

/** A call whose result is an error; any other error stops the recording. @param {Call} call @returns {Call} */
export const fails = (call) => ({ ...call, fails: true });

/** @param {string} path @param {{ offset?: number, limit?: number }} [range] @returns {Call} */
export const read = (path, range = {}) => ({ name: "read", arguments: { path, ...range } });

/** @param {string} path @param {string} content @returns {Call} */
export const write = (path, content) => ({ name: "write", arguments: { path, content } });

/** @param {string} path @param {...[oldText: string, newText: string]} changes @returns {Call} */
export const edit = (path, ...changes) => ({
  name: "edit",
  arguments: { path, edits: changes.map(([oldText, newText]) => ({ oldText, newText })) },
});

/** @param {string} command @param {{ timeout?: number }} [limit] @returns {Call} */
export const bash = (command, limit = {}) => ({ name: "bash", arguments: { command, ...limit } });

/** @param {string} pattern @param {Record<string, unknown>} [options] @returns {Call} */
export const grep = (pattern, options = {}) => ({ name: "grep", arguments: { pattern, ...options } });

/** @param {string} pattern @param {string} path @returns {Call} */
export const find = (pattern, path) => ({ name: "find", arguments: { pattern, path } });

/** @param {string} path @returns {Call} */
export const ls = (path) => ({ name: "ls", arguments: { path } });
