// One representative of each class of failure: how often it is asked, with which code, and what it says.

import assert from "node:assert/strict";
import test from "node:test";
import {
  asked,
  assertFailed,
  assertPermanent,
  assertTransient,
  inEachForm,
  inEachFormat,
  ofType,
} from "./support/http.mjs";
import { RETRY } from "./support/model.mjs";
import { errorEvent, errorOf, sse } from "./support/wire.mjs";
import { eventsOf } from "./support/wire-answers.mjs";

const HTML = { "content-type": "text/html" };
const EVENTS = { "content-type": "text/event-stream" };

/** A failure in the format's own words. @param {any} api @param {number} status @param {string} code @param {string} [message] */
const fails = (api, status, code, message) => ({
  status,
  body: errorOf(api, { status, code, type: code, message }),
});

inEachForm("A28 401 and 403 are permanent at once", async (t, form) => {
  for (const status of [401, 403]) {
    const step = fails(form.api, status, "authentication_error");
    assertPermanent(await asked(t, form, [step, "NO"]), { status, says: "with a key" });
    const without = await asked(t, form, [step, "NO"], { summarizer: { apiKey: undefined } });
    assertPermanent(without, { status, message: /apiKey/, says: "without a key" });
  }
});

inEachForm("A29 400, 404 and 422 are permanent", async (t, form) => {
  for (const status of [400, 404, 422]) {
    assertPermanent(await asked(t, form, [fails(form.api, status, "invalid_request_error"), "NO"]), {
      status,
    });
    assertPermanent(await asked(t, form, [{ status, body: "" }, "NO"]), { status, says: "no body" });
  }
});

inEachForm("A20 A21 A22 claude-code#3503 408, 409, 425, 429, 5xx and 529 pass", async (t, form) => {
  for (const status of [408, 409, 425, 429, 500, 502, 503, 504, 520, 529]) {
    const outcome = await asked(t, form, [{ status, body: "" }]);
    assertTransient(outcome, { status, says: `${status}` });
    assert.equal(outcome.error.attempts, 4);
    const recovered = await asked(t, form, [fails(form.api, status, "overloaded_error"), "LATER"]);
    assert.equal(recovered.result?.summary, "LATER", `${status}`);
    const [retry] = ofType(recovered.events, "retry");
    assert.deepEqual(retry, { type: "retry", index: 1, attempt: 1, delayMs: 1, code: "summary_provider" });
  }
});

inEachForm("A26 senpi#1969 a used-up quota is permanent, in a body and in an event", async (t, form) => {
  for (const code of ["insufficient_quota", "usage_limit_reached"]) {
    const outcome = await asked(t, form, [fails(form.api, 429, code), "NO"]);
    assertPermanent(outcome, { status: 429, says: code });
    assert.equal(outcome.error.providerCode, code);
    const event = errorEvent(form.api, { status: 429, code, type: code });
    const streamed = { body: sse([...eventsOf(form.api, { ending: "none" }), event]), headers: EVENTS };
    assertPermanent(await asked(t, form, [streamed, "NO"]), { says: `${code} in an event` });
  }
});

inEachForm("coder PR#26200 an ordinary 429 that is worded with quota passes", async (t, form) => {
  const code = form.api === "google-generative-ai" ? "RESOURCE_EXHAUSTED" : "rate_limit_exceeded";
  const words =
    "Quota exceeded for quota metric 'Generate requests' and limit 'per minute'. Check your plan.";
  const outcome = await asked(t, form, [fails(form.api, 429, code, words)]);
  assertTransient(outcome, { status: 429 });
  assert.equal(outcome.error.providerCode, code);
});

inEachForm("claude-code#3503 an overload inside a 200 stream passes", async (t, form) => {
  const event = errorEvent(form.api, { status: 529, code: "overloaded_error", type: "overloaded_error" });
  for (const before of [[], eventsOf(form.api, { ending: "none", text: "PART" })]) {
    const step = { body: sse([...before, event]), headers: EVENTS };
    const outcome = await asked(t, form, [step]);
    assertTransient(outcome);
    assert.equal(outcome.error.providerCode, "overloaded_error");
    assert.equal((await asked(t, form, [step, "LATER"])).result?.summary, "LATER");
  }
});

