// A session as hosts build one: events in order, compaction at the task boundary, retries before output.

import assert from "node:assert/strict";
import test from "node:test";
import { createFolder } from "../examples/prism/attention.mjs";
import { createMemoryStore } from "../examples/prism/store.mjs";
import {
  createAttentionTruncationTrigger,
  createDefaultCompactionStrategy,
  createDefaultRetryPolicy,
  httpStatusError,
  rebuildSessionContext,
} from "../prism.js";
import { talk } from "./support/entries.mjs";
import { answers, fails, model, scripted, session } from "./support/prism-session.mjs";

const busy = Object.freeze({ message: "busy", code: 503 });
const quick = Object.freeze({ baseDelayMs: 1, jitter: 0 });
const ACTIVE = { message: "Agent session already has an active run" };

/** A session whose branch is there already. @param {number} length @param {any} [config] @param {any[][]} [script] */
function stored(length, config, script) {
  const store = createMemoryStore(talk(length));
  return { store, ...session({ store, ...config }, script) };
}

/** @param {any} store */
const entriesOf = (store) => store.list("s");

test("E3 E4 a session compacts when it is told to, by a count, or by a trigger", async () => {
  const byHand = stored(20);
  const result = await byHand.session.compact({ keepRecentEntries: 2 });
  assert.equal(result?.entries?.length, 1);
  const ways = [
    { thresholdEntries: 20 },
    { trigger: { type: "threshold_entries", entries: 20 } },
    { trigger: { type: "custom", shouldCompact: () => true } },
  ];
  for (const compaction of ways) {
    const { session: made, types } = stored(20, { compaction });
    await made.run("hello");
    assert.equal(types()[0], "compaction_started", JSON.stringify(compaction));
  }
});

test("E66 E67 E68 E69 E70 E71 compact: started, strategy, middleware, one entry under the leaf, finished, result", async () => {
  /** @type {any[]} */
  const steps = [];
  const inner = createDefaultCompactionStrategy();
  const strategy = {
    name: "watched",
    compact: (/** @type {any} */ context) => {
      steps.push(["strategy", context.entries.length, context.trigger]);
      return inner.compact(context);
    },
  };
  const middleware = {
    run: (/** @type {string} */ name, /** @type {any} */ payload) => {
      steps.push(["middleware", name, Object.keys(payload).sort()]);
      return { ...payload, result: { ...payload.result, summary: "shorter" } };
    },
  };
  const store = createMemoryStore(talk(12));
  const watched = {
    ...store,
    append: (/** @type {any} */ entry) => (steps.push(["append", entry.kind]), store.append(entry)),
  };
  const { session: made, events } = session({ store: watched, middleware });
  made.subscribe((event) => steps.push([event.type]));
  const result = await made.compact({ strategy });
  assert.deepEqual(steps, [
    ["compaction_started"],
    ["strategy", 12, "manual"],
    ["middleware", "compaction", ["context", "result"]],
    ["append", "compaction"],
    ["compaction_finished"],
  ]);
  assert.deepEqual(events, [
    { type: "compaction_started", sessionId: "s" },
    { type: "compaction_finished", sessionId: "s", summary: "shorter" },
  ]);
  const entries = await entriesOf(store);
  assert.deepEqual([entries.length, entries[12].parentId, entries[12].summary], [13, "e11", "shorter"]);
  assert.deepEqual(result.entries, [entries[12]]);
});

test("E68 without a registry no middleware runs, and one that stops a compaction stores nothing", async () => {
  const {
    session: made,
    store,
    types,
  } = stored(12, { middleware: { run: (_, payload) => ({ ...payload, result: null }) } });
  assert.equal(await made.compact(), undefined);
  assert.equal((await entriesOf(store)).length, 12);
  assert.deepEqual(types(), ["compaction_started", "compaction_finished"]);
});

test("E72 E73 G12 while a run is active neither compact nor another run begins", async () => {
  for (const begin of ["run", "stream"]) {
    let go = () => {};
    const waits = new Promise((resolve) => {
      go = () => resolve(undefined);
    });
    const { session: made, store } = stored(12, {}, [[() => waits, ...answers("ok")]]);
    const active = begin === "run" ? made.run("hello") : made.stream("hello").next();
    await new Promise(setImmediate);
    await assert.rejects(made.compact(), ACTIVE, begin);
    await assert.rejects(made.run("second"), ACTIVE, begin);
    await assert.rejects(made.stream("third").next(), ACTIVE, begin);
    go();
    await active;
    assert.equal(
      (await entriesOf(store)).some((/** @type {any} */ { kind }) => kind === "compaction"),
      false,
    );
  }
});

