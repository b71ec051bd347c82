// What hostile or careless servers, headers and signals can do to a run: nothing that they should not.

import assert from "node:assert/strict";
import test from "node:test";
import { generateCompaction } from "../index.js";
import {
  asked,
  assertFailed,
  assertPermanent,
  assertTransient,
  LONG,
  ofType,
  SHORT,
} from "./support/http.mjs";
import { RETRY } from "./support/model.mjs";
import { KEY, serve } from "./support/provider.mjs";

const OPENAI = /** @type {const} */ ({ api: "openai-completions" });
const chunk = (/** @type {object} */ choice, /** @type {object} */ more = {}) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }], ...more })}\n\n`;
const TEXT = chunk({ delta: { content: "half" } });
const STOP = chunk({ delta: {}, finish_reason: "stop" });
const DONE = "data: [DONE]\n\n";
const error = (/** @type {object} */ fields) => ({ error: { message: "It failed.", ...fields } });

test("headers of the caller do not change what an error is", async (t) => {
  for (const headers of [{}, { "X-Title": "pi" }, { "x-feature": "context quota" }]) {
    const passing = await asked(t, OPENAI, [{ status: 400, body: error({ code: "rate_limit_error" }) }], {
      summarizer: { headers },
    });
    assertTransient(passing, { says: JSON.stringify(headers) });
    assert.equal(passing.error.providerCode, "rate_limit_error");
    const overflow = { status: 400, body: error({ code: "context_length_exceeded" }) };
    const larger = await asked(t, OPENAI, [overflow, "SUMMARY"], {
      summarizer: { headers },
      preparation: LONG,
    });
    assert.equal(ofType(larger.events, "replan").length, 1, JSON.stringify(headers));
  }
});

test("a piece of a credential is no code of the provider", async (t) => {
  const cookie = "session=abc123SECRET; theme=dark";
  for (const code of [KEY.slice(0, 16), KEY.slice(3), KEY, "abc123SECRET"]) {
    const outcome = await asked(t, OPENAI, [{ status: 400, body: error({ code }) }], {
      summarizer: { headers: { cookie } },
    });
    assertPermanent(outcome);
    assert.equal(outcome.error.providerCode, undefined, code);
  }
});

test("a body has one content type and one length, whatever the caller's headers say", async (t) => {
  const headers = { "Content-Type": "application/json", "Content-Length": "5", "Accept-Encoding": "gzip" };
  const { result, requests } = await asked(t, OPENAI, ["SUMMARY"], { summarizer: { headers } });
  assert.equal(result?.summary, "SUMMARY");
  const [{ rawHeaders, body, headers: sent }] = requests;
  assert.equal(rawHeaders.filter((name) => name.toLowerCase() === "content-type").length, 1);
  assert.equal(sent["content-length"], `${body.length}`);
  assert.equal(sent["accept-encoding"], undefined);
});

test("what an error quotes of the request decides nothing", async (t) => {
  for (const words of ["ECONNRESET", "rate_limit_exceeded", "insufficient_quota"]) {
    const message = `[{'msg': 'Extra inputs are not permitted', 'input': '${words}'}]`;
    const body = { object: "error", message, type: "BadRequestError", code: 400 };
    assertPermanent(await asked(t, OPENAI, [{ status: 400, body }]), { says: words });
    const detail = [{ type: "missing", msg: "Field required", input: `${words} ${"y ".repeat(60_000)}` }];
    assertPermanent(await asked(t, OPENAI, [{ status: 422, body: { detail } }]), { says: words });
  }
  const word = { status: 404, body: error({ message: "The model is currently unavailable." }) };
  assertPermanent(await asked(t, OPENAI, [word]), { says: "an English word is no code" });
});

test("an answer that was cut, filtered or called a tool stays so, whatever comes behind", async (t) => {
  for (const [reason, code] of [
    ["length", "summary_incomplete"],
    ["content_filter", "summary_refused"],
    ["tool_calls", "summary_refused"],
  ]) {
    const body = TEXT + chunk({ delta: {}, finish_reason: reason }) + STOP + DONE;
    assertFailed(await asked(t, OPENAI, [{ body, as: "stream" }]), { code });
  }
});

test("events behind the end of an answer do not hold it", async (t) => {
  const pings = chunk({ delta: {} }).repeat(400);
  const step = {
    body: TEXT + STOP + pings,
    as: /** @type {const} */ ("stream"),
    split: 60,
    pauseMs: 20,
    end: "silent",
  };
  const { result } = await asked(t, OPENAI, [/** @type {any} */ (step)]);
  assert.equal(result?.summary, "half");
});

test("a stream that is not announced ends with its last event", async (t) => {
  const step = { body: TEXT + STOP + DONE, headers: { "content-type": "text/plain" }, end: "silent" };
  const { result, events } = await asked(t, OPENAI, [/** @type {any} */ (step)]);
  assert.equal(result?.summary, "half");
  assert.equal(ofType(events, "first_token").length, 1);
});

test("a gateway's empty error is none", async (t) => {
  for (const nothing of [null, "", {}, false]) {
    const body = chunk({ delta: { content: "S" }, finish_reason: "stop" }, { error: nothing }) + DONE;
    const { result } = await asked(t, OPENAI, [{ body, as: "stream" }]);
    assert.equal(result?.summary, "S", JSON.stringify(nothing));
  }
});

test("numbers of an overflow that cannot be are worth no less than none", async (t) => {
  for (const limit of [400_000, 1e15, 1, 0]) {
    const message = `prompt is too long: 60366 tokens > ${limit} maximum`;
    const { result, events } = await asked(
      t,
      OPENAI,
      [{ status: 400, body: error({ message }) }, "SUMMARY"],
      {
        preparation: LONG,
      },
    );
    assert.equal(result?.summary, "SUMMARY", `${limit}`);
    assert.equal(ofType(events, "replan").length, 1);
  }
});

test("a backoff of nothing stays nothing, however often", async (t) => {
  const last = 1_100;
  const step = (/** @type {any} */ { index }) => (index < last ? { status: 503, body: "" } : "SUMMARY");
  const { result, requests } = await asked(t, OPENAI, [step], {
    retry: { enabled: true, maxRetries: 2_000, baseDelayMs: 0 },
    maxRequests: 2_000,
  });
  assert.equal(result?.summary, "SUMMARY");
  assert.equal(requests.length, last + 1);
});

test("an answer in one piece that is larger than any summary is fetched once", async (t) => {
  const content = "x".repeat(33 << 20);
  const body = { choices: [{ message: { content }, finish_reason: "stop" }] };
  assertPermanent(await asked(t, { ...OPENAI, stream: false }, [{ body, as: "plain" }]), {
    message: /larger/,
  });
});

test("a signal whose methods throw settles the promise and sends nothing more", async (t) => {
  const { summarizer, requests } = await serve(t, { ...OPENAI });
  const model = { contextWindow: 200_000, maxTokens: 8_192 };
  const budget = { hardLimit: 180_000, requestHeadroom: 16_384 };
  const boom = () => {
    throw new Error("boom");
  };
  const ask = (/** @type {any} */ signal) =>
    generateCompaction({
      preparation: SHORT,
      budget,
      summarizer: { ...summarizer, model: { ...summarizer.model, ...model } },
      retry: RETRY,
      signal,
    });
  // What was paid for is not lost for a listener that stays.
  assert.ok((await ask({ aborted: false, addEventListener() {}, removeEventListener: boom })).summary);
  const before = requests.length;
  await assert.rejects(ask({ aborted: false, addEventListener: boom, removeEventListener() {} }));
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(requests.length, before);
});

test("rates that are no list are a wrong argument", async (t) => {
  const cost = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, tiers: {} };
  const { error: thrown } = await asked(t, OPENAI, [], { model: { cost } });
  assert.equal(thrown.code, "invalid_argument");
  assert.match(thrown.message, /tiers/);
});
