// Errors as data, and which of them pass by themselves.

import assert from "node:assert/strict";
import test from "node:test";
import {
  createDefaultRetryPolicy,
  errorToErrorInfo,
  httpStatusError,
  isTransientErrorInfo,
} from "../prism.js";

/** What the default policy says of a failure. @param {any} error @param {any} [more] */
const decided = (error, more) =>
  createDefaultRetryPolicy({ jitter: 0 }).decide({ sessionId: "s", runId: "r", attempt: 1, error, ...more });

const CODES = [
  "ETIMEDOUT",
  "ECONNRESET",
  429,
  500,
  502,
  503,
  504,
  "timeout",
  "rate_limit",
  "temporarily_unavailable",
];
test("E34 E35 E36 E37 E38 E39 E40 E41 E42 E43 the closed list is transient, as a code and in a message", () => {
  for (const code of CODES) {
    assert.ok(isTransientErrorInfo({ message: "failed", code }), `code ${code}`);
    assert.ok(isTransientErrorInfo({ message: "failed", code: String(code) }), `code "${code}"`);
    for (const message of [`${code}`, `request failed: ${code}`, `${code}: try again`, `(${code})`]) {
      assert.ok(isTransientErrorInfo({ message }), message);
    }
  }
  for (const message of [
    "HTTP 503",
    "Rate limit exceeded",
    "connect timed out",
    "Request Timeout",
    "rate_limit_error",
  ]) {
    assert.ok(isTransientErrorInfo({ message }), message);
  }
  assert.ok(isTransientErrorInfo(new Error("timeout")), "an Error is one, too");
  assert.ok(isTransientErrorInfo({ message: "Request timeout", code: 408 }), "E41: words beside a code");
  const { code } = Object.assign(new Error("read"), { code: "ECONNRESET" });
  assert.ok(isTransientErrorInfo({ message: "read", code }));
});

test("E44 E109 an abort is never tried again, by its name or code and not by a word", () => {
  for (const abort of [
    { name: "AbortError", message: "timeout" },
    { name: "AbortError", message: "This operation was aborted", code: 503 },
    { message: "timeout", code: "ABORT_ERR" },
    { message: "aborted", code: "aborted" },
    AbortSignal.abort().reason,
  ]) {
    assert.equal(isTransientErrorInfo(abort), false, JSON.stringify(abort));
  }
  assert.equal(
    isTransientErrorInfo({ message: "upstream aborted the stream", code: 503 }),
    true,
    "a word is no abort",
  );
  const busy = { message: "busy", code: 503 };
  assert.deepEqual(decided(busy, { signal: AbortSignal.abort() }), { retry: false });
  assert.equal(decided(busy, { signal: new AbortController().signal }).retry, true);
});

test("E34 E35 a failed fetch says in its cause what failed", () => {
  for (const code of ["ECONNRESET", "ETIMEDOUT"]) {
    const socket = Object.assign(new Error("sk-live-0123"), { code });
    const thrown = new TypeError("fetch failed", { cause: new Error("x", { cause: socket }) });
    assert.equal(isTransientErrorInfo(thrown), true, code);
    const info = errorToErrorInfo(thrown);
    assert.deepEqual(info, { name: "TypeError", message: "fetch failed", code }, "and nothing else of it");
    assert.equal(isTransientErrorInfo(info), true, code);
  }
  const last = new TypeError("fetch failed", {
    cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }),
  });
  assert.equal(isTransientErrorInfo(last), false);
  const own = Object.assign(new Error("x", { cause: { code: 503 } }), { code: 401 });
  assert.equal(isTransientErrorInfo(own), false, "its own code comes before");
  /** @type {any} */
  const circle = new Error("x");
  circle.cause = circle;
  assert.equal(isTransientErrorInfo(circle), false);
  const fired = new Error("timeout", { cause: Object.assign(new Error("x"), { code: "ABORT_ERR" }) });
  assert.equal(isTransientErrorInfo(fired), false, "E44");
});