test("E72 E73 at the task boundary it may compact, also behind a run that failed", async () => {
  const { session: made } = stored(12, {}, [fails({ message: "no", code: 401 })]);
  await assert.rejects(made.run("hello"), { message: "no" });
  assert.ok(await made.compact());
  await made.run("again");
  assert.ok(await made.compact());
});

test("E74 E76 E77 E80 an auto-compaction comes behind the run's own entries and ahead of the request, and is asked once", async () => {
  /** @type {any[]} */
  const asked = [];
  const shouldCompact = (/** @type {any} */ { entryCount }) => asked.push(entryCount) > 0;
  const tool = { type: "tool_call", id: "c", name: "look", arguments: {} };
  const compaction = { trigger: { type: "custom", shouldCompact }, keepRecentEntries: 1 };
  const {
    session: made,
    store,
    requests,
  } = stored(12, { compaction, tools: { look: () => "seen" } }, [[tool], answers("ok")]);
  await made.run("hello", { model: { ...model, model: "small" } });
  assert.deepEqual(asked, [14], "E75 E80: once a run, with input and model change appended");
  const kinds = (await entriesOf(store)).map((/** @type {any} */ { kind }) => kind);
  assert.deepEqual(kinds.slice(12), [
    "model_change",
    "message",
    "compaction",
    "message",
    "message",
    "message",
  ]);
  assert.equal(requests.length, 2);
  const texts = requests[0].messages.map((/** @type {any} */ { content }) => content[0].text);
  assert.match(texts[0], /^user: text 0\n[\s\S]*\nmodel: acme\/small$/);
  assert.deepEqual(texts.slice(1), ["hello"], "E77: the request holds the summary and what was kept");
});

test("E13 E20 E78 E79 without a threshold or trigger, or with compaction: false, nothing is compacted", async () => {
  for (const [compaction, ofRun] of [
    [undefined, undefined],
    [{ keepRecentEntries: 2 }, {}],
    [{ thresholdEntries: 1 }, false],
  ]) {
    const { session: made, types } = stored(12, { compaction });
    await made.run("hello", { compaction: ofRun });
    assert.ok(!types().includes("compaction_started"), JSON.stringify(compaction));
  }
});

test("E10 E11 options of a run and of compact lie over those of the agent; the strategy is the default one", async () => {
  const { session: made, store } = stored(12, {
    compaction: { thresholdEntries: 100, keepRecentEntries: 5, maxSummaryChars: 30 },
  });
  await made.run("hello", { compaction: { thresholdEntries: 5 } });
  const first = (await entriesOf(store)).find((/** @type {any} */ { kind }) => kind === "compaction");
  assert.deepEqual(
    [first.data.strategy, first.data.trigger, first.data.keepEntryIds.length],
    ["default-compaction", "auto", 5],
  );
  assert.ok(first.summary.length <= 30);
  const byHand = await made.compact({ keepRecentEntries: 2, maxSummaryChars: 4_000 });
  assert.equal(byHand.entries[0].data.keepEntryIds.length, 2);
});

test("E12 E94 a compaction by hand is not compacted again by the next run", async () => {
  const { session: made, types } = stored(20, { compaction: { thresholdEntries: 5 } });
  await made.compact({ keepRecentEntries: 4 });
  await made.run("hello");
  assert.equal(types().filter((type) => type === "compaction_started").length, 1);
  await made.run("and again");
  assert.equal(types().filter((type) => type === "compaction_started").length, 2);
});

test("E86 a cap that cannot be resolved fails the run loudly, before any request", async () => {
  const compaction = { trigger: { type: "input_ratio", ratio: 0.9 } };
  const { session: made, requests } = stored(4, { compaction, model: { provider: "acme", model: "large" } });
  await assert.rejects(made.run("hello"), { code: "invalid_argument", message: /maxInputTokens/ });
  assert.equal(requests.length, 0);
});

test("E93 an unknown trigger fails the run that first uses it", async () => {
  const { session: made } = stored(4, { compaction: { trigger: { type: "weekly" } } });
  await assert.rejects(made.run("hello"), { message: /^trigger\.type: / });
});

test("E18 metadata reaches the strategy, a trigger and the retry policy; E32", async () => {
  /** @type {any[]} */
  const seen = [];
  const strategy = {
    name: "spy",
    compact: (/** @type {any} */ { metadata, entries }) => {
      seen.push(metadata);
      return createDefaultCompactionStrategy().compact({ sessionId: "s", entries });
    },
  };
  const shouldCompact = (/** @type {any} */ { metadata }) => seen.push(metadata) > 0;
  const compaction = { strategy, trigger: { type: "custom", shouldCompact }, metadata: { tenant: 1 } };
  const decide = (/** @type {any} */ { metadata }) => (seen.push(metadata), { retry: false });
  const retry = { policy: { name: "spy", decide }, metadata: { tenant: 2 } };
  const { session: made } = stored(4, { compaction, retry }, [fails(busy)]);
  await assert.rejects(made.run("hello"));
  assert.deepEqual(seen, [{ tenant: 1 }, { tenant: 1 }, { tenant: 2 }]);
});

