// Neither key nor headers, neither prompt nor a provider's words get into anything that a run shows.

import assert from "node:assert/strict";
import test from "node:test";
import { asked, assertSealed, inEachForm, inEachFormat, SHORT, shownBy } from "./support/http.mjs";
import { prepared, RETRY } from "./support/model.mjs";
import { KEY } from "./support/provider.mjs";
import { errorEvent, errorOf, sse } from "./support/wire.mjs";
import { eventsOf } from "./support/wire-answers.mjs";

const HEADER = "header-secret-77";
const PROMPT = "TRANSCRIPT-WORDS";
const WORDS = "PROVIDER-WORDS";
const CUSTOM = "CUSTOM-WORDS";
const SEALED = [KEY, HEADER, PROMPT, WORDS, CUSTOM, "internal.example.com"];
const EVENTS = { "content-type": "text/event-stream" };

const MORE = {
  preparation: prepared([{ role: "user", content: `${PROMPT} and more` }]),
  customInstructions: CUSTOM,
  summarizer: { headers: { "x-secret": HEADER } },
  model: { headers: { "x-model-secret": `model-${HEADER}` } },
  retry: { ...RETRY, maxRetries: 1 },
};

/** What a provider may say when it quotes what it was sent. */
const message = `bad key ${KEY} ${HEADER} for ${PROMPT} ${CUSTOM} at https://internal.example.com ${WORDS}`;

/** Failures that quote. @param {any} form @returns {[string, any][]} */
function quoting({ api, stream }) {
  const failure = (/** @type {number} */ status, /** @type {string} */ code) => ({
    status,
    body: errorOf(api, { status, code, type: code, message }),
  });
  const event = errorEvent(api, { status: 500, code: "server_error", type: "server_error", message });
  return [
    ...[400, 401, 403, 404, 407, 413, 422, 429, 500, 503, 529].map(
      (status) => /** @type {[string, any]} */ ([`${status}`, failure(status, "some_error")]),
    ),
    ["an overflow", failure(400, "context_length_exceeded")],
    ["a page", { status: 502, body: `<html>${message}</html>`, headers: { "content-type": "text/html" } }],
    ["a page with 200", { body: `<html>${message}</html>`, headers: { "content-type": "text/html" } }],
    ["an error with 200", { body: errorOf(api, { code: "server_error", type: "server_error", message }) }],
    ["garbage", { body: `data: {"a": ${message}\n\n`, headers: EVENTS }],
    [
      "an error in a stream",
      { body: sse([...eventsOf(api, { ending: "none", text: WORDS }), event]), headers: EVENTS },
    ],
    ["a header", { status: 503, body: "", headers: { "x-echo": message, "retry-after": KEY } }],
    ["a redirect", { status: 302, body: "", headers: { location: `http://internal.example.com/${KEY}` } }],
    ["text that is cut", { ending: "length", text: `${WORDS} ${KEY}` }],
    ["a refusal", { ending: "refusal", text: "" }],
    ["an odd ending", { ending: WORDS, text: WORDS }],
    ["a tool call", { ending: "tool", text: WORDS }],
    [
      "a broken connection",
      stream ? { text: WORDS, at: 140, end: "reset" } : { text: WORDS, at: 30, end: "reset" },
    ],
    ["no HTTP", { raw: `${message}\r\n\r\n`, end: "half-close" }],
    ["a status line", { raw: `HTTP/1.1 500 ${KEY} ${WORDS}\r\ncontent-length: 0\r\n\r\n` }],
  ];
}

inEachForm("B38 A28 hermes PR#12734 whatever fails, nothing secret is shown", async (t, form) => {
  for (const [title, step] of quoting(form)) {
    const outcome = await asked(t, form, [step], MORE);
    assert.ok(outcome.error, title);
    assert.equal(outcome.error.name, "CompactionError", title);
    assertSealed(outcome, SEALED, title);
  }
});

