// A host's ear may be behind: what waits for it is bounded, and it holds up no request and no answer.

import assert from "node:assert/strict";
import { createServer } from "node:net";
import test from "node:test";
import { compactWithRecovery, contextBudget, generateCompaction } from "../index.js";
import { failed, prepared } from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import { eventsOf, modelOf, numbered, refined, turn, turns } from "./support/refine.mjs";

const LIMITS = frozen({ contextWindow: 32_768, maxTokens: 8_192 });
/** Events that may wait (index.d.ts, `onEvent`). */
const MOST_WAITING = 256;
/** Each turn is a chunk of its own. */
const MORE = frozen({
  strategy: "refine",
  refine: { maxPromptTokens: 2_600 },
  mainModel: { contextWindow: 32_768 },
  budget: contextBudget(LIMITS),
});
const UNITS = 1_600;

let named = 0;
/** A session with so many chunks done. @param {number} done */
async function sessionWith(done) {
  const sessionId = `heard ${named++}`;
  const by = modelOf(numbered(30), LIMITS);
  const more = { ...MORE, sessionId, maxRequests: 1_000 };
  const { result, error } = await refined(by, prepared(turns(done, UNITS)), more);
  assert.equal(error, undefined, `${error}`);
  assert.equal(result.details.requests, done);
  return sessionId;
}

/** Keeps the main thread from hearing anything while the run goes on beside it. @param {number} ms */
function busy(ms = 700) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** A port of this machine at which nobody listens. @returns {Promise<number>} */
function closedPort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = /** @type {any} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}

for (const [title, meanwhile] of /** @type {[string, () => void][]} */ ([
  ["the main thread is free", () => {}],
  ["the main thread is busy", () => busy()],
])) {
  test(`D51 300 finished chunks: the new request reaches the client and is counted once, where ${title}`, async () => {
    for (const retry of [{ enabled: false }, { baseDelayMs: 1 }]) {
      const sessionId = await sessionWith(300);
      /** @type {any[]} */
      const events = [];
      const by = modelOf(numbered(30), LIMITS);
      const preparation = prepared([...turns(300, UNITS), turn(300, UNITS)]);
      const onEvent = (/** @type {any} */ event) => events.push(event);
      const { summarizer } = by;
      const more = { ...MORE, sessionId, maxRequests: 1_000 };
      const promise = generateCompaction({ ...more, preparation, summarizer, retry, onEvent });
      meanwhile();
      const { details } = /** @type {any} */ (await promise);
      assert.equal(by.calls.length, 1);
      assert.match(by.calls[0].prompt, /⟦300⟧/);
      assert.deepEqual([details.requests, details.cacheHits, details.chunks], [1, 300, 301]);
      assert.equal(eventsOf(events, "retry").length, 0, "nothing had to be tried again");
      assert.ok(events.length > 0);
    }
  });

  test(`D51 C37 a recovery with every default goes on behind 255 finished chunks, where ${title}`, async () => {
    const sessionId = await sessionWith(255);
    const by = modelOf(numbered(30), LIMITS);
    /** @type {any[]} */
    const events = [];
    const promise = compactWithRecovery({
      ...MORE,
      sessionId,
      reason: "threshold",
      preparation: prepared(turns(256, UNITS)),
      summarizer: by.summarizer,
      onEvent: (event) => events.push(event),
    });
    meanwhile();
    const outcome = /** @type {any} */ (await promise);
    assert.equal(outcome.kind, "summary", `${outcome.error}`);
    assert.deepEqual([by.calls.length, outcome.report.requests], [1, 1]);
    assert.deepEqual([outcome.checkpoint.details.requests, outcome.checkpoint.details.cacheHits], [1, 255]);
    assert.equal(eventsOf(events, "retry").length, 0);
  });
}

/** What a host hears of 300 finished chunks when it was busy for so long. @param {number} ms */
async function heardAfter(ms) {
  const sessionId = await sessionWith(300);
  const by = modelOf(() => failed("401"), LIMITS);
  /** @type {any[]} */
  const events = [];
  const promise = generateCompaction({
    ...MORE,
    sessionId,
    maxRequests: 1_000,
    preparation: prepared(turns(300, UNITS)),
    summarizer: by.summarizer,
    onEvent: (event) => events.push(event),
  });
  busy(ms);
  const { details } = /** @type {any} */ (await promise);
  assert.deepEqual([details.requests, details.cacheHits, by.calls.length], [0, 300, 0]);
  return events;
}

test("256 events wait at most for a busy main thread, the oldest, in order; the end comes all the same", async () => {
  /** @type {any[]} */
  let events = [];
  // A machine that is busy itself may not have come that far, and then hears more.
  for (const ms of [200, 2_000, 20_000]) {
    events = await heardAfter(ms);
    if (events.length <= MOST_WAITING) break;
  }
  assert.equal(events.length, MOST_WAITING);
  assert.equal(events[0].type, "plan");
  assert.deepEqual(
    eventsOf(events, "chunk").map(({ index }) => index),
    Array.from({ length: MOST_WAITING - 1 }, (_, at) => at + 1),
  );
});

test("isRetryable is asked although 256 events wait", async () => {
  const sessionId = await sessionWith(300);
  const model = /** @type {any} */ ({
    ...LIMITS,
    provider: "test",
    id: "scripted",
    api: "openai-completions",
    baseUrl: `http://127.0.0.1:${await closedPort()}/v1`,
  });
  /** @type {any[]} */
  const words = [];
  const promise = generateCompaction({
    ...MORE,
    sessionId,
    maxRequests: 1_000,
    preparation: prepared(turns(301, UNITS)),
    summarizer: { kind: "http", model, apiKey: "key" },
    retry: { baseDelayMs: 1 },
    onEvent: () => {},
    isRetryable: (error) => {
      words.push(error.code);
      return false;
    },
  });
  const ended = promise.then(
    () => undefined,
    (error) => error,
  );
  busy();
  const error = await ended;
  assert.deepEqual([error?.code, error?.attempts], ["summary_provider", 1], "the host's word was heard");
  assert.deepEqual(words, ["summary_provider"]);
});
