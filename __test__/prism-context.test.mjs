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
    ...talk(3),
    entry("s1", "e2", { kind: "summary", summary: "covered" }),
    compaction("c1", "s1", { throughEntryId: "e1", keepEntryIds: ["e2"] }),
    entry("m1", "c1", said("user", "m1")),
    entry("m2", "m1", said("user", "m2")),
    compaction("c2", "m2", { throughEntryId: "m1", keepEntryIds: ["m2"] }),
    entry("s2", "c2", { kind: "summary", summary: "later" }),
    entry("m3", "s2", said("user", "m3")),
  ];
  const context = rebuildSessionContext(entries);
  assert.deepEqual(words(context.messages), ["m2", "m3"], "E102");
  assert.deepEqual(context.summaries, ["summary c2", "later"], "E103");
  assert.deepEqual(context.entries, entries, "E101");
  assert.ok(
    context.entries.every((known, at) => known === entries[at]),
    "the same objects",
  );
  assert.equal(context.messages[0], entries[6].message, "the same objects");
});

test("E100 a compaction of another shape is no boundary", () => {
  const shapes = [
    entry("c2", "c1", { kind: "compaction", summary: "x", data: { keepEntryIds: "e1" } }),
    entry("c2", "c1", { kind: "compaction", summary: "x" }),
    entry("c2", "c1", { kind: "compaction", data: {} }),
  ];
  for (const broken of shapes) {
    const entries = [...talk(4), compaction("c1", "e3", { throughEntryId: "e2" }), broken];
    const { messages, summaries } = rebuildSessionContext(entries);
    assert.deepEqual([words(messages), summaries], [["text 3"], ["summary c1"]]);
  }
});

test("E102 a message is there once, in the order of the branch, and ids of others are passed over", () => {
  const keepEntryIds = ["e3", "e1", "e1", "m", "c", "nowhere"];
  const data = { throughEntryId: "e3", keepEntryIds };
  const entries = [...talk(4), compaction("c", "e3", data), entry("m", "c", said("user", "m"))];
  assert.deepEqual(words(rebuildSessionContext(entries).messages), ["text 1", "text 3", "m"]);
});

test("E52 E102 E103 the boundary is what the summary covers, wherever the compaction stands", () => {
  const tail = [
    entry("s", "e3", { kind: "summary", summary: "between" }),
    entry("m", "s", said("user", "m")),
  ];
  /** @type {[any, string[]][]} */
  const cases = [
    [{ throughEntryId: "e1" }, ["text 2", "text 3", "m", "after"]],
    [{ throughEntryId: "e1", keepEntryIds: ["e0"] }, ["text 0", "text 2", "text 3", "m", "after"]],
    [{ keepEntryIds: ["m"] }, ["text 0", "text 1", "text 2", "text 3", "m", "after"]],
    [{ throughEntryId: "nowhere", keepEntryIds: ["m"] }, ["m", "after"]],
    [{ throughEntryId: "last", keepEntryIds: [] }, ["after"]],
  ];
  for (const [data, expected] of cases) {
    const all = [...talk(4), ...tail, compaction("c", "m", data), entry("last", "c", said("user", "after"))];
    const { messages, summaries } = rebuildSessionContext(all);
    assert.deepEqual(words(messages), expected, JSON.stringify(data));
    const isOpen = data.throughEntryId === "e1" || data.throughEntryId === undefined;
    assert.deepEqual(summaries, isOpen ? ["summary c", "between"] : ["summary c"], JSON.stringify(data));
  }
});

test("E103 a summary that is covered is not told again, whatever is kept", () => {
  const entries = [
    ...talk(1),
    entry("s", "e0", { kind: "summary", summary: "covered" }),
    compaction("c", "s", { throughEntryId: "s", keepEntryIds: ["e0", "s"] }),
  ];
  const { messages, summaries } = rebuildSessionContext(entries);
  assert.deepEqual([words(messages), summaries], [["text 0"], ["summary c"]]);
});

test("an empty summary is none", () => {
  const entries = [...talk(2), compaction("c", "e1", { throughEntryId: "e1" }, "")];
  assert.deepEqual(rebuildSessionContext(entries).summaries, []);
});

test("E101 E123 an entry under the leaf of a list without parents loses none of it", async () => {
  const entries = talk(6).map(({ parentId: _, ...rest }) => rest);
  const { entries: made } = await createDefaultCompactionStrategy({ keepRecentEntries: 3 }).compact({
    ...{ sessionId: "s", entries },
  });
  const next = [...entries, ...made, entry("e6", made[0].id, said("user", "text 6"))];
  const context = rebuildSessionContext(next);
  assert.deepEqual(context.entries, next);
  assert.deepEqual(words(context.messages), ["text 3", "text 4", "text 5", "text 6"]);
});