test("E45 E112 everything else fails closed", () => {
  for (const error of [
    ...[400, 401, 403, 404, 408, 409, 413, 422, 501, 505, 599, 0, -503, 5_030, Number.NaN].map((code) => ({
      message: "x",
      code,
    })),
    ...["", "ECONNREFUSED", "EPIPE", "invalid_request_error", "overloaded_error"].map((code) => ({
      message: "x",
      code,
    })),
    ...["", "unknown tool", "validation failed", "something nobody has seen"].map((message) => ({ message })),
    ...[
      "model not found: gpt-500",
      "400 bad value: 1500 tokens",
      "max_tokens 5020 is too large",
      "id 429-a",
      "v5.503",
    ].map((message) => ({ message })),
    ...[400, 401, 403, 404, 413, 422].map((code) => ({ message: "timeout", code })),
    { message: "400 timeout must be a number" },
  ]) {
    assert.equal(isTransientErrorInfo(error), false, JSON.stringify(error));
    assert.deepEqual(decided(error), { retry: false });
  }
  for (const foreign of [undefined, null, 503, "timeout", true, []])
    assert.equal(isTransientErrorInfo(foreign), false);
});

test("E45 what is known to last is not tried again behind a transient code", () => {
  for (const error of [
    { message: "You exceeded your current quota, please check your plan and billing details", code: 429 },
    { message: "insufficient_quota", code: "rate_limit" },
    { message: "prompt is too long: 212230 tokens > 200000 maximum", code: 500 },
    { message: "429 insufficient_quota" },
  ]) {
    assert.equal(isTransientErrorInfo(error), false, error.message);
  }
});

test("an error that refuses to be read is not transient", () => {
  const refuses = new Proxy({}, { get: () => assert.fail("read") });
  assert.equal(isTransientErrorInfo(refuses), false);
});

test("E49 E116 httpStatusError: the status is the code, Retry-After the wish", () => {
  const of = (/** @type {any} */ headers, status = 503) => httpStatusError({ status, headers });
  const error = of({});
  assert.ok(error instanceof Error);
  assert.deepEqual(
    [error.name, error.message, error.code, "retryAfterMs" in error],
    ["HttpStatusError", "HTTP 503", 503, false],
  );
  assert.equal(of({ "Retry-After": "7" }).retryAfterMs, 7_000);
  assert.equal(of(new Headers({ "retry-after": "0.5" })).retryAfterMs, 500);
  assert.equal(of({ "retry-after-ms": "120", "retry-after": "7" }).retryAfterMs, 120);
  assert.equal(of({ "retry-after": ["3", "4"] }).retryAfterMs, 3_000);
  assert.equal(of({ "llm_provider-retry-after": "2" }).retryAfterMs, 2_000);
  const wait = of({ "retry-after": new Date(Date.now() + 60_000).toUTCString() }).retryAfterMs;
  assert.ok(wait !== undefined && wait > 30_000 && wait <= 60_000, `a date: ${wait}`);
  assert.equal(of({ "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT" }).retryAfterMs, 0, "it has passed");
  for (const none of ["", "soon", "-1", "NaN"])
    assert.equal("retryAfterMs" in of({ "retry-after": none }), false, none);
  for (const headers of [undefined, null]) assert.equal(of(headers).code, 503);
  assert.equal(
    of(new Response(null, { status: 429, headers: { "retry-after": "1" } }).headers, 429).retryAfterMs,
    1_000,
  );
  assert.equal(isTransientErrorInfo(of({}, 429)), true);
  assert.equal(isTransientErrorInfo(of({}, 401)), false);
  assert.deepEqual(decided(of({ "retry-after": "0.25" })), { retry: true, delayMs: 250 });
});

test("errorToErrorInfo keeps what is data", () => {
  const cause = new Error("behind it");
  const thrown = Object.assign(new TypeError("failed", { cause }), {
    code: "ETIMEDOUT",
    retryAfterMs: 5,
    body: "x",
  });
  assert.deepEqual(errorToErrorInfo(thrown), {
    name: "TypeError",
    message: "failed",
    code: "ETIMEDOUT",
    retryAfterMs: 5,
  });
  assert.deepEqual(errorToErrorInfo("text"), { message: "text" });
  assert.deepEqual(errorToErrorInfo(undefined), { message: "undefined" });
  assert.deepEqual(errorToErrorInfo({ code: 503, retryAfterMs: -1 }), { message: "", code: 503 });
  assert.deepEqual(errorToErrorInfo(new Proxy({}, { get: () => assert.fail("read") })), { message: "" });
});
