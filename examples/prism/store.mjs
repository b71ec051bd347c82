// A session store in memory, and entries as its sessions write them.

import { randomUUID } from "node:crypto";

/** @param {any[]} [initial] */
export function createMemoryStore(initial = []) {
  const entries = [...initial];
  return {
    /** @param {any} entry */
    async append(entry) {
      if (entries.some(({ id }) => id === entry.id)) throw new Error(`entry ${entry.id} is there already`);
      entries.push(structuredClone(entry));
    },
    /** @param {string} sessionId */
    async list(sessionId) {
      return structuredClone(entries.filter((entry) => entry.sessionId === sessionId));
    },
  };
}

/** @param {string} sessionId @param {string | undefined} parentId @param {any} fields */
export function newEntry(sessionId, parentId, fields) {
  const parent = parentId === undefined ? {} : { parentId };
  return { id: randomUUID(), ...parent, sessionId, timestamp: new Date().toISOString(), ...fields };
}

/** The content of a message as blocks; it may be one text. @param {any} message @returns {any[]} */
export const blocksOf = ({ content }) =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;