test("E101 property: an entry under a leaf makes its branch longer by one, and changes nothing else of it", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const { pick, between, chance } = random(seed);
    /** @type {any[]} */
    const entries = [];
    const linear = between(0, 5);
    for (let at = 0; at < 12; at++) {
      const parent = at < linear || chance(0.1) ? undefined : pick(entries)?.id;
      entries.push(entry(`e${at}`, parent, said("user", `${at}`)));
      const leaf = pick(entries).id;
      const before = rebuildSessionContext(entries, { leafId: leaf }).entries;
      const under = entry("new", leaf, said("user", "new"));
      assert.deepEqual(rebuildSessionContext([...entries, under]).entries, [...before, under], `${seed}`);
    }
  }
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
  const { entries, messages } = rebuildSessionContext(talk(100_000));
  assert.deepEqual([entries.length, messages.length], [100_000, 100_000]);
});

/** What the documentation says, worked out the slow way. @param {any[]} branch */
function documented(branch) {
  const latest = branch.filter(({ kind }) => kind === "compaction").pop();
  const { throughEntryId, keepEntryIds } = latest?.data ?? { keepEntryIds: [] };
  const behind = branch.slice(branch.findIndex(({ id }) => id === throughEntryId) + 1);
  const isThere = (/** @type {any} */ known) => behind.includes(known) || keepEntryIds.includes(known.id);
  const of = (/** @type {string} */ wanted, /** @type {any[]} */ entries) =>
    entries.filter(({ kind }) => kind === wanted);
  return {
    messages: of("message", branch.filter(isThere)).map(({ message }) => message),
    summaries: [latest?.summary, ...of("summary", behind).map(({ summary }) => summary)].filter(Boolean),
  };
}

/** The branch that ends in an entry. @param {any[]} entries @param {any} leaf @returns {any[]} */
function branchTo(entries, leaf) {
  const parent = entries.find(({ id }) => id === leaf.parentId);
  return parent ? [...branchTo(entries, parent), leaf] : [leaf];
}

test("E1 E123 property: any compactions of any branches keep every entry, and just the documented messages", async () => {
  for (let seed = 0; seed < 150; seed++) {
    const draw = random(seed);
    /** @type {any[]} */
    const entries = [];
    for (let round = 0; round < draw.between(1, 6); round++) {
      // Now and then the session goes on from an earlier entry.
      let leaf = draw.chance(0.3) && entries.length > 0 ? draw.pick(entries) : entries[entries.length - 1];
      for (let count = draw.between(0, 20); count > 0; count--) {
        leaf = entry(`e${entries.length}`, leaf?.id, anyFields(draw, entries.length));
        entries.push(leaf);
      }
      const strategy = createDefaultCompactionStrategy({
        keepRecentEntries: draw.between(0, 12),
        maxSummaryChars: draw.pick([0, 1, 50, 4_000]),
      });
      const before = JSON.stringify(entries);
      const { entries: made } = await strategy.compact({ sessionId: "s", entries: frozen([...entries]) });
      assert.equal(JSON.stringify(entries), before, `seed ${seed}`);
      entries.push(...made);
      for (const known of [made[0], draw.pick(entries)]) {
        const branch = branchTo(entries, known);
        const context = rebuildSessionContext(entries, { leafId: known.id });
        assert.deepEqual(context.entries, branch, `seed ${seed}`);
        const { messages, summaries } = context;
        assert.deepEqual({ messages, summaries }, documented(branch), `seed ${seed}`);
      }
    }
  }
});

test("E1 E59 E60 E61 E62 E63 property: with room for all, nothing that is told is lost by any compactions", async () => {
  for (let seed = 0; seed < 150; seed++) {
    const draw = random(1_000 + seed);
    /** @type {any[]} */
    const entries = [];
    for (let round = 0; round < draw.between(1, 5); round++) {
      for (let count = draw.between(0, 15); count > 0; count--) {
        const at = entries.length;
        entries.push(entry(`e${at}`, entries[at - 1]?.id, anyFields(draw, at)));
      }
      const keepRecentEntries = draw.between(0, 9);
      const strategy = createDefaultCompactionStrategy({ keepRecentEntries, maxSummaryChars: 1e6 });
      entries.push(...(await strategy.compact({ sessionId: "s", entries })).entries);
    }
    // The last word of all is told, too, by one more compaction.
    const last = createDefaultCompactionStrategy({ keepRecentEntries: 0, maxSummaryChars: 1e6 });
    const { summary } = await last.compact({ sessionId: "s", entries });
    const told = entries.flatMap(({ kind, message, ...known }) => {
      if (kind === "label") return [`label: ${known.label}`];
      if (kind === "summary") return [`summary: ${known.summary}`];
      if (kind === "model_change") return [`model: p/${known.model.model}`];
      if (kind !== "message") return [];
      const [{ type, text, name }] = message.content;
      return [type === "text" ? `${message.role}: ${text}` : `${type.replace("_", " ")}: ${name}`];
    });
    assert.deepEqual(summary.split("\n"), told.length > 0 ? told : [NOTHING], `seed ${seed}: once, in order`);
    const { messages, summaries } = rebuildSessionContext(entries);
    const read = JSON.stringify([summaries, messages]);
    for (const { kind, message } of entries) {
      if (kind !== "message") continue;
      const [{ text, name }] = message.content;
      assert.ok(read.includes(text ?? name), `seed ${seed}`);
    }
  }
});

const NOTHING = "Nothing is older than the messages that are kept.";
