// A session as hosts build one: compaction at the task boundary, its options and its events.

import assert from "node:assert/strict";
import test from "node:test";
import { createMemoryStore } from "../examples/prism/store.mjs";
import {
  createDefaultCompactionStrategy,
  createDefaultRetryPolicy,
  rebuildSessionContext,
} from "../prism.js";
import { entry, talk } from "./support/entries.mjs";
import {
  answers,
  busy,
  entriesOf,
  fails,
  model,
  scripted,
  session,
  stored,
} from "./support/prism-session.mjs";

const ACTIVE = { message: "Agent session already has an active run" };

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
    append: (/** @type {any} */ entry) => {
      steps.push(["append", entry.kind]);
      return store.append(entry);
    },
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

test("E68 middleware may rewrite a compaction, its entry's summary with it or alone", async () => {
  const rewrites = [
    (/** @type {any} */ { entries }) => ({ summary: "rewritten, and much longer", entries }),
    (/** @type {any} */ { summary, entries: [made] }) => ({
      summary,
      entries: [{ ...made, summary: "rewritten, and much longer", data: { ...made.data, note: 1 } }],
    }),
  ];
  for (const rewrite of rewrites) {
    const run = (/** @type {string} */ _, /** @type {any} */ payload) => ({
      result: rewrite(payload.result),
    });
    const { session: made, store } = stored(3, { middleware: { run } });
    await made.compact();
    assert.equal((await entriesOf(store)).pop().summary, "rewritten, and much longer");
  }
});

test("E68 middleware that stops a compaction stores nothing", async () => {
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

test("E18 E32 metadata reaches the strategy, a trigger and the retry policy", async () => {
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
  const decide = (/** @type {any} */ { metadata }) => ({ retry: seen.push(metadata) < 0 });
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

test("a request holds no result of a tool whose call was compacted", async () => {
  const call = (/** @type {string} */ id) => ({ type: "tool_call", id, name: "look", arguments: {} });
  const script = [[call("1"), call("2")], answers("seen"), answers("on")];
  const store = createMemoryStore([
    entry("e0", undefined, { kind: "message", message: { role: "user", content: "hi" } }),
  ]);
  const { session: made, requests } = session({ store, tools: { look: () => "x" } }, script);
  await made.run("hello");
  await made.compact({ keepRecentEntries: 2 });
  await made.run("go on");
  const [summary, ...kept] = requests[2].messages.map((/** @type {any} */ { role, content }) => [
    role,
    content.map((/** @type {any} */ { type, text }) => text ?? type).join(),
  ]);
  assert.deepEqual(summary, ["user", "user: hi\nuser: hello\ntool call: look\ntool call: look"]);
  assert.deepEqual(kept, [
    ["assistant", "seen"],
    ["user", "go on"],
  ]);
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
