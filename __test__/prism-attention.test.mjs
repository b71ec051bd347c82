// Requests near their cap: folded first, compacted when that is not enough.

import assert from "node:assert/strict";
import test from "node:test";
import { createFolder } from "../examples/prism/attention.mjs";
import { createMemoryStore } from "../examples/prism/store.mjs";
import { createAttentionTruncationTrigger } from "../prism.js";
import { talk } from "./support/entries.mjs";
import { entriesOf, model, session, stored } from "./support/prism-session.mjs";

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
  const compactions = () => types().filter((type) => type === "compaction_finished").length;
  for (const [input, expected] of /** @type {const} */ ([
    ["one", 0],
    ["two", 0],
    ["three", 1],
    ["four", 1],
  ])) {
    await made.run(input);
    assert.equal(compactions(), expected, input);
  }
});

test("E99 worked example: input_ratio 0.9, eight entries kept", async () => {
  const compaction = { trigger: { type: "input_ratio", ratio: 0.9 }, keepRecentEntries: 8 };
  // A cap of 1,000 tokens: the answer and the reserve are taken off.
  const limits = { contextWindow: 3_024, maxOutputTokens: 1_000 };
  const small = stored(40, { model: { ...model, limits }, compaction });
  await small.session.run("hello");
  assert.ok(!small.types().includes("compaction_started"), "below 900 tokens");
  const { session: made, store, types } = stored(80, { model: { ...model, limits }, compaction });
  await made.run("hello");
  assert.equal(types()[0], "compaction_started");
  const { data } = (await entriesOf(store)).find(({ kind }) => kind === "compaction");
  assert.equal(data.keepEntryIds.length, 8);
});

test("E82 E89 a count of entries estimates nothing and asks for no cap", async () => {
  const folder = { fold: (/** @type {any[]} */ messages) => ({ messages, folds: folds++ }) };
  let folds = 0;
  const compaction = { trigger: { type: "threshold_entries", entries: 99 } };
  const { session: made } = stored(4, { compaction, folder });
  await made.run("hello");
  assert.equal(folds, 1, "for the request alone");
});
