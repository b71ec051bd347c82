import assert from "node:assert/strict";
import test from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { CompactionError, generateCompaction } from "../index.js";
import { prepared, RETRY, says, usage } from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import { userOfTokens } from "./support/sound.mjs";

const BUDGET = frozen({ hardLimit: 20_000, requestHeadroom: 12_768 });
const MODEL = frozen({ provider: "test", id: "raw", contextWindow: 32_768, maxTokens: 8_192 });
const SHORT = frozen(prepared([userOfTokens(20)]));

/** A compaction by this very function. Never rejects. @param {any} complete @param {any} more */
async function asked(complete, more = {}) {
  let sent = 0;
  const counting = (/** @type {any[]} */ ...of) => {
    sent++;
    return complete(...of);
  };
  const counted = typeof complete === "function" ? counting : complete;
  const summarizer = { kind: "callback", model: MODEL, complete: counted };
  const request = { preparation: SHORT, budget: BUDGET, summarizer, retry: RETRY, ...more };
  const [result, error] = await generateCompaction(request).then(
    (given) => [given, undefined],
    (thrown) => [undefined, thrown],
  );
  return { result, error, sent };
}

/** @param {any} outcome @param {string} code @param {string} title */
function assertFailed({ result, error }, code, title) {
  assert.equal(result, undefined, title);
  assert.ok(error instanceof CompactionError, `${title}: ${error}`);
  assert.equal(error.code, code, title);
  assert.ok(error.message.length > 20, "says what to do");
}

test("a callback that throws at once is a rejection", async () => {
  const mine = new Error("401 mine");
  const outcome = await asked(() => {
    throw mine;
  });
  assertFailed(outcome, "summary_provider", "thrown");
  assert.equal(outcome.error.cause, mine);
  let times = 0;
  const { result, sent } = await asked(() => {
    if (++times < 3) throw new Error("socket hang up");
    return says("S");
  });
  assert.deepEqual([result.summary, sent], ["S", 3]);
});

test("a callback that throws what is no error", async () => {
  const odd = [
    undefined,
    null,
    5,
    "503",
    "text",
    Symbol("s"),
    1n,
    {},
    [],
    () => {},
    { code: 5, message: {} },
    Object.create(null),
  ];
  for (const thrown of odd) {
    const outcome = await asked(async () => {
      throw thrown;
    });
    assertFailed(outcome, "summary_provider", String(typeof thrown));
  }
});

test("a callback that throws an error whose fields throw or lead in circles", async () => {
  const hostile = new Error("x");
  for (const key of ["message", "code", "status", "headers", "cause", "name"]) {
    Object.defineProperty(hostile, key, {
      get() {
        throw new Error("the getter's own");
      },
    });
  }
  const circle = new Error("circle");
  circle.cause = circle;
  const long = new Error("y".repeat(5_000_000));
  for (const thrown of [hostile, circle, long, new Proxy({}, { get: () => Symbol("no text") })]) {
    assertFailed(await asked(() => Promise.reject(thrown)), "summary_provider", "hostile");
  }
});

test("a callback that answers no message: never a summary, never a crash", async () => {
  const odd = [undefined, null, 5, "A summary as a string", true, [], {}, Symbol("s"), 1n, () => "S"];
  for (const given of odd) {
    for (const complete of [() => given, async () => given]) {
      const outcome = await asked(complete);
      assertFailed(outcome, "summary_provider", String(typeof given));
      assert.match(outcome.error.message, /assistant message|content|answer/i);
    }
  }
});

test("an answer without content, or with content that is no list", async () => {
  for (const content of [undefined, null, "a string", 5, {}, { length: 1, 0: { type: "text", text: "S" } }]) {
    const outcome = await asked(() => ({ role: "assistant", stopReason: "stop", content }));
    assert.equal(outcome.result, undefined, String(content));
    assert.ok(["summary_provider", "summary_empty"].includes(outcome.error.code));
  }
});

test("blocks of any shape are looked past, text among them is the summary", async () => {
  const odd = [
    null,
    undefined,
    5,
    "bare",
    {},
    { type: "text" },
    { type: "text", text: 5 },
    { type: "unknown", text: "no" },
    [],
  ];
  const { result } = await asked(() => ({
    content: [...odd, { type: "text", text: "S" }],
    stopReason: "stop",
  }));
  assert.equal(result.summary.trim(), "S");
  assertFailed(await asked(() => ({ content: odd, stopReason: "stop" })), "summary_empty", "none of them");
});

test("an answer without usage, or with usage that is none, is an answer", async () => {
  const answers = [
    undefined,
    null,
    5,
    "much",
    {},
    { input: "12", output: Number.NaN, cost: null },
    usage(Number.NaN),
  ];
  for (const given of answers) {
    const { result, error } = await asked(() => says("S", { usage: given }));
    assert.equal(error, undefined);
    assert.equal(result.summary, "S");
    for (const number of Object.values(result.usage?.cost ?? {})) assert.ok(Number.isFinite(number));
    for (const key of ["input", "output", "cacheRead", "cacheWrite", "totalTokens"]) {
      if (result.usage) assert.ok(Number.isFinite(result.usage[key]), key);
    }
  }
  const half = await asked(() => says("S", { usage: { input: 5, output: 7, totalTokens: 12 } }));
  assert.deepEqual(
    [half.result.usage.input, half.result.usage.output, half.result.usage.cost.total],
    [5, 7, 0],
  );
});