test("a response that failed inside its stream is classified by its own code", async (t) => {
  const failedWith = (/** @type {string} */ code) => {
    const response = { id: "r", status: "failed", output: [], error: { code, message: "WORDS" } };
    return {
      body: sse([{ event: "response.failed", data: { type: "response.failed", response } }]),
      headers: EVENTS,
    };
  };
  const form = { api: /** @type {const} */ ("openai-responses") };
  const passing = await asked(t, form, [failedWith("server_error")]);
  assertTransient(passing);
  assert.equal(passing.error.providerCode, "server_error");
  assertTransient(await asked(t, form, [failedWith("rate_limit_exceeded")]));
  assertPermanent(await asked(t, form, [failedWith("insufficient_quota"), "NO"]));
  assertPermanent(await asked(t, form, [failedWith("invalid_prompt"), "NO"]));
});

inEachForm("openclaw#64960 a content filter's 400 is permanent", async (t, form) => {
  const outcome = await asked(t, form, [fails(form.api, 400, "content_filter"), "NO"]);
  assert.equal(outcome.requests.length, 1);
  assert.equal(outcome.error?.retryable ?? false, false);
});

inEachForm("HTTP 200 with a page of HTML is permanent, and says baseUrl", async (t, form) => {
  for (const headers of [HTML, { "content-type": "application/json" }]) {
    const body = "<!DOCTYPE html>\n<html><head><title>PAGE-WORDS</title></head></html>";
    const outcome = await asked(t, form, [{ body, headers }, "NO"]);
    assertPermanent(outcome, { message: /baseUrl/, says: headers["content-type"] });
    assert.doesNotMatch(outcome.error.message, /PAGE-WORDS/);
  }
});

inEachForm("HTTP 200 with nothing is transient", async (t, form) => {
  for (const step of [
    { body: "" },
    { body: "", headers: EVENTS },
    { body: "\n\n" },
    { body: ": ping\n\n", headers: EVENTS },
  ]) {
    assertTransient(await asked(t, form, [step]), { says: JSON.stringify(step) });
  }
});

inEachForm("A25 pi#6647 a connection that is reset or closed passes, at each moment", async (t, form) => {
  for (const end of /** @type {const} */ (["reset", "half-close", "destroy"])) {
    for (const step of [
      { raw: "", end },
      { raw: "HTTP/1.1 200 OK\r\ncontent-", end },
      { at: 0, end },
      { at: 60, end },
    ]) {
      const { result, error } = await asked(t, form, [step, "WHOLE"]);
      assert.equal(error, undefined, `${JSON.stringify(step)} ${error?.message}`);
      assert.equal(result.summary, "WHOLE");
    }
    assertTransient(await asked(t, form, [{ at: 60, end }]), { says: end });
  }
});

inEachForm("a body that is shorter than it states is transient", async (t, form) => {
  const step = {
    text: "PART",
    headers: { "content-length": "100000" },
    at: 80,
    end: /** @type {const} */ ("half-close"),
  };
  assertTransient(await asked(t, form, [step]));
});

inEachForm("what is no HTTP at all is a provider's failure", async (t, form) => {
  for (const raw of ["SSH-2.0-OpenSSH_9.6\r\n", "\u0000\u0001\u0002", "HTTP/9.9 banana\r\n\r\n"]) {
    const outcome = await asked(t, form, [{ raw, end: /** @type {const} */ ("half-close") }]);
    assertFailed(outcome, { says: JSON.stringify(raw) });
    assert.ok(outcome.requests.length <= 4);
  }
});

/** A port that nobody listens on, and that no server is ever given. */
const CLOSED_PORT = 1;

inEachFormat("A25 a refused connection passes, and says baseUrl", async (t, api) => {
  const model = { baseUrl: `http://127.0.0.1:${CLOSED_PORT}` };
  const outcome = await asked(t, { api }, ["NO"], { model });
  assertFailed(outcome, { requests: 0, retryable: true, message: /baseUrl/ });
  assert.equal(outcome.error.attempts, 4);
  assert.equal(outcome.error.status, undefined);
  assert.equal(ofType(outcome.events, "retry").length, 3);
});

/** Bodies of an error that are not what a format promises. @type {[string, any][]} */
const ODD_BODIES = [
  ["a page of HTML", "<html><body>502 Bad Gateway</body></html>"],
  ["cut JSON", '{"error":{"mess'],
  ["a JSON string", '"overloaded"'],
  ["null", "null"],
  ["a list", "[]"],
  ["a list of one error, as Google streams it", '[{"error":{"message":"m"}}]'],
  ["an error that is a string", '{"error":"overloaded"}'],
  ["an error that is null", '{"error":null}'],
  ["detail", '{"detail":"nothing here"}'],
  ["not UTF-8", Buffer.from([0xff, 0xfe, 0x00, 0xc3])],
  ["deeply nested", "[".repeat(100_000)],
  ["three megabytes", `{"error":{"message":"${"x".repeat(3_000_000)}"}}`],
];