test("E19 a compaction by hand is given up by its signal, and stores nothing", async () => {
  const reason = new Error("never mind");
  const { session: made, store } = stored(12);
  await assert.rejects(made.compact({ signal: AbortSignal.abort(reason) }), (error) => error === reason);
  assert.equal((await entriesOf(store)).length, 12);
});

test("E17 E31 E126 secrets are in no event, error, stored entry or request behind a compaction", async () => {
  const secret = "sk-live-0123";
  const store = createMemoryStore(talk(12, (at) => `${at} ${secret}`));
  const compaction = {
    secrets: [secret],
    keepRecentEntries: 0,
    trigger: { type: "custom", shouldCompact: () => true },
  };
  const retry = { ...quick, secrets: [secret] };
  const {
    session: made,
    events,
    requests,
  } = session({ store, compaction, retry }, [
    fails({ message: `503 for ${secret}`, code: 503 }),
    answers(`it was ${secret}`),
  ]);
  await made.run("hello");
  await made.compact();
  assert.ok(events.length > 5);
  assert.doesNotMatch(JSON.stringify(events), /sk-live-0123/);
  const made2 = (await entriesOf(store)).filter((/** @type {any} */ { kind }) => kind === "compaction");
  assert.equal(made2.length, 2);
  assert.doesNotMatch(JSON.stringify(made2), /sk-live-0123/);
  assert.doesNotMatch(JSON.stringify(requests), /sk-live-0123/);
});

test("E128 a runtime's redactor acts where entries are stored, beside the lists of secrets", async () => {
  const redactor = (/** @type {any} */ entry) =>
    JSON.parse(JSON.stringify(entry).replaceAll("alpha", "(redacted)"));
  const { session: made, store } = stored(3, {
    redactor,
    compaction: { secrets: ["beta"], keepRecentEntries: 0 },
  });
  await made.run("alpha and beta");
  await made.compact();
  const entries = await entriesOf(store);
  assert.doesNotMatch(JSON.stringify(entries), /alpha/);
  assert.match(entries[3].message.content[0].text, /^\(redacted\) and beta$/);
  assert.match(entries.at(-1).summary, /user: \(redacted\) and \*{4}/);
});

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
  /** @type {any} */
  let seen;
  const policy = {
    name: "spy",
    decide: (/** @type {any} */ context) => ((seen = context), { retry: false }),
  };
  const error = Object.assign(new Error("busy", { cause: { key: "credential" } }), {
    code: 503,
    request: { messages: ["x"] },
  });
  const { session: made } = stored(1, { retry: { policy } }, [fails(error)]);
  await assert.rejects(made.run("hello"));
  assert.deepEqual(Object.keys(seen).sort(), ["attempt", "error", "runId", "sessionId", "signal"]);
  assert.deepEqual(seen.error, { name: "Error", message: "busy", code: 503 });
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

/** A branch of large tool results. @param {number} count */
const looked = (count) =>
  talk(2 * count).map((entry, at) => {
    const id = `call-${at - (at % 2)}`;
    const call = { role: "assistant", content: [{ type: "tool_call", id, name: "look", arguments: {} }] };
    const result = {
      role: "tool",
      content: [{ type: "tool_result", toolCallId: id, name: "look", result: "x".repeat(4_000) }],
    };
    return { ...entry, message: at % 2 === 0 ? call : result };
  });

test("E128 an over-large request is folded before a compaction is considered, by the same cap", async () => {
  const trigger = { type: "input_ratio", ratio: 0.9 };
  const shared = { maxInputTokens: 10_000, compaction: { trigger } };
  const plain = session({ store: createMemoryStore(looked(10)), ...shared });
  await plain.session.run("hello");
  assert.equal(plain.types()[0], "compaction_started", "ten results alone are too much");
  const folder = createFolder({ ratio: 0.75, keepLast: 3 });
  const folding = session({ store: createMemoryStore(looked(10)), ...shared, folder });
  await folding.session.run("hello");
  assert.deepEqual([...new Set(folding.types())].slice(0, 1), ["attention_compiled"]);
  assert.ok(!folding.types().includes("compaction_started"), "folded, it fits");
  const [{ used, usedAfter, inputCap, truncated }] = folding.events;
  assert.ok(used >= 7_500 && usedAfter < 7_500 && inputCap === 10_000 && truncated === false);
});

