// The context that a branch with compactions leaves.

import assert from "node:assert/strict";
import test from "node:test";
import { createDefaultCompactionStrategy, rebuildSessionContext } from "../prism.js";
import { anyFields, entry, said, talk } from "./support/entries.mjs";
import { frozen, random } from "./support/random.mjs";

/** @param {string} id @param {string} parent @param {any} data @param {string} [summary] */
const compaction = (id, parent, data, summary = `summary ${id}`) =>
  entry(id, parent, { kind: "compaction", summary, data });

/** The words of messages. @param {any[]} messages */
const words = (messages) => messages.map(({ content }) => content[0].text);

test("without a compaction all messages and summaries are there", () => {
  const entries = [...talk(2), entry("s", "e1", { kind: "summary", summary: "of a branch" })];
  const { leafId, messages, summaries, entries: all } = rebuildSessionContext(entries);
  assert.deepEqual([leafId, words(messages), summaries], ["s", ["text 0", "text 1"], ["of a branch"]]);
  assert.deepEqual(all, entries);
  assert.deepEqual(rebuildSessionContext([]), {
    leafId: undefined,
    entries: [],
    messages: [],
    summaries: [],
  });
});

test("E100 E101 E102 E103 the latest compaction is the boundary; raw entries stay", () => {
  const entries = [
    ...talk(4),
    entry("s1", "e3", { kind: "summary", summary: "earlier" }),
    compaction("c1", "s1", { throughEntryId: "e1", keepEntryIds: ["e2", "e3"] }),
    entry("m1", "c1", said("user", "m1")),
    compaction("c2", "m1", { throughEntryId: "e2", keepEntryIds: ["e3", "m1"] }),
    entry("s2", "c2", { kind: "summary", summary: "later" }),
    entry("m2", "s2", said("user", "m2")),
  ];
  const context = rebuildSessionContext(entries);
  assert.deepEqual(words(context.messages), ["text 3", "m1", "m2"], "E102");
  assert.deepEqual(context.summaries, ["summary c2", "later"], "E103");
  assert.deepEqual(context.entries, entries, "E101");
  assert.ok(
    context.entries.every((known, at) => known === entries[at]),
    "the same objects",
  );
  assert.equal(context.messages[0], entries[3].message, "the same objects");
});

test("E100 a compaction of another shape is no boundary", () => {
  const shapes = [
    entry("c2", "c1", { kind: "compaction", summary: "x", data: { keepEntryIds: "e1" } }),
    entry("c2", "c1", { kind: "compaction", summary: "x" }),
    entry("c2", "c1", { kind: "compaction", data: {} }),
  ];
  for (const broken of shapes) {
    const entries = [...talk(4), compaction("c1", "e3", { keepEntryIds: ["e3"] }), broken];
    const { messages, summaries } = rebuildSessionContext(entries);
    assert.deepEqual([words(messages), summaries], [["text 3"], ["summary c1"]]);
  }
});

test("E102 a message is there once, in the order of the branch, and ids of others are passed over", () => {
  const keepEntryIds = ["e3", "e1", "e1", "m", "c", "nowhere"];
  const entries = [...talk(4), compaction("c", "e3", { keepEntryIds }), entry("m", "c", said("user", "m"))];
  assert.deepEqual(words(rebuildSessionContext(entries).messages), ["text 1", "text 3", "m"]);
});

test("another leaf has another branch", () => {
  const entries = [...talk(3), entry("x", "e0", said("user", "x"))];
  assert.deepEqual(words(rebuildSessionContext(entries).messages), ["text 0", "x"]);
  assert.deepEqual(words(rebuildSessionContext(entries, { leafId: "e2" }).messages), [
    "text 0",
    "text 1",
    "text 2",
  ]);
  assert.equal(rebuildSessionContext(entries, { leafId: "e2" }).leafId, "e2");
});

test("a long branch is walked, not recursed into", () => {
  const { entries, messages } = rebuildSessionContext(talk(300_000));
  assert.deepEqual([entries.length, messages.length], [300_000, 300_000]);
});

/** What the documentation says, worked out the slow way. @param {any[]} entries */
function documented(entries) {
  const at = entries.findLastIndex(({ kind }) => kind === "compaction");
  const kept = at < 0 ? [] : entries[at].data.keepEntryIds;
  const isThere = (/** @type {any} */ { id }, /** @type {number} */ index) => index > at || kept.includes(id);
  return {
    messages: entries
      .filter((known, index) => known.kind === "message" && isThere(known, index))
      .map((e) => e.message),
    summaries: [
      ...(at < 0 ? [] : [entries[at].summary]),
      ...entries.slice(at + 1).flatMap((known) => (known.kind === "summary" ? [known.summary] : [])),
    ],
  };
}

test("E1 E123 property: any compactions keep every entry, and just the documented messages", async () => {
  for (let seed = 0; seed < 150; seed++) {
    const draw = random(seed);
    /** @type {any[]} */
    const entries = [];
    let next = 0;
    for (const _ of draw.list(1, 6, () => 0)) {
      for (const __ of draw.list(0, 20, () => 0)) {
        entries.push(entry(`e${next}`, entries[entries.length - 1]?.id, anyFields(draw, next++)));
      }
      const strategy = createDefaultCompactionStrategy({
        keepRecentEntries: draw.between(0, 12),
        maxSummaryChars: draw.pick([0, 1, 50, 4_000]),
      });
      const before = JSON.stringify(entries);
      const { entries: made } = await strategy.compact({ sessionId: "s", entries: frozen([...entries]) });
      assert.equal(JSON.stringify(entries), before, `seed ${seed}`);
      entries.push(...made);
      const context = rebuildSessionContext(entries);
      assert.deepEqual(context.entries, entries, `seed ${seed}`);
      const { messages, summaries } = context;
      assert.deepEqual({ messages, summaries }, documented(entries), `seed ${seed}`);
    }
  }
});

test("E1 property: with room for all, nothing that was said is lost by any compactions", async () => {
  for (let seed = 0; seed < 100; seed++) {
    const draw = random(1_000 + seed);
    /** @type {any[]} */
    const entries = [];
    for (let round = 0; round < draw.between(1, 5); round++) {
      for (let at = 0; at < draw.between(0, 15); at++) {
        const text = `said ${entries.length}.`;
        entries.push(entry(`e${entries.length}`, entries[entries.length - 1]?.id, said("user", text)));
      }
      const strategy = createDefaultCompactionStrategy({
        keepRecentEntries: draw.between(0, 9),
        maxSummaryChars: 1e6,
      });
      const { entries: made } = await strategy.compact({ sessionId: "s", entries });
      entries.push(...made);
    }
    const { messages, summaries } = rebuildSessionContext(entries);
    const seen = [...summaries, ...words(messages)].join("\n");
    for (const { kind, message } of entries) {
      if (kind === "message") assert.ok(seen.includes(message.content[0].text), `seed ${seed}`);
    }
    assert.equal(
      new Set(seen.split("\n").map((line) => line.replace("user: ", ""))).size,
      seen.split("\n").length,
      "once",
    );
  }
});
