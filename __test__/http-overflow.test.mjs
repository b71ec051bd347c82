// A provider whose window is smaller than stated: it is learned, what is left is planned again, twice at most.

import assert from "node:assert/strict";
import { asked, assertFailed, inEachForm, inEachFormat, ofType, SHORT } from "./support/http.mjs";
import { conversationOf, prepared, previousOf, RETRY } from "./support/model.mjs";
import { bare } from "./support/provider.mjs";
import { frozen } from "./support/random.mjs";
import { errorEvent, errorOf, sse } from "./support/wire.mjs";

const COUNT = 60;
const MARKS = Array.from({ length: COUNT }, (_, index) => `mark-${index}-`);
/** About 60,000 tokens, each message with a mark of its own. */
const MARKED = frozen(
  prepared(MARKS.map((mark) => ({ role: "user", content: `${mark}${"x ".repeat(1_990)}` }))),
);
const STATED = { contextWindow: 200_000, maxTokens: 8_192 };
const REAL = 24_000;

/** @param {any} request */
const tokensOf = ({ system, prompt }) => Math.ceil((system.length + prompt.length) / 4);

/** @param {any} api @param {string} message @param {number} status */
const refuses = (api, message, status = 400) => ({
  status,
  body: errorOf(api, { status, code: "invalid_request_error", type: "invalid_request_error", message }),
});

/** Refuses what its window does not hold, in these words. @param {(tokens: number) => any} step */
const windowed = (step) => (/** @type {any} */ request) => {
  const tokens = tokensOf(request);
  return tokens > REAL ? step(tokens) : `S${request.index}`;
};

/** The requests that were refused, in order, each smaller than the one before. @param {any[]} requests @param {number} window */
function assertShrinking(requests, window) {
  const refused = requests.filter((request) => tokensOf(request) > window).map(({ prompt }) => prompt.length);
  for (const [index, size] of refused.entries()) {
    if (index > 0) assert.ok(size < refused[index - 1], `${refused}`);
  }
  assert.ok(refused.length <= 3);
}

/** Each mark stands in exactly one prompt that was answered. @param {any[]} answered */
function assertCovered(answered) {
  const text = answered.map(({ prompt }) => conversationOf(prompt)).join("\n");
  for (const mark of MARKS) assert.equal(text.split(mark).length, 2, mark);
}

/** Words with the provider's own numbers. @type {((tokens: number) => string)[]} */
const WORDINGS = [
  (tokens) => `prompt is too long: ${tokens} tokens > ${REAL} maximum`,
  (tokens) =>
    `This model's maximum context length is ${REAL} tokens. However, your messages resulted in ${tokens} tokens.`,
  (tokens) => `Input length (${tokens}) exceeds model's maximum context length (${REAL}).`,
  (tokens) => `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${REAL})`,
  (tokens) => `This model's maximum prompt length is ${REAL} but the request contains ${tokens} tokens`,
  (tokens) => `Prompt contains ${tokens} tokens, too large for model with ${REAL} maximum context length`,
  (tokens) => `Your request exceeded model token limit: ${REAL} (requested: ${tokens})`,
  (tokens) =>
    `Prompt has ${tokens.toLocaleString("en")} tokens, but the configured context size is ${REAL.toLocaleString("en")} tokens`,
];

inEachFormat("claude-code#14274 the provider's own number is the window from then on", async (t, api) => {
  for (const words of WORDINGS) {
    const step = windowed((tokens) => refuses(api, words(tokens)));
    const outcome = await asked(t, { api }, [step], { preparation: MARKED, model: STATED });
    const { requests, result, error, events } = outcome;
    assert.equal(error, undefined, `${words(1)}: ${error?.message}`);
    const [replan, ...more] = ofType(events, "replan");
    assert.equal(more.length, 0, `${words(1)}: the number is enough`);
    assert.ok(replan.promptLimit <= REAL, `${replan.promptLimit}`);
    assert.equal(replan.shape, "chunks");
    assert.equal(replan.requests, requests.length - 1);
    assert.equal(requests.filter((request) => tokensOf(request) > REAL).length, 1);
    assertCovered(requests.slice(1));
    assert.equal(result.details.requests, requests.length);
    assert.equal(result.details.shape, "chunks");
  }
});

