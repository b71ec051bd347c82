import { client, conversationOf, previousOf, run, says } from "./model.mjs";

/** @typedef {import("./model.mjs").Call & { answer?: any }} Call */
/** @typedef {import("./transcripts.mjs").Message} Message */

/** Units of a token in refine unless a setting says otherwise (D25). */
export const CHARS = 3;

/** Words of our own in place of each template, so that a request says which one it is. */
export const WORDS = Object.freeze({
  system: "SYSTEM-WORDS",
  initial: "INITIAL-WORDS",
  update: "UPDATE-WORDS",
  turnPrefix: "PREFIX-WORDS",
  compress: "COMPRESS-WORDS",
});

/**
 * A client that answers by rule and remembers its answers. An `Error` is thrown, a text is a summary.
 *
 * @param {(call: any) => any} rule @param {object} limits of its model
 */
export function modelOf(rule, limits = {}) {
  return client(
    [
      async (/** @type {any} */ call) => {
        const given = await rule(call);
        if (given instanceof Error) throw given;
        call.answer = typeof given === "string" ? says(given) : given;
        return call.answer;
      },
    ],
    limits,
  );
}

/** Answers that name their request: `S0 `, `S1 ` and so on, each of so many units. @param {number} units */
export function numbered(units = 0) {
  return (/** @type {any} */ { index }) => `S${index} `.padEnd(units, "s").trim();
}

/**
 * A refine run, its events and its outcome. Never rejects.
 *
 * @param {ReturnType<typeof client>} by @param {object} preparation @param {object} more of the request
 */
export function refined(by, preparation, more = {}) {
  return run(by, preparation, { strategy: "refine", retry: { baseDelayMs: 1 }, ...more });
}

/** Whether a request asks for a shorter running summary and holds no record. @param {Call} call */
export function isCompression({ prompt }) {
  return !prompt.includes("<conversation>\n");
}

/** Whether an answer is a summary. @param {Call} call */
export function succeeded({ answer }) {
  return answer?.stopReason === "stop" && answer.content.some((/** @type {any} */ part) => part.text?.trim());
}

/** The requests that hold a part of the record and were answered, in order. @param {readonly Call[]} calls */
export function chunkCalls(calls) {
  return calls.filter((call) => !isCompression(call) && succeeded(call));
}

/** The whole record as it was sent: what its requests hold, one after the other. @param {readonly Call[]} calls */
export function recordOf(calls) {
  return chunkCalls(calls)
    .map(({ prompt }) => conversationOf(prompt))
    .join("\n\n");
}

/** What marks a message. @param {number} index */
export const mark = (index) => `⟦${index}⟧`;

/** The marks in a text, in order. @param {string} text */
export function marksOf(text) {
  return [...text.matchAll(/⟦(\d+)⟧/g)].map(([, index]) => Number(index));
}

const LABEL = "[User]: ".length;

/** A turn of one message that prints as so many units. @param {number} index @param {number} units @returns {Message} */
export function turn(index, units) {
  return { role: "user", content: `${mark(index)} `.padEnd(units - LABEL, "x") };
}

/** Turns of one message each. @param {number} count @param {number} units of each @param {number} first mark */
export function turns(count, units, first = 0) {
  return Array.from({ length: count }, (_, index) => turn(first + index, units));
}

/** 0, 1, 2 and so on. @param {number} count */
export function upTo(count) {
  return Array.from({ length: count }, (_, index) => index);
}

/**
 * The requests whose answers the checkpoint was made of, from the first to the last: each carries the answer of the
 * one before. Answers are `S` and the index of their request, and then what they like.
 *
 * @param {readonly Call[]} calls @param {string} summary the checkpoint
 */
export function lineage(calls, summary) {
  const chain = [];
  let at = Number(/(?:^|\n)S(\d+)\b/.exec(summary)?.[1] ?? -1);
  while (calls[at] !== undefined) {
    chain.unshift(calls[at]);
    const before = Number(/^S(\d+)\b/.exec(previousOf(calls[at].prompt) ?? "")?.[1] ?? -1);
    at = before < at ? before : -1;
  }
  return chain;
}

/** The types of the events, one after the other. @param {readonly any[]} events @param {string} type */
export function eventsOf(events, type) {
  return events.filter((event) => event.type === type);
}
