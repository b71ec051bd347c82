// How long a provider asks to wait, in each way in which it may say so.

import assert from "node:assert/strict";
import {
  asked,
  assertFailed,
  assertPermanent,
  assertTransient,
  inEachFormat,
  ofType,
} from "./support/http.mjs";
import { RETRY } from "./support/model.mjs";

const DAY_MS = 86_400_000;

/** @param {Record<string, string>} headers @param {number} status */
const limited = (headers, status = 429) => ({ status, headers, body: { error: { message: "slow down" } } });

/** A body as Google words it. @param {string} retryDelay */
const retryInfo = (retryDelay) => {
  const details = [
    { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [] },
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay },
  ];
  return { status: 429, body: { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "m", details } } };
};

/** @param {any} outcome */
const delaysOf = ({ events }) => ofType(events, "retry").map(({ delayMs }) => delayMs);

inEachFormat("G10 E49 a delay within the cap is the delay", async (t, api) => {
  for (const [title, step] of /** @type {[string, any][]} */ ([
    ["milliseconds", limited({ "retry-after-ms": "7" })],
    ["fractions of a second", limited({ "retry-after": "0.007" })],
    ["LiteLLM's", limited({ "llm_provider-retry-after": "0.007" })],
    ["any case", limited({ "Retry-After-Ms": "7" })],
    ["of a 503 too", limited({ "retry-after-ms": "7" }, 503)],
    ["Google's, in the body", retryInfo("0.007s")],
  ])) {
    const outcome = await asked(t, { api }, [step, "LATER"]);
    assert.equal(outcome.result?.summary, "LATER", `${title}: ${outcome.error?.message}`);
    assert.deepEqual(delaysOf(outcome), [7], title);
  }
});

inEachFormat("G10 a whole second, and a date", async (t, api) => {
  const [whole, dated] = await Promise.all([
    asked(t, { api }, [limited({ "retry-after": "1" }), "LATER"]),
    asked(t, { api }, [
      () => limited({ "retry-after": new Date(Date.now() + 2_000).toUTCString() }),
      "LATER",
    ]),
  ]);
  assert.deepEqual(delaysOf(whole), [1_000]);
  const [delay] = delaysOf(dated);
  assert.ok(delay > 0 && delay <= 2_000, `${delay}`);
  assert.equal(dated.result.summary, "LATER");
});

inEachFormat("G10 TMDb#324 beyond the cap the run stops at once and says so", async (t, api) => {
  const tomorrow = new Date(Date.now() + DAY_MS);
  for (const [title, step] of /** @type {[string, any][]} */ ([
    ["seconds", limited({ "retry-after": "86400" })],
    ["just above", limited({ "retry-after": "61" })],
    ["milliseconds", limited({ "retry-after-ms": `${DAY_MS}` })],
    ["LiteLLM's", limited({ "llm_provider-retry-after": "86400" })],
    ["a date", limited({ "retry-after": tomorrow.toUTCString() })],
    ["more than fits a number of 64 bits", limited({ "retry-after": "99999999999999999999999" })],
    ["of a 503 too", limited({ "retry-after": "86400" }, 503)],
    ["Google's, in the body", retryInfo("86400s")],
  ])) {
    const outcome = await asked(t, { api }, [step, "NO"]);
    assertFailed(outcome, { requests: 1, retryable: true, message: /wait/i, says: title });
    assert.deepEqual(delaysOf(outcome), [], title);
  }
});

inEachFormat("G10 the cap is maxAgentDelayMs", async (t, api) => {
  const step = limited({ "retry-after-ms": "7" });
  const within = await asked(t, { api }, [step, "LATER"], { retry: { ...RETRY, maxAgentDelayMs: 7 } });
  assert.equal(within.result?.summary, "LATER");
  const beyond = await asked(t, { api }, [step, "NO"], { retry: { ...RETRY, maxAgentDelayMs: 6 } });
  assertFailed(beyond, { requests: 1, retryable: true, message: /wait/i });
});

inEachFormat("a hint that is none leaves the policy's delay", async (t, api) => {
  const past = new Date(Date.now() - DAY_MS).toUTCString();
  for (const value of ["soon", "-5", "NaN", "", "Infinity", "1;2", "Mon, 99 Foo 2026", past]) {
    const outcome = await asked(t, { api }, [limited({ "retry-after": value }), "LATER"]);
    assert.equal(outcome.result?.summary, "LATER", value);
    assert.ok(delaysOf(outcome)[0] <= 1, `${value}: ${delaysOf(outcome)}`);
  }
  for (const delay of ["soon", "-1s", "", "5"]) {
    assert.equal((await asked(t, { api }, [retryInfo(delay), "LATER"])).result?.summary, "LATER", delay);
  }
});

inEachFormat("a hint makes no permanent failure pass, and no policy longer", async (t, api) => {
  const permanent = { ...limited({ "retry-after-ms": "1" }, 400) };
  assertPermanent(await asked(t, { api }, [permanent, "NO"]));
  assertTransient(await asked(t, { api }, [limited({ "retry-after-ms": "1" })]));
});