inEachForm("codex#11440 413 without a number: smaller each time, twice at most", async (t, form) => {
  const html = {
    status: 413,
    headers: { "content-type": "text/html" },
    body: "<html>413 Request Entity Too Large</html>",
  };
  for (const refusal of [html, { status: 413, body: "" }, { status: 413, body: "请求体过大" }]) {
    const outcome = await asked(t, form, [windowed(() => refusal)], {
      preparation: MARKED,
      model: STATED,
    });
    const { requests, events, error } = outcome;
    assertShrinking(requests, REAL);
    assert.ok(ofType(events, "replan").length <= 2);
    if (error) assertFailed(outcome, { code: "context_overflow" });
    else assertCovered(requests.filter((request) => tokensOf(request) <= REAL));
  }
});

inEachForm(
  "omp PR#8920 a provider that always refuses is asked three times, never the same",
  async (t, form) => {
    for (const refusal of [
      { status: 413, body: "" },
      refuses(form.api, "prompt is too long: 99999 tokens > 20000 maximum"),
    ]) {
      const outcome = await asked(t, form, [refusal], { preparation: MARKED, model: STATED });
      assert.ok(outcome.requests.length >= 1 && outcome.requests.length <= 3, `${outcome.requests.length}`);
      assertFailed(outcome, { code: "context_overflow", retryable: false, status: refusal.status });
      const sizes = outcome.requests.map(({ prompt }) => prompt.length);
      for (const [index, size] of sizes.entries())
        assert.ok(index === 0 || size < sizes[index - 1], `${sizes}`);
      const replans = ofType(outcome.events, "replan").map(({ promptLimit }) => promptLimit);
      assert.ok(replans.length <= 2 && replans.length >= outcome.requests.length - 1, `${replans}`);
      if (replans.length > 1) assert.ok(replans[1] < replans[0]);
      assert.equal(ofType(outcome.events, "retry").length, 0);
    }
  },
);

inEachForm("an overflow inside a 200 stream is one too", async (t, form) => {
  const failure = (/** @type {number} */ tokens) => ({
    status: 400,
    code: "context_length_exceeded",
    type: "invalid_request_error",
    message: `prompt is too long: ${tokens} tokens > ${REAL} maximum`,
  });
  const step = windowed((tokens) => ({
    body: sse([errorEvent(form.api, failure(tokens))]),
    headers: { "content-type": "text/event-stream" },
  }));
  const { error, requests, events } = await asked(t, form, [step], { preparation: MARKED, model: STATED });
  assert.equal(error, undefined, error?.message);
  assert.equal(ofType(events, "replan").length, 1);
  assertCovered(requests.slice(1));
});

inEachFormat("the structured code is enough without any word", async (t, api) => {
  const body = errorOf(api, {
    status: 400,
    code: "context_length_exceeded",
    type: "context_length_exceeded",
    message: "",
  });
  const outcome = await asked(t, { api }, [{ status: 400, body }]);
  assertFailed(outcome, { code: "context_overflow", status: 400 });
  assert.equal(outcome.error.providerCode, "context_length_exceeded");
});

inEachFormat("what is small already is context_overflow after one request", async (t, api) => {
  const step = refuses(api, "prompt is too long: 9000 tokens > 100 maximum");
  const outcome = await asked(t, { api }, [step, "NO"], { preparation: SHORT });
  assertFailed(outcome, { code: "context_overflow", requests: 1 });
});

inEachFormat("openclaw#92043 chunks that are done stay done when a later one overflows", async (t, api) => {
  const model = { contextWindow: 32_768, maxTokens: 4_096 };
  const answered = /** @type {any[]} */ ([]);
  const step = (/** @type {any} */ request) => {
    if (request.index === 2) return refuses(api, "prompt is too long: 22000 tokens > 20000 maximum");
    answered.push(request);
    return `S${answered.length}`;
  };
  const { requests, result, error, events } = await asked(t, { api }, [step], { preparation: MARKED, model });
  assert.equal(error, undefined, error?.message);
  assert.equal(ofType(events, "replan").length, 1);
  assertCovered(answered);
  assert.equal(previousOf(requests[3].prompt), "S2", "the summary so far is carried on");
  assert.equal(result.summary, `S${answered.length}`);
  const later = requests.slice(3).map(({ prompt }) => prompt.length);
  assert.ok(Math.max(...later) < requests[2].prompt.length);
});