test("an answer whose fields throw is a failure of the client", async () => {
  for (const key of ["content", "stopReason", "usage", "errorMessage"]) {
    const hostile = Object.defineProperty({ ...says("S"), stopReason: "error" }, key, {
      get() {
        throw new Error("the getter's own");
      },
    });
    assertFailed(await asked(() => hostile), "summary_provider", key);
  }
});

test("a callback that never settles is given up by abort, and only by that", async () => {
  const controller = new AbortController();
  const running = asked(() => new Promise(() => {}), { signal: controller.signal });
  const first = await Promise.race([running, wait(80, "still waiting")]);
  assert.equal(first, "still waiting");
  controller.abort("enough");
  assert.equal((await running).error, "enough");
});

test("a callback that settles twice or late changes nothing", async () => {
  const twice = () => ({
    // biome-ignore lint/suspicious/noThenProperty: a client's promise need not be a native one
    then(/** @type {any} */ done, /** @type {any} */ failed) {
      done(says("FIRST"));
      done(says("SECOND"));
      failed(new Error("third"));
    },
  });
  assert.equal((await asked(twice)).result.summary, "FIRST");
});

test("`this` of the callback is its summarizer, as for any method", async () => {
  const summarizer = {
    kind: "callback",
    model: MODEL,
    words: "MINE",
    complete() {
      return says(this.words);
    },
  };
  const request = /** @type {any} */ ({ preparation: SHORT, budget: BUDGET, summarizer });
  assert.equal((await generateCompaction(request)).summary, "MINE");
});

test("a summarizer that is none is invalid_argument, and nothing is sent", async () => {
  const complete = () => says("S");
  const wrong = [
    undefined,
    null,
    "callback",
    5,
    {},
    { kind: "http", model: MODEL },
    { kind: "Callback", model: MODEL, complete },
    { kind: null, model: MODEL, complete },
    { kind: "callback", model: MODEL },
    { kind: "callback", model: MODEL, complete: null },
    { kind: "callback", model: MODEL, complete: "complete" },
    { kind: "callback", model: MODEL, complete: {} },
    { kind: "callback", complete },
    { kind: "callback", model: null, complete },
    { kind: "callback", model: "gpt", complete },
    { kind: "callback", model: { ...MODEL, contextWindow: -1 }, complete },
    { kind: "callback", model: { ...MODEL, maxTokens: 1.5 }, complete },
    { kind: "callback", model: { ...MODEL, contextWindow: "200k" }, complete },
    { kind: "callback", model: { ...MODEL, maxInputTokens: Number.NaN }, complete },
  ];
  for (const summarizer of wrong) {
    const outcome = await asked(complete, { summarizer });
    assertFailed(outcome, "invalid_argument", JSON.stringify(summarizer) ?? "undefined");
  }
});

test("an unknown strategy is invalid_argument", async () => {
  for (const strategy of ["map-reduce", "Chain", "", 5, {}, true]) {
    const outcome = await asked(() => says("S"), { strategy });
    assertFailed(outcome, "invalid_argument", String(strategy));
    assert.equal(outcome.sent, 0);
  }
  for (const strategy of ["chain", undefined])
    assert.equal((await asked(() => says("S"), { strategy })).result?.summary, "S");
});

test("other fields of the wrong kind are invalid_argument, and nothing is sent", async () => {
  const wrong = [
    { maxRequests: -1 },
    { maxRequests: 1.5 },
    { maxRequests: "9" },
    { maxRequests: Number.NaN },
    { onEvent: "log" },
    { onEvent: {} },
    { isRetryable: true },
    { customInstructions: 5 },
    { prompts: "short" },
    { prompts: { initial: 5 } },
    { dialect: "pi-2" },
    { charsPerToken: 0 },
    { budget: undefined },
    { budget: { hardLimit: -1, requestHeadroom: 5 } },
    { preparation: undefined },
    { preparation: {} },
    { preparation: prepared(/** @type {any} */ ("text")) },
    { preparation: prepared([/** @type {any} */ (null)]) },
    { preparation: prepared([userOfTokens(5)], { previousSummary: 5 }) },
    { preparation: prepared([userOfTokens(5)], { fileOps: 5 }) },
    { preparation: prepared([userOfTokens(5)], { fileOps: { read: 5 } }) },
    { preparation: prepared([userOfTokens(5)], { fileOps: { read: [5] } }) },
    { preparation: prepared([userOfTokens(5)], { tokensBefore: "many" }) },
  ];
  for (const more of wrong) {
    const outcome = await asked(() => says("S"), more);
    assertFailed(outcome, "invalid_argument", JSON.stringify(more));
    assert.equal(outcome.sent, 0, JSON.stringify(more));
  }
});

test("no request at all rejects, and never throws", async () => {
  for (const request of [undefined, null, 5, "request", {}, []]) {
    const promise = generateCompaction(/** @type {any} */ (request));
    assert.ok(promise instanceof Promise);
    await assert.rejects(promise, { code: "invalid_argument" });
  }
});

test("every failure says what to do, once, without a stack of ours in the message", async () => {
  for (const complete of [
    () => says(""),
    () => says("S", { stopReason: "length" }),
    () => null,
    () => Promise.reject(new Error("401")),
  ]) {
    const { error } = await asked(complete);
    assert.match(error.message, /[;:]|try|choose|allow|check|must/);
    assert.doesNotMatch(error.message, /\n|panicked|unwrap/);
    const { name, code, message, attempts, retryable } = JSON.parse(JSON.stringify(error));
    assert.deepEqual(
      [name, code, message, attempts, retryable],
      ["CompactionError", error.code, error.message, 1, false],
    );
  }
});
