import { compactWithRecovery, contextBudget, estimateTokens } from "../../index.js";
import { failed, RETRY, windowed } from "./model.mjs";

/** @typedef {import("./transcripts.mjs").Message} Message */
/** @typedef {ReturnType<typeof import("./model.mjs").client>} Client */

export const NOTICE =
  "[automatic context recovery: older context was omitted after summary generation failed]";
export const PLACEHOLDER = "No previous context checkpoint is available.";
export const PICKED = "[picked from the omitted messages without a model]";

/** What stands behind the carried summary of every fallback. */
export const ENDING = `\n\n${NOTICE}`;

/** A provider's answer that no retry makes better. */
export const DENIED = failed("401 invalid api key");

/** A client whose provider never gives a summary. @param {number} contextWindow @param {number} maxTokens */
export function denied(contextWindow = 200_000, maxTokens = 32_000) {
  return windowed(contextWindow, maxTokens, [DENIED]);
}

/**
 * A recovery by the client's model, its events and how it ended. Never rejects.
 *
 * @param {Client} by
 * @param {object} preparation
 * @param {object} more of the request
 * @returns {Promise<{ outcome: any, error: any, events: any[], calls: Client["calls"], request: any }>}
 */
export async function recover(by, preparation, more = {}) {
  /** @type {any[]} */
  const events = [];
  const request = /** @type {any} */ ({
    preparation,
    reason: "threshold",
    budget: contextBudget(by.summarizer.model),
    summarizer: by.summarizer,
    retry: RETRY,
    onEvent: (/** @type {any} */ event) => events.push(event),
    ...more,
  });
  const [outcome, error] = await compactWithRecovery(request).then(
    (/** @type {any} */ given) => [given, undefined],
    (/** @type {any} */ thrown) => [undefined, thrown],
  );
  return { outcome, error, events, calls: by.calls, request };
}

/** Estimated tokens of messages. @param {Iterable<Message>} messages @param {object} sizing */
export function total(messages, sizing = {}) {
  let sum = 0;
  for (const message of messages) sum += estimateTokens(message, sizing);
  return sum;
}

/** Tokens of a text. @param {string} text @param {number} charsPerToken */
export function textTokens(text, charsPerToken = 4) {
  return Math.ceil(text.length / charsPerToken);
}

/** What the next request's context holds. @param {any} request @param {any} checkpoint */
export function held({ fixedTokens = 0, pendingMessages = [], dialect, charsPerToken }, checkpoint) {
  const sizing = { dialect, charsPerToken };
  const beside = fixedTokens + total(pendingMessages, sizing);
  return beside + textTokens(checkpoint.summary, charsPerToken) + total(checkpoint.retainedTail, sizing);
}

/** The carried summary of a fallback's text. @param {string} summary */
export function carriedOf(summary) {
  const at = summary.indexOf(ENDING);
  return at < 0 ? undefined : summary.slice(0, at);
}

/** The text beside a fallback's notice that no model wrote. @param {string} summary */
export function pickedOf(summary) {
  const opening = `${ENDING}\n\n${PICKED}\n\n`;
  const at = summary.indexOf(opening);
  return at < 0 ? undefined : summary.slice(at + opening.length);
}

/** How often a text stands in another. @param {string} where @param {string} what */
export function count(where, what) {
  return where.split(what).length - 1;
}

/** A checkpoint as a host reads it back after a restart. @param {any} checkpoint */
export function stored(checkpoint) {
  return JSON.parse(JSON.stringify({ type: "compaction", id: "k", throughMessageId: "m", ...checkpoint }));
}