inEachFormat("a window is learned for one call only", async (t, api) => {
  const step = (/** @type {any} */ { index }) =>
    index === 0 ? refuses(api, "prompt is too long: 61000 tokens > 24000 maximum") : "S";
  const first = await asked(t, { api }, [step], { preparation: MARKED, model: STATED });
  assert.equal(ofType(first.events, "replan").length, 1);
  const second = await asked(t, { api }, ["S"], { preparation: MARKED, model: STATED });
  assert.equal(second.requests.length, 1);
});

inEachFormat("isRetryable is not asked of an overflow, and cannot send it again", async (t, api) => {
  let times = 0;
  const isRetryable = () => ++times > 0;
  const outcome = await asked(t, { api }, [{ status: 413, body: "" }], { isRetryable, preparation: MARKED });
  assertFailed(outcome, { code: "context_overflow" });
  assert.equal(new Set(outcome.requests.map(({ prompt }) => prompt)).size, outcome.requests.length);
});

inEachFormat("maxRequests bounds plans made again as well", async (t, api) => {
  const step = windowed((tokens) => refuses(api, WORDINGS[0](tokens)));
  const outcome = await asked(t, { api }, [step], { preparation: MARKED, model: STATED, maxRequests: 2 });
  assertFailed(outcome, { code: "summary_budget" });
  assert.ok(outcome.requests.length <= 2);
});

inEachFormat("a split turn that overflows is planned again as one range", async (t, api) => {
  const messages = MARKED.messagesToSummarize;
  const preparation = prepared(messages.slice(0, 50), {
    isSplitTurn: true,
    turnPrefixMessages: messages.slice(50),
  });
  const step = windowed((tokens) => refuses(api, WORDINGS[0](tokens)));
  const { requests, error, events } = await asked(t, { api }, [step], { preparation, model: STATED });
  assert.equal(error, undefined, error?.message);
  assert.equal(events[0].shape, "split_turn");
  assert.equal(ofType(events, "replan")[0]?.shape, "chunks");
  assertCovered(requests.filter((request) => tokensOf(request) <= REAL));
});

inEachFormat("a transient failure between two overflows is still repeated", async (t, api) => {
  const refusal = refuses(api, "prompt is too long: 61000 tokens > 24000 maximum");
  const steps = [{ status: 503, body: "" }, refusal, { status: 503, body: "" }, "S"];
  const { error, events } = await asked(t, { api }, steps, {
    preparation: MARKED,
    model: STATED,
    retry: RETRY,
  });
  assert.equal(error, undefined, error?.message);
  const types = events.map(({ type }) => type).filter((type) => type === "retry" || type === "replan");
  assert.deepEqual(types, ["retry", "replan", "retry"]);
});

inEachFormat(
  "codex#11440 a gateway that answers 413 without reading the request is heard",
  async (t, api) => {
    const head =
      "HTTP/1.1 413 Payload Too Large\r\ncontent-type: text/html\r\ncontent-length: 3\r\nconnection: close\r\n\r\n";
    const answered = new WeakSet();
    const { port, sockets } = await bare(t, (socket) => {
      socket.on("data", () => {
        // As nginx does it: the answer at once, what still comes is read and dropped.
        if (!answered.has(socket)) socket.write(`${head}413`);
        answered.add(socket);
      });
      socket.on("end", () => socket.end());
    });
    const preparation = prepared([{ role: "user", content: "x ".repeat(4_000_000) }]);
    const model = { baseUrl: `http://127.0.0.1:${port}`, contextWindow: 5_000_000, maxTokens: 8_192 };
    const outcome = await asked(t, { api }, ["NO"], { preparation, model });
    assertFailed(outcome, { code: "context_overflow", status: 413 });
    assert.ok(sockets.length <= 4, `${sockets.length} connections`);
  },
);