test("E128 what was folded is folded again behind a crash", async () => {
  const folder = createFolder();
  const store = createMemoryStore(looked(10));
  const first = session({ store, maxInputTokens: 10_000, folder });
  await first.session.run("hello");
  const state = JSON.parse(JSON.stringify(folder.state()));
  const resumed = session({ store, maxInputTokens: 100_000, folder: createFolder({ state }) });
  await resumed.session.run("again");
  const folded = (/** @type {any} */ { messages }) =>
    messages
      .flatMap((/** @type {any} */ { content }) => content)
      .filter((/** @type {any} */ { result }) => result === "(folded)").length;
  assert.ok(state.folded.length > 0);
  assert.equal(folded(resumed.requests[0]), state.folded.length);
});

test("E95 E96 E97 E98 truncated turns arm a compaction, which comes once, with the next run", async () => {
  const truncation = createAttentionTruncationTrigger({ threshold: 2 });
  const { session: made, types } = session({
    store: createMemoryStore(looked(10)),
    maxInputTokens: 4_000,
    folder: createFolder({ keepLast: 10 }),
    compaction: { trigger: truncation.trigger, keepRecentEntries: 1 },
  });
  made.subscribe((event) => event.type === "attention_compiled" && truncation.observe(event));
  await made.run("one");
  await made.run("two");
  const compactions = () => types().filter((type) => type === "compaction_finished").length;
  assert.equal(compactions(), 1);
  await made.run("three");
  assert.equal(compactions(), 1);
});

test("E99 worked example: input_ratio 0.9, eight entries kept", async () => {
  const compaction = { trigger: { type: "input_ratio", ratio: 0.9 }, keepRecentEntries: 8 };
  const limits = { contextWindow: 3_024, maxOutputTokens: 1_000 };
  const { session: made, store, types } = stored(40, { model: { ...model, limits }, compaction });
  await made.run("hello");
  assert.equal(types()[0], "compaction_started");
  const entries = await entriesOf(store);
  const { data } = entries.find((/** @type {any} */ { kind }) => kind === "compaction");
  assert.equal(data.keepEntryIds.length, 8);
});

test("E101 E123 E129 worked example: compacted by hand, run by run, and nothing is lost or changed", async () => {
  const apiKey = "sk-live-0123";
  const store = createMemoryStore(talk(19, (at) => (at === 1 ? `the key is ${apiKey}` : `text ${at}`)));
  const strategy = createDefaultCompactionStrategy({
    keepRecentEntries: 4,
    maxSummaryChars: 2_000,
    secrets: [apiKey],
  });
  const raw = JSON.stringify(await entriesOf(store));
  const result = await strategy.compact({
    sessionId: "s",
    entries: await entriesOf(store),
    trigger: "manual",
  });
  for (const entry of result.entries) await store.append(entry);
  const snapshot = rebuildSessionContext(await entriesOf(store));
  assert.deepEqual(
    [snapshot.messages.length, snapshot.entries.length, snapshot.summaries.length],
    [4, 20, 1],
  );
  assert.ok(!snapshot.summaries[0].includes(apiKey));

  const retry = { policy: createDefaultRetryPolicy({ maxAttempts: 3, baseDelayMs: 50 }) };
  const {
    session: made,
    types,
    events,
  } = session({ store, compaction: { strategy, thresholdEntries: 40, keepRecentEntries: 8 }, retry }, [
    fails(busy),
  ]);
  await made.run("hello", { compaction: { thresholdEntries: 20 } });
  assert.ok(!types().includes("compaction_started"), "E94: it was just compacted");
  await made.run("hello again", { compaction: { thresholdEntries: 20 } });
  assert.equal(types().filter((type) => type === "compaction_finished").length, 1);
  const { delayMs } = events.find(({ type }) => type === "retry_scheduled");
  assert.ok(delayMs >= 37.5 && delayMs <= 62.5);
  const byHand = await made.compact({ keepRecentEntries: 4 });
  assert.equal(byHand.entries[0].data.keepEntryIds.length, 4);
  const entries = await entriesOf(store);
  assert.equal(JSON.stringify(entries.slice(0, 19)), raw, "E123");
  assert.equal(rebuildSessionContext(entries).messages.length, 4);
});

test("a stream tells the events of its run, and no others", async () => {
  const { session: made } = stored(1, {}, [answers("one"), answers("two")]);
  for (const text of ["one", "two"]) {
    const heard = [];
    for await (const event of made.stream("hello")) heard.push(event);
    assert.deepEqual(
      heard.map(({ type }) => type),
      ["message_started", "message_delta", "done"],
    );
    assert.equal(heard[1].text, text);
  }
  const failing = session({ provider: scripted([fails({ message: "no", code: 401 })]) });
  await assert.rejects(
    async () => {
      for await (const _ of failing.session.stream("hello"));
    },
    { message: "no" },
  );
});
