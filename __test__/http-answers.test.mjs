// Which answers are summaries, in each wire format.

import assert from "node:assert/strict";
import test from "node:test";
import {
  asked,
  assertFailed,
  assertTransient,
  inEachForm,
  inEachFormat,
  LONG,
  ofType,
  SMALL,
} from "./support/http.mjs";
import { errorEvent, errorOf, sse } from "./support/wire.mjs";
import { eventsOf, plainOf } from "./support/wire-answers.mjs";

const WORDS = '## Goal\nPört the tokenizer 😀 \u2028\u0085 "all" of it.\n\n- `a\\b`\tdone';

inEachForm("the text of an answer is the summary, unit for unit", async (t, form) => {
  for (const text of [WORDS, "x", "a".repeat(300_000), "data: [DONE]\n\nevent: error", "\u0000\u0001 {}"]) {
    const { result, requests, error } = await asked(t, form, [{ text }]);
    assert.equal(error, undefined);
    assert.equal(result.summary, text);
    assert.equal(requests.length, 1);
    assert.equal(requests[0].stream, form.stream);
  }
});

inEachForm("an answer in very many pieces is one text", async (t, form) => {
  const pieces = Array.from({ length: 20_000 }, (_, index) => `${index} `);
  const { result } = await asked(t, form, [{ pieces }]);
  assert.equal(result.summary, pieces.join("").trimEnd());
});

inEachForm("a lone surrogate that a provider escapes does no harm", async (t, form) => {
  const body = JSON.stringify(plainOf(form.api, { text: "HALF here" })).replaceAll("HALF", "\\ud83d");
  const events = sse(eventsOf(form.api, { pieces: ["HALF here"] })).replaceAll("HALF", "\\ud83d");
  const { result, error } = await asked(t, form, [{ body: form.stream ? events : body }, "SECOND"]);
  assert.equal(error, undefined);
  assert.match(result.summary, /^\ufffd+ here$/);
});

inEachForm("first_token is told once for each answer, and never for a failure", async (t, form) => {
  const { events } = await asked(t, form, [{ status: 503, body: {} }, "S"]);
  const types = events.map(({ type }) => type);
  assert.deepEqual(types.slice(0, 5), ["plan", "request", "retry", "request", "first_token"]);
  const [{ index, attempt }] = ofType(events, "first_token");
  assert.deepEqual({ index, attempt }, { index: events[3].index, attempt: 2 });
});

inEachForm("stavrobot#28 thinking is no part of the summary", async (t, form) => {
  const { result } = await asked(t, form, [{ thinking: "Let me see", text: "ONE TWO" }]);
  assert.equal(result.summary, "ONE TWO");
});

/** @type {[title: string, answer: object, code: string][]} */
const BAD = [
  ["pi#7048 length, text ends mid-word", { ending: "length" }, "summary_incomplete"],
  [
    "pi#9075 thinking used up the output",
    { ending: "length", text: "", thinking: "hm" },
    "summary_incomplete",
  ],
  ["length without any text", { ending: "length", text: "" }, "summary_incomplete"],
  ["no text", { text: "" }, "summary_empty"],
  ["blank text", { text: " \n\t\u00a0\u3000" }, "summary_empty"],
  ["stavrobot#28 thinking only", { text: "", thinking: "hm" }, "summary_empty"],
  ["senpi#1067 a tool call and no text", { ending: "tool", text: "" }, "summary_refused"],
  ["a tool call beside text", { ending: "tool" }, "summary_refused"],
  ["a content filter", { ending: "filter" }, "summary_refused"],
  ["a content filter without text", { ending: "filter", text: "" }, "summary_refused"],
  ["a refusal", { ending: "refusal", text: "" }, "summary_refused"],
];

for (const [title, answer, code] of BAD) {
  inEachForm(`G17 ${title}: ${code}, never a summary, not asked again`, async (t, form) => {
    const outcome = await asked(t, form, [answer, "A GOOD ONE"]);
    assertFailed(outcome, { code, requests: 1, says: title });
    assert.equal(outcome.error.attempts, 1);
  });
}

inEachForm("a bad answer in the middle ends the chain", async (t, form) => {
  for (const [title, answer, code] of BAD.filter((_, index) => index % 3 === 0)) {
    const outcome = await asked(t, form, ["S1", answer, "S3"], { preparation: LONG, model: SMALL });
    assertFailed(outcome, { code, requests: 2, says: title });
  }
});

