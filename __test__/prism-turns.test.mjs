// A provider's turn as hosts build it: tried again while nothing of its answer was seen, and then no more.

import assert from "node:assert/strict";
import test from "node:test";
import {
  createAttentionTruncationTrigger,
  createDefaultCompactionStrategy,
  createDefaultRetryPolicy,
  httpStatusError,
} from "../prism.js";
import { busy, entriesOf, fails, stored } from "./support/prism-session.mjs";

const quick = Object.freeze({ baseDelayMs: 1, jitter: 0 });

test("E2 E104 E105 E107 a turn is tried again while nothing was seen, with the request that was assembled once", async () => {
  const {
    session: made,
    events,
    requests,
    store,
  } = stored(2, { retry: quick }, [fails(busy), fails(httpStatusError({ status: 429 }))]);
  const message = await made.run("hello");
  assert.equal(message.content[0].text, "ok");
  assert.deepEqual(requests[1], requests[0], "E104");
  assert.equal(requests.length, 3);
  const types = events.map(({ type, attempt, delayMs }) =>
    [type, attempt, delayMs].filter((part) => part !== undefined).join(" "),
  );
  assert.deepEqual(types, [
    "retry_scheduled 1 1",
    "retry_scheduled 2 2",
    "message_started",
    "message_delta",
    "done",
  ]);
  assert.deepEqual(events[0].error, busy);
  assert.equal(typeof events[0].runId, "string");
  assert.equal((await entriesOf(store)).length, 4, "no attempt is stored twice");
});

test("E105 the event comes before the wait", async () => {
  const controller = new AbortController();
  const { session: made, events } = stored(
    1,
    { retry: { baseDelayMs: 60_000, maxDelayMs: 60_000, jitter: 0 } },
    [fails(busy)],
  );
  made.subscribe(({ type }) => type === "retry_scheduled" && controller.abort(new Error("stop")));
  await assert.rejects(made.run("hello", { signal: controller.signal }), /stop/);
  assert.deepEqual(
    events.map(({ type }) => type),
    ["retry_scheduled"],
    "E106",
  );
});

test("E107 E113 behind any output a failure is final", async () => {
  const outputs = [
    { type: "message_started" },
    { type: "message_delta", text: "par" },
    { type: "tool_call", id: "c", name: "x", arguments: {} },
  ];
  for (const output of outputs) {
    const { session: made, requests } = stored(1, { retry: quick }, [fails(busy, [output])]);
    await assert.rejects(made.run("hello"), { message: "busy" }, output.type);
    assert.equal(requests.length, 1, output.type);
  }
});

test("E33 E24 retry: false switches it off for a run, and without options nothing is tried again", async () => {
  for (const [config, options] of [
    [{ retry: quick }, { retry: false }],
    [{}, {}],
  ]) {
    const { session: made, requests } = stored(1, config, [fails(busy)]);
    await assert.rejects(made.run("hello", options), { message: "busy" });
    assert.equal(requests.length, 1);
  }
  const { session: made, requests } = stored(1, { retry: quick }, [fails(busy), fails(busy)]);
  await assert.rejects(made.run("hello", { retry: { ...quick, maxAttempts: 2 } }), { message: "busy" });
  assert.equal(requests.length, 2, "a run's own options");
});

test("E108 a missing provider is not tried again", async () => {
  const { session: made, types } = stored(1, { provider: undefined, retry: quick });
  await assert.rejects(made.run("hello"), /there is no provider for acme/);
  assert.deepEqual(types(), []);
});

test("E109 an abort is not tried again", async () => {
  const controller = new AbortController();
  const abort = () => controller.abort(new Error("enough"));
  const { session: made, requests } = stored(1, { retry: quick }, [[abort, ...fails(busy)]]);
  await assert.rejects(made.run("hello", { signal: controller.signal }), /enough/);
  assert.equal(requests.length, 1);
  const ghost = stored(1, { retry: quick }, [fails(new DOMException("aborted", "AbortError"))]);
  await assert.rejects(ghost.session.run("hello"), { name: "AbortError" });
  assert.equal(ghost.requests.length, 1);
});

test("E109 a run whose signal has fired asks nothing and stores nothing", async () => {
  const { session: made, requests, store } = stored(2);
  const signal = AbortSignal.abort(new Error("stop"));
  await assert.rejects(made.run("hello", { signal }), /stop/);
  assert.deepEqual([requests.length, (await entriesOf(store)).length], [0, 2]);
});