inEachFormat("a status decides whatever the body is", async (t, api) => {
  for (const [title, body] of ODD_BODIES) {
    for (const [status, requests] of [
      [503, 4],
      [400, 1],
    ]) {
      const outcome = await asked(t, { api }, [{ status, body, headers: HTML }], {
        retry: { ...RETRY, baseDelayMs: 0 },
      });
      assertFailed(outcome, { status, requests, retryable: requests === 4, says: `${status} ${title}` });
    }
  }
});

inEachForm("an error in a 200 that is no stream is classified by its code", async (t, form) => {
  const body = (/** @type {string} */ code) => ({
    body: errorOf(form.api, { status: 400, code, type: code }),
  });
  assertPermanent(await asked(t, form, [body("insufficient_quota"), "NO"]));
  assertPermanent(await asked(t, form, [body("invalid_request_error"), "NO"]));
  assertTransient(await asked(t, form, [body("overloaded_error")]));
});

inEachForm("JSON that is no answer in a 200 is no summary and no fault", async (t, form) => {
  for (const body of [
    "{}",
    "[]",
    "null",
    "7",
    '{"choices":[]}',
    '{"output":null}',
    '{"content":{}}',
    '{"candidates":[null]}',
  ]) {
    const outcome = await asked(t, form, [{ body, headers: { "content-type": "application/json" } }]);
    assertFailed(outcome, { code: outcome.error?.code, says: body });
    assert.match(outcome.error.code, /^summary_/, body);
  }
});

/** @type {[string, number, string][]} */
const KNOWN_FAULTS = [
  ["1500 tokens are no 500", 400, "max_tokens: 1500 tokens is more than the model writes"],
  ["5020 is no 502", 400, "max_tokens 5020 is too large"],
  [
    "a maximum that is exceeded by the answer is no overflow",
    400,
    "max_tokens: 250000 > 128000, which is the maximum",
  ],
  ["gpt-500 is a model", 404, "model not found: gpt-500"],
  ["a parameter that is named", 400, "Unsupported parameter: reasoning_effort"],
];

inEachFormat("G9 numbers in words are no status", async (t, api) => {
  for (const [title, status, words] of KNOWN_FAULTS) {
    assertPermanent(await asked(t, { api }, [fails(api, status, "invalid_request_error", words), "NO"]), {
      status,
      says: title,
    });
  }
});

inEachFormat("G9 isRetryable has the last word, with what is known of the failure", async (t, api) => {
  /** @type {any[]} */
  const seen = [];
  const isRetryable = (/** @type {any} */ error) => {
    seen.push({ ...error, code: error.code, name: error.name });
    return seen.length < 2;
  };
  const outcome = await asked(t, { api }, [fails(api, 400, "odd_code")], { isRetryable });
  assertFailed(outcome, { requests: 2, status: 400 });
  assert.deepEqual(
    seen.map(({ name, code, status, providerCode }) => [name, code, status, providerCode]),
    Array.from({ length: 2 }, () => ["CompactionError", "summary_provider", 400, "odd_code"]),
  );
  const never = await asked(t, { api }, [{ status: 503, body: "" }], { isRetryable: () => false });
  assertFailed(never, { requests: 1, status: 503 });
  const own = await asked(t, { api }, [{ status: 503, body: "" }], { isRetryable: () => undefined });
  assertTransient(own);
});

inEachFormat("A16 A33 no policy asks more often than it says", async (t, api) => {
  for (const [retry, requests] of /** @type {[object, number][]} */ ([
    [{ enabled: false }, 1],
    [{ maxRetries: 0 }, 1],
    [{ maxRetries: 1, baseDelayMs: 1 }, 2],
    [{ maxRetries: 6, baseDelayMs: 0 }, 7],
  ])) {
    assertFailed(await asked(t, { api }, [{ status: 503, body: "" }], { retry }), {
      requests,
      retryable: true,
    });
  }
  const bounded = await asked(t, { api }, [{ status: 503, body: "" }], { maxRequests: 2 });
  assert.equal(bounded.requests.length, 2);
  assert.equal(bounded.error.code, "summary_budget");
});

inEachForm("A61 a retry sends the same bytes", async (t, form) => {
  const { requests } = await asked(t, form, [{ status: 503, body: "" }, { at: 30, end: "reset" }, "S"]);
  assert.equal(requests.length, 3);
  for (const { body, url } of requests) {
    assert.ok(body.equals(requests[0].body));
    assert.equal(url, requests[0].url);
  }
});