/** Words of each format that all mean the answer was withheld. @type {Record<string, string[]>} */
const REFUSING = {
  "openai-completions": ["content_filter"],
  "openai-responses": ["content_filter"],
  "anthropic-messages": ["refusal"],
  "google-generative-ai": ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"],
};
/** Words that nobody knows, or that say an answer is not over. @type {Record<string, string[]>} */
const UNKNOWN = {
  "openai-completions": ["banana"],
  "openai-responses": ["banana"],
  "anthropic-messages": ["banana", "model_context_window_exceeded", "pause_turn"],
  "google-generative-ai": ["BANANA", "OTHER", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"],
};

inEachForm("G17 openclaw#64960 each word for a withheld answer is summary_refused", async (t, form) => {
  for (const ending of REFUSING[form.api]) {
    assertFailed(await asked(t, form, [{ ending }, "NO"]), {
      code: "summary_refused",
      requests: 1,
      says: ending,
    });
  }
});

inEachForm("an ending that no summary has never makes one", async (t, form) => {
  for (const ending of UNKNOWN[form.api]) {
    const { result, error } = await asked(t, form, [{ ending }], { retry: { enabled: false } });
    assert.equal(result, undefined, ending);
    assert.equal(error?.name, "CompactionError", ending);
    assert.notEqual(error.code, "internal", ending);
  }
});

test("words that pi too takes for a normal end are one", async (t) => {
  for (const [api, ending] of /** @type {const} */ ([
    ["anthropic-messages", "stop_sequence"],
    ["openai-completions", "end"],
  ])) {
    for (const stream of [true, false]) {
      const { result } = await asked(t, { api, stream }, [{ ending }]);
      assert.equal(result?.summary, "SUMMARY", ending);
    }
  }
});

test("a prompt that Google blocked is summary_refused", async (t) => {
  const body = {
    promptFeedback: { blockReason: "SAFETY" },
    usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
  };
  for (const stream of [true, false]) {
    const step = { body: stream ? sse([{ data: body }]) : body };
    const outcome = await asked(t, { api: "google-generative-ai", stream }, [step, "NO"]);
    assertFailed(outcome, { code: "summary_refused", requests: 1 });
  }
});

inEachForm("NeoGraph#124 pi#6647 an answer without its end is transient, and no summary", async (t, form) => {
  assertTransient(await asked(t, form, [{ ending: "none" }]));
  const { result, requests } = await asked(t, form, [{ ending: "none", text: "PART" }, "WHOLE"]);
  assert.equal(result?.summary, "WHOLE");
  assert.equal(requests.length, 2);
});

inEachFormat(
  "a plain answer to a streaming request is read, and a stream in answer to a plain one",
  async (t, api) => {
    for (const stream of [true, false]) {
      const as = stream ? "plain" : "stream";
      const { result, error, requests } = await asked(t, { api, stream }, [{ as, text: WORDS }]);
      assert.equal(error, undefined);
      assert.equal(result.summary, WORDS);
      assert.equal(requests.length, 1);
      assertFailed(await asked(t, { api, stream }, [{ as, ending: "length" }]), {
        code: "summary_incomplete",
      });
      assertFailed(await asked(t, { api, stream }, [{ as, text: "" }]), { code: "summary_empty" });
    }
  },
);

inEachForm(
  "a type that a server states with parameters, or states wrongly, is no failure",
  async (t, form) => {
    const right = form.stream ? "text/event-stream; charset=utf-8" : "application/json; charset=utf-8";
    for (const type of ["text/plain", "application/octet-stream", right]) {
      const { result } = await asked(t, form, [{ text: WORDS, headers: { "content-type": type } }]);
      assert.equal(result?.summary, WORDS, type);
    }
  },
);

inEachForm(
  "langchain#38867 an error in a 200 answer is an error, whatever text came before it",
  async (t, form) => {
    const failure = { status: 500, code: "server_error", type: "server_error", message: "ERROR-WORDS" };
    const before = eventsOf(form.api, { ending: "none", text: "PART" });
    const body = form.stream ? sse([...before, errorEvent(form.api, failure)]) : errorOf(form.api, failure);
    const outcome = await asked(t, form, [{ body, as: form.stream ? "stream" : "plain" }]);
    assertTransient(outcome, { says: "transient" });
    const recovered = await asked(t, form, [{ body }, "WHOLE"]);
    assert.equal(recovered.result?.summary, "WHOLE");
  },
);

inEachFormat("NeoGraph#124 an error object wins over the end that follows it", async (t, api) => {
  const failure = { code: "invalid_request_error", type: "invalid_request_error", message: "ERROR-WORDS" };
  const events = eventsOf(api);
  for (const at of [0, 2, events.length - 1]) {
    const mixed = [...events.slice(0, at), errorEvent(api, failure), ...events.slice(at)];
    const outcome = await asked(t, { api }, [{ body: sse(mixed) }, "NO"]);
    assertFailed(outcome, { requests: 1, retryable: false, says: `at ${at}` });
  }
});

inEachForm("an answer whose length is that of its connection, as of HTTP/1.0", async (t, form) => {
  const type = form.stream ? "text/event-stream" : "application/json";
  const body = form.stream
    ? sse(eventsOf(form.api, { text: WORDS }))
    : JSON.stringify(plainOf(form.api, { text: WORDS }));
  for (const head of ["HTTP/1.0 200 OK", "HTTP/1.1 200 OK\r\nconnection: close"]) {
    const raw = `${head}\r\ncontent-type: ${type}\r\n\r\n${body}`;
    const { result, error } = await asked(t, form, [{ raw, end: "half-close" }]);
    assert.equal(error, undefined, error?.message);
    assert.equal(result.summary, WORDS);
  }
});

inEachForm("what a server says before its answer is passed over", async (t, form) => {
  const type = form.stream ? "text/event-stream" : "application/json";
  const body = form.stream ? sse(eventsOf(form.api)) : JSON.stringify(plainOf(form.api));
  const early = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n";
  const raw = `${early}HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const { result, error } = await asked(t, form, [{ raw, end: "half-close" }]);
  assert.equal(error, undefined, error?.message);
  assert.equal(result.summary, "SUMMARY");
});

test("an error as OpenRouter puts it into a stream: numbers as codes, an ending beside it", async (t) => {
  const form = { api: /** @type {const} */ ("openai-completions") };
  const broken = (/** @type {any} */ code) => {
    const choices = [{ index: 0, delta: { content: "" }, finish_reason: "error" }];
    const events = eventsOf(form.api, { ending: "none", text: "PART" });
    return {
      body: sse([...events, { data: { id: "c", error: { code, message: "m" }, choices } }]),
      as: /** @type {const} */ ("stream"),
    };
  };
  for (const code of [429, 500, 502, 503, "server_error"]) {
    assertTransient(await asked(t, form, [broken(code)]), { says: `${code}` });
  }
  for (const code of [400, 401, 402, 403, "insufficient_quota"]) {
    assertFailed(await asked(t, form, [broken(code), "NO"]), {
      requests: 1,
      retryable: false,
      says: `${code}`,
    });
  }
});
