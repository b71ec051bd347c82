// Where these are not found: npm run install:oracle.
import * as current from "../oracle/node_modules/pi-0.87/dist/index.js";
import * as laterCuts from "../oracle/node_modules/pi-1.6/dist/core/compaction/compaction.js";
import * as laterText from "../oracle/node_modules/pi-1.6/dist/core/compaction/utils.js";
import * as laterMessages from "../oracle/node_modules/pi-1.6/dist/core/messages.js";

/** @typedef {import("./transcripts.mjs").Message} Message */
/** @typedef {"pi-0.87" | "pi-1.6"} Dialect */
/** @typedef {{ firstKeptEntryIndex: number, turnStartIndex: number, isSplitTurn: boolean }} PiCut */

/**
 * What the tests ask pi; pi's own types do not describe the malformed messages that are put to it.
 *
 * @typedef {{
 *   convertToLlm(messages: readonly Message[]): Message[],
 *   serializeConversation(messages: readonly Message[]): string,
 *   estimateTokens(message: Message): number,
 *   estimateContextTokens(messages: readonly Message[]): Record<string, number | null>,
 *   findCutPoint(entries: readonly object[], start: number, end: number, keep: number): PiCut,
 *   findTurnStartIndex(entries: readonly object[], at: number, start: number): number,
 * }} Pi
 */

/** @type {readonly Dialect[]} */
export const DIALECTS = ["pi-0.87", "pi-1.6"];

/** Both generations of pi, by the dialect that equals them. @type {Record<Dialect, Pi>} */
export const ORACLES = /** @type {any} */ ({
  "pi-0.87": current,
  "pi-1.6": { ...laterMessages, ...laterText, ...laterCuts },
});

/** pi's own preparation of a compaction (0.87.1). @type {any} */
export const prepareCompaction = current.prepareCompaction;

/** Messages as the entries of a session. @param {readonly Message[]} messages */
export function entriesOf(messages) {
  return messages.map((message, index) => ({ type: "message", id: `e${index}`, message }));
}