test("E109 a signal that fires in a tool ends the run ahead of the next request", async () => {
  const controller = new AbortController();
  const tools = { stops: () => controller.abort(new Error("stop")) };
  const call = { type: "tool_call", id: "1", name: "stops", arguments: {} };
  const { provider, session: made, requests } = stored(1, { tools }, [[call]]);
  const { generate } = provider;
  provider.generate = ({ signal: _, ...request }) => generate(request);
  await assert.rejects(made.run("hello", { signal: controller.signal }), /stop/);
  assert.equal(requests.length, 1);
});

test("E126 an answer is stored as it reads, whatever pieces it came in", async () => {
  const delta = (/** @type {string} */ text) => ({ type: "message_delta", text });
  const call = { type: "tool_call", id: "1", name: "look", arguments: {} };
  const script = [[delta("the key is sk-li"), delta("ve-0123"), call, delta("so"), delta(" far")]];
  const config = { tools: { look: () => "x" }, compaction: { secrets: ["sk-live-0123"] } };
  const { session: made, store } = stored(0, config, script);
  await made.run("hello");
  const [, { message }] = await entriesOf(store);
  const text = (/** @type {string} */ of) => ({ type: "text", text: of });
  assert.deepEqual(message.content, [text("the key is sk-live-0123"), call, text("so far")]);
  const compacted = await made.compact({ keepRecentEntries: 0 });
  assert.match(compacted?.summary ?? "", /the key is \*{12} so far/);
});

test("E110 E111 E112 failing tools, unknown tools and validation are the model's to see, and not tried again", async () => {
  let ran = 0;
  const tools = {
    fails: () => {
      ran++;
      throw Object.assign(new Error("timeout"), { code: 503 });
    },
    checks: ({ path }) => {
      if (typeof path !== "string") throw new TypeError("path: expected a string");
    },
  };
  const calls = ["fails", "unheard-of", "checks"].map((name) => ({
    type: "tool_call",
    id: name,
    name,
    arguments: {},
  }));
  const { session: made, requests, types } = stored(1, { tools, retry: quick }, [calls]);
  await made.run("hello");
  assert.equal(ran, 1);
  assert.equal(requests.length, 2, "one request with the calls, one with their results");
  assert.ok(!types().includes("retry_scheduled"));
  const results = requests[1].messages.at(-1).content;
  assert.deepEqual(
    results.map((/** @type {any} */ { error }) => error.message),
    ["Error: timeout", "Error: there is no tool unheard-of", "TypeError: path: expected a string"],
  );
});

test("E114 E115 retry middleware is asked before the event, and its word counts", async () => {
  const payloads = [];
  const middleware = {
    run: (/** @type {string} */ name, /** @type {any} */ payload) => {
      payloads.push([name, payload.context.attempt, payload.decision]);
      return { ...payload, decision: payloads.length > 1 ? { retry: false } : { retry: true, delayMs: 0 } };
    },
  };
  const {
    session: made,
    events,
    requests,
  } = stored(1, { retry: { ...quick, baseDelayMs: 60_000, maxDelayMs: 60_000 }, middleware }, [
    fails(busy),
    fails(busy),
  ]);
  await assert.rejects(made.run("hello"), { message: "busy" });
  assert.equal(requests.length, 2);
  assert.deepEqual(
    payloads.map(([name, attempt]) => [name, attempt]),
    [
      ["retry", 1],
      ["retry", 2],
    ],
  );
  assert.deepEqual(
    events.map(({ delayMs }) => delayMs),
    [0],
  );
});

test("E127 a policy's context holds no message, provider or credential", async () => {
  /** @type {any[]} */
  const seen = [];
  const decide = (/** @type {any} */ context) => ({ retry: seen.push(context) < 0 });
  const policy = { name: "spy", decide };
  const error = Object.assign(new Error("busy", { cause: { key: "credential" } }), {
    code: 503,
    request: { messages: ["x"] },
  });
  const { session: made } = stored(1, { retry: { policy } }, [fails(error)]);
  await assert.rejects(made.run("hello"));
  const [context] = seen;
  assert.deepEqual(Object.keys(context).sort(), ["attempt", "error", "runId", "sessionId", "signal"]);
  assert.deepEqual(context.error, { name: "Error", message: "busy", code: 503 });
});

test("E118 strategies, policies and middleware do nothing until a host passes them on", async () => {
  const touched = () => assert.fail("inert");
  createDefaultCompactionStrategy();
  createDefaultRetryPolicy({ random: touched });
  createAttentionTruncationTrigger();
  const { session: made, types } = stored(50, {}, [fails(busy)]);
  await assert.rejects(made.run("hello"));
  assert.deepEqual(types(), []);
});
