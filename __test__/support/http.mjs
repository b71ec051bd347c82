// Runs of the summarizer of kind `http` against a scripted provider.

import assert from "node:assert/strict";
import test, { describe } from "node:test";
import { inspect } from "node:util";
import { prepared, run } from "./model.mjs";
import { serve, soon } from "./provider.mjs";
import { frozen } from "./random.mjs";
import { answer, userOfTokens } from "./sound.mjs";
import { APIS } from "./wire.mjs";

// Whoever runs the tests behind a proxy: the loopback is not reached through it.
for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"]) {
  delete process.env[name];
  delete process.env[name.toLowerCase()];
}

export const SHORT = frozen(prepared([{ role: "user", content: "Port the tokenizer." }, answer("Done.")]));
/** Too much for one request of a window of 32,768. */
export const LONG = frozen(prepared(Array.from({ length: 60 }, () => userOfTokens(1_000))));
export const SMALL = frozen({ contextWindow: 32_768, maxTokens: 8_192 });

/** Each wire format, streamed and in one piece. */
export const FORMS = APIS.flatMap((api) => [
  { api, stream: true, title: api },
  { api, stream: false, title: `${api} in one piece` },
]);

/**
 * One test for each form. They wait more than they work, so they run side by side.
 *
 * @param {string} title @param {(t: any, form: (typeof FORMS)[number]) => Promise<void>} body
 */
export function inEachForm(title, body) {
  describe(title, { concurrency: true }, () => {
    for (const form of FORMS) test(form.title, (t) => body(t, form));
  });
}

/** One test for each wire format. @param {string} title @param {(t: any, api: import("./wire.mjs").Api) => Promise<void>} body */
export function inEachFormat(title, body) {
  describe(title, { concurrency: true }, () => {
    for (const api of APIS) test(api, (t) => body(t, api));
  });
}

/**
 * One compaction by a provider that plays the steps. Never rejects, and fails where it hangs.
 *
 * @param {any} t
 * @param {{ api: import("./wire.mjs").Api, stream?: boolean }} form
 * @param {import("./provider.mjs").Step[]} steps
 * @param {{ model?: object, summarizer?: object, preparation?: object, [field: string]: any }} more
 */
export async function asked(t, { api, stream = true }, steps, more = {}) {
  const { model, summarizer = {}, preparation = SHORT, ...request } = more;
  const provider = await serve(t, { api, steps, model, summarizer: { stream, ...summarizer } });
  const outcome = await soon(run(/** @type {any} */ (provider), preparation, request), "the outcome");
  assert.deepEqual(provider.faults, []);
  return { ...outcome, provider, requests: provider.requests };
}

/** @param {any[]} events @param {string} wanted */
export const ofType = (events, wanted) => events.filter(({ type }) => type === wanted);

/**
 * An error of the kind that is wanted, after so many requests.
 *
 * @param {Awaited<ReturnType<typeof asked>>} outcome
 * @param {{ code?: string, requests?: number, retryable?: boolean, status?: number, message?: RegExp, says?: string }} wanted
 *   `says` titles the assertions
 */
export function assertFailed({ error, result, requests }, wanted) {
  const { code = "summary_provider", requests: count, retryable, message, says = code } = wanted;
  assert.equal(result, undefined, `${says}: no summary`);
  assert.equal(error?.name, "CompactionError", `${says}: ${error?.stack}`);
  assert.equal(error.code, code, `${says}: ${error.message}`);
  if (count !== undefined) assert.equal(requests.length, count, `${says}: requests`);
  if (retryable !== undefined) assert.equal(error.retryable, retryable, `${says}: retryable`);
  if ("status" in wanted) assert.equal(error.status, wanted.status, `${says}: status`);
  if (message) assert.match(error.message, message, says);
  assert.equal(error.cause, undefined, `${says}: no provider's text is kept`);
}

/** A failure that passes: asked four times. @param {any} outcome @param {object} wanted */
export const assertTransient = (outcome, wanted = {}) =>
  assertFailed(outcome, { requests: 4, retryable: true, ...wanted });

/** A failure that does not: asked once. @param {any} outcome @param {object} wanted */
export const assertPermanent = (outcome, wanted = {}) =>
  assertFailed(outcome, { requests: 1, retryable: false, ...wanted });

/** Everything in which an outcome could tell what it must not. @param {any} outcome */
export function shownBy({ error, events, result }) {
  const bare = error && Object.assign(Object.create(Object.getPrototypeOf(error)), error);
  const inspected = error ? inspect(error, { depth: 9, showHidden: true }) : "";
  return [
    error?.message,
    error?.stack,
    JSON.stringify(error),
    String(error),
    inspected,
    inspect(bare, { depth: 9, showHidden: true }),
    JSON.stringify(events),
    inspect(events, { depth: 9 }),
    JSON.stringify(result?.details),
  ].join("\n");
}

/** @param {any} outcome @param {string[]} words that must be nowhere @param {string} title */
export function assertSealed(outcome, words, title) {
  const shown = shownBy(outcome);
  for (const word of words) assert.ok(!shown.includes(word), `${title}: ${word} is shown in\n${shown}`);
}
