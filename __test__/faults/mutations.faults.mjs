// Answers that are damaged by chance: a value of another type, a byte that is lost, doubled or changed. Whatever comes
// of it is a summary or a typed error, soon; never a fault of the addon. The seed in a title names the case.

import assert from "node:assert/strict";
import test, { describe } from "node:test";
import { asked, FORMS } from "../support/http.mjs";
import { random } from "../support/random.mjs";
import { errorEvent, errorOf, sse } from "../support/wire.mjs";
import { eventsOf, plainOf } from "../support/wire-answers.mjs";

/** @typedef {import("../support/random.mjs").Random} Random */

const CASES = 150;
const RETRY = { enabled: true, maxRetries: 1, baseDelayMs: 0 };
const COST = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
const ENDINGS = ["stop", "length", "tool", "filter", "refusal", "none"];
const ODD = [
  null,
  true,
  0,
  -1,
  1e308,
  2 ** 53,
  "",
  "x",
  "\ud83d",
  [],
  [null],
  {},
  { type: 5 },
  [[[]]],
  "stop",
];
const NAMES = ["type", "delta", "choices", "usage", "error", "content", "candidates", "response", "0"];

/** A JSON value with one of its parts replaced, removed or added to. @param {Random} rng @param {any} value @returns {any} */
function damaged(rng, value) {
  if (value === null || typeof value !== "object" || rng.chance(0.15)) return rng.pick(ODD);
  const copy = Array.isArray(value) ? [...value] : { ...value };
  const keys = Object.keys(copy);
  if (keys.length === 0 || rng.chance(0.1)) return { ...copy, [rng.pick(NAMES)]: rng.pick(ODD) };
  const key = rng.pick(keys);
  if (rng.chance(0.15)) delete (/** @type {any} */ (copy)[key]);
  /** @type {any} */ else copy[key] = damaged(rng, /** @type {any} */ (copy)[key]);
  return copy;
}

/** @param {Random} rng @param {Buffer} body */
function scratched(rng, body) {
  const bytes = [...body];
  for (let times = rng.between(1, 4); times > 0 && bytes.length > 0; times--) {
    const at = rng.between(0, bytes.length - 1);
    const kind = rng.between(0, 2);
    if (kind === 0) bytes.splice(at, rng.between(1, 30));
    else if (kind === 1) bytes.splice(at, 0, ...bytes.slice(at, at + rng.between(1, 200)));
    else bytes[at] = rng.between(0, 255);
  }
  return Buffer.from(bytes);
}

/** @param {Random} rng @param {(typeof FORMS)[number]} form */
function answerOf(rng, { api, stream }) {
  const answer = { text: "SUM 😀 MARY", thinking: rng.chance(0.3) ? "hm" : "", ending: rng.pick(ENDINGS) };
  const failure = { status: 429, code: "rate_limit_exceeded", type: "rate_limit_error", message: "m" };
  const isError = rng.chance(0.2);
  if (!stream) {
    const value = isError ? errorOf(api, failure) : plainOf(api, answer);
    return JSON.stringify(rng.chance(0.7) ? damaged(rng, value) : value);
  }
  const events = [...eventsOf(api, answer), ...(isError ? [errorEvent(api, failure)] : [])];
  const at = rng.between(0, events.length - 1);
  if (rng.chance(0.7)) events[at] = { ...events[at], data: damaged(rng, events[at].data) };
  if (rng.chance(0.2)) events.splice(rng.between(0, events.length), 0, rng.pick(events));
  if (rng.chance(0.1)) events.splice(rng.between(0, events.length - 1), 1);
  return sse(events);
}

for (const form of FORMS) {
  describe(`damaged answers: ${form.title}`, { concurrency: 8 }, () => {
    for (let seed = 0; seed < CASES; seed++) {
      test(`seed ${seed}`, async (t) => {
        const rng = random(seed);
        const whole = Buffer.from(answerOf(rng, form));
        const body = rng.chance(0.4) ? scratched(rng, whole) : whole;
        const split = rng.chance(0.3) ? rng.between(1, 40) : undefined;
        const status = rng.chance(0.1) ? rng.pick([201, 206, 400, 413, 429, 500]) : 200;
        const as = form.stream ? /** @type {const} */ ("stream") : /** @type {const} */ ("plain");
        const more = { retry: RETRY, model: { cost: COST }, summarizer: { idleTimeoutMs: 5_000 } };
        const outcome = await asked(t, form, [{ status, body, split, as }], more);
        assertSound(outcome, body.toString("utf8"));
      });
    }
  });
}

/** @param {any} outcome @param {string} body */
function assertSound({ result, error, requests }, body) {
  assert.ok(requests.length <= 2, body);
  if (error) {
    assert.equal(error.name, "CompactionError", body);
    assert.match(
      error.code,
      /^(summary_(provider|incomplete|empty|refused)|context_overflow)$/,
      `${error.message}\n${body}`,
    );
    return;
  }
  assert.ok(result.summary.trim().length > 0, body);
  assert.ok(Buffer.from(result.summary).toString("utf8") === result.summary, "well-formed");
  const { cost, ...tokens } = result.usage ?? { cost: {} };
  for (const number of Object.values({ ...tokens, ...cost })) {
    assert.ok(Number.isFinite(number) && number >= 0, `${JSON.stringify(result.usage)}\n${body}`);
  }
}