inEachForm("a run that succeeds shows nothing secret either", async (t, form) => {
  const outcome = await asked(t, form, [{ status: 503, body: message }, { text: "SUMMARY" }], MORE);
  assert.equal(outcome.result?.summary, "SUMMARY");
  assertSealed(outcome, SEALED, "success");
});

inEachForm("isRetryable is shown nothing secret", async (t, form) => {
  /** @type {any[]} */
  const seen = [];
  const isRetryable = (/** @type {any} */ error) => void seen.push(error);
  await asked(t, form, [{ status: 500, body: errorOf(form.api, { code: KEY, type: KEY, message }) }], {
    ...MORE,
    isRetryable,
  });
  assert.equal(seen.length, 2);
  for (const error of seen) assertSealed({ error, events: [], result: undefined }, SEALED, "isRetryable");
});

/** Codes that are shown, and such as are not. @type {[string, string | undefined][]} */
const CODES = [
  ["rate_limit_exceeded", "rate_limit_exceeded"],
  ["RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED"],
  ["a".repeat(64), "a".repeat(64)],
  ["a".repeat(65), undefined],
  ["has spaces in it", undefined],
  [`bad_key:${KEY}`, undefined],
  [KEY, undefined],
  [HEADER, undefined],
  ["<b>html</b>", undefined],
  ["naïve", undefined],
  ["line\nbreak", undefined],
  ["", undefined],
];

inEachFormat("providerCode is an identifier of the provider's, never what it was sent", async (t, api) => {
  for (const [code, shown] of CODES) {
    const body = errorOf(api, { status: 500, code, type: code, message });
    const { error } = await asked(t, { api }, [{ status: 500, body }], MORE);
    assert.equal(error.providerCode, shown, JSON.stringify(code));
    assert.ok(!JSON.stringify(error).includes(code) || code === "", "not in toJSON");
    assert.ok(!error.message.includes(code) || code === "", "not in the message");
  }
});

inEachFormat("a key that its owner also put into headers is nowhere", async (t, api) => {
  const summarizer = { apiKey: undefined, headers: { authorization: `Bearer ${HEADER}` } };
  const body = errorOf(api, { status: 401, code: HEADER, type: HEADER, message });
  assertSealed(await asked(t, { api }, [{ status: 401, body }], { ...MORE, summarizer }), SEALED, "headers");
});

inEachForm("E126 secrets are masked in what is sent, and in what comes back", async (t, form) => {
  const secret = 'pässword-"quoted"\\7';
  const preparation = prepared([{ role: "user", content: `key ${secret} end` }]);
  const step = { text: `the key is ${secret}.` };
  const { requests, result } = await asked(t, form, [step], { preparation, secrets: [secret] });
  const sent = requests[0].body.toString("utf8");
  assert.ok(!sent.includes(secret) && !sent.includes(JSON.stringify(secret).slice(1, -1)));
  assert.ok(!sent.includes("pässword"));
  assert.doesNotMatch(result.summary, /pässword/);
});

test("a key in the environment is not picked up by itself", async (t) => {
  const names = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"];
  for (const name of names) process.env[name] = HEADER;
  t.after(() => names.forEach((name) => void delete process.env[name]));
  for (const api of /** @type {const} */ ([
    "openai-completions",
    "anthropic-messages",
    "google-generative-ai",
  ])) {
    const { requests } = await asked(t, { api }, ["S"], {
      summarizer: { apiKey: undefined },
      preparation: SHORT,
    });
    assert.ok(!JSON.stringify(requests[0].headers).includes(HEADER));
  }
});

inEachFormat("an error is inspected without its innards", async (t, api) => {
  const { error } = await asked(t, { api }, [{ status: 401, body: errorOf(api, { message }) }], MORE);
  const known = ["code", "status", "retryable", "attempts", "providerCode"];
  for (const name of Object.getOwnPropertyNames(error)) {
    assert.ok([...known, "stack", "message"].includes(name), name);
  }
  assert.deepEqual(Object.getOwnPropertySymbols(error), []);
  assert.ok(shownBy({ error, events: [], result: undefined }).length > 0);
});
