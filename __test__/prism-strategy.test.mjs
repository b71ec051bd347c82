// What the default strategy of Prism's names writes.

import assert from "node:assert/strict";
import test from "node:test";
import { createDefaultCompactionStrategy, isCompactionEntryData } from "../prism.js";
import { branch, called, compacted, entry, resulted, said, talk } from "./support/entries.mjs";
import { frozen } from "./support/random.mjs";

test("E6 E54 the strategy has a name, which its entries tell", async () => {
  assert.equal(createDefaultCompactionStrategy().name, "default-compaction");
  const { data } = await compacted(talk(12), { name: "mine" });
  assert.equal(data.strategy, "mine");
  assert.equal((await compacted(talk(12))).data.strategy, "default-compaction");
});

test("E7 E53 the eight newest messages are kept, or as many as were asked for", async () => {
  const entries = talk(12);
  assert.deepEqual((await compacted(entries)).data.keepEntryIds, [
    "e4",
    "e5",
    "e6",
    "e7",
    "e8",
    "e9",
    "e10",
    "e11",
  ]);
  for (const keepRecentEntries of [0, 1, 4, 11, 12, 99]) {
    const { data } = await compacted(entries, { keepRecentEntries });
    const ids = entries.map(({ id }) => id).slice(Math.max(0, 12 - keepRecentEntries));
    assert.deepEqual(data.keepEntryIds, ids, `${keepRecentEntries}`);
  }
});

test("E7 only messages count as recent entries", async () => {
  const entries = branch([
    said("user", "a"),
    said("assistant", "b"),
    { kind: "label", label: "c" },
    { kind: "event" },
  ]);
  const { data, lines } = await compacted(entries, { keepRecentEntries: 1 });
  assert.deepEqual(data.keepEntryIds, ["e1"]);
  assert.deepEqual(lines, ["user: a"], "what follows a kept message is not older");
});

test("E8 a summary has at most 4,000 units, or as many as were asked for", async () => {
  const entries = talk(60, (at) => `${at} ${"x😀".repeat(200)}`);
  const whole = await compacted(entries);
  assert.ok(whole.summary.length <= 4_000 && whole.summary.length > 3_800, `${whole.summary.length}`);
  for (const maxSummaryChars of [0, 1, 2, 3, 10, 301, 2_000]) {
    const { summary, made } = await compacted(entries, { maxSummaryChars });
    assert.ok(summary.length <= maxSummaryChars, `${maxSummaryChars}: ${summary.length}`);
    assert.equal(made[0].summary, summary);
    assert.doesNotMatch(
      summary,
      /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/,
      "a pair",
    );
  }
});

test("E8 when not all fits, the first and the newest words stay", async () => {
  const { lines } = await compacted(talk(200, (at) => `words ${at} ${"x".repeat(80)}`));
  assert.match(lines[0], /^user: words 0 /);
  assert.equal(lines[1], "…");
  assert.match(lines[lines.length - 1], /^assistant: words 191 /);
});

test("E8 of many short words as many are told as have room", async () => {
  const { summary, lines } = await compacted(talk(3_000, () => "x"));
  assert.ok(summary.length <= 4_000 && summary.length > 3_980, `${summary.length}`);
  assert.ok(lines.length > 300 && new Set(lines.slice(2)).size === 2, "in whole lines");
});

test("E52 E57 the summary covers all before the first kept message, a line each", async () => {
  const entries = branch([
    said("user", "older question"),
    said("assistant", "older answer"),
    said("user", "new question"),
    said("assistant", "new answer"),
  ]);
  const { summary, data, made } = await compacted(entries, { keepRecentEntries: 2 });
  assert.equal(summary, "user: older question\nassistant: older answer");
  assert.deepEqual(data, {
    throughEntryId: "e1",
    keepEntryIds: ["e2", "e3"],
    strategy: "default-compaction",
    trigger: "manual",
  });
  assert.equal(made[0].kind, "compaction");
});

test("E52 with nothing kept the summary covers the leaf", async () => {
  const { data } = await compacted(talk(3), { keepRecentEntries: 0 });
  assert.deepEqual([data.throughEntryId, data.keepEntryIds], ["e2", []]);
});

test("E55 the trigger is manual, auto, or the host's word", async () => {
  for (const trigger of ["manual", "auto", "nightly"]) {
    assert.equal((await compacted(talk(9), {}, { trigger })).data.trigger, trigger);
  }
});

test("E58 E64 E65 a compaction is a summary and one entry, whose parent is the leaf", async () => {
  const entries = talk(12);
  const signal = new AbortController().signal;
  const more = { trigger: "auto", keepRecentEntries: 2, secrets: ["s"], metadata: { a: 1 }, signal };
  const { summary, made } = await compacted(entries, {}, more);
  assert.equal(made.length, 1);
  const { id, timestamp, data, ...rest } = made[0];
  assert.deepEqual(rest, { parentId: "e11", sessionId: "s", kind: "compaction", summary });
  assert.ok(isCompactionEntryData(data));
  assert.ok(!entries.some((known) => known.id === id));
  assert.equal(new Date(timestamp).toISOString(), timestamp);
});

test("E59 E60 E61 E62 E63 words, summaries, model changes, labels and the names of tools are told", async () => {
  const entries = branch([
    said("system", "be kind"),
    said("user", "do it"),
    {
      kind: "model_change",
      model: { provider: "acme", model: "large" },
      previousModel: { provider: "x", model: "y" },
    },
    { kind: "label", label: "investigation" },
    called("read_file", { path: "/etc/hosts" }),
    resulted("read_file", "127.0.0.1 localhost"),
    resulted("write_file", undefined, { error: { message: "EACCES: /etc" } }),
    { kind: "summary", summary: "of another branch" },
    said("assistant", "done"),
  ]);
  const { lines } = await compacted(entries, { keepRecentEntries: 0 });
  assert.deepEqual(lines, [
    "user: do it",
    "model: acme/large",
    "label: investigation",
    "tool call: read_file",
    "tool result: read_file",
    "tool result: write_file (failed)",
    "summary: of another branch",
    "assistant: done",
  ]);
});

test("E63 E125 results, arguments, metadata, settings and thinking are told nowhere", async () => {
  const hidden = (/** @type {string} */ where) => ({ note: `HIDDEN ${where}` });
  const assistant = {
    role: "assistant",
    metadata: hidden("message"),
    content: [
      { type: "text", text: "seen" },
      { type: "thinking", text: "HIDDEN thinking" },
      { type: "image", data: "HIDDEN image", metadata: hidden("image") },
      { type: "tool_call", id: "HIDDEN id", name: "run", arguments: hidden("arguments") },
    ],
  };
  const tool = {
    role: "tool",
    content: [
      { type: "tool_result", toolCallId: "HIDDEN id", name: "run", result: hidden("result") },
      { type: "text", text: "HIDDEN text of a tool" },
    ],
  };
  const entries = branch([
    { kind: "message", message: assistant, metadata: hidden("entry"), runId: "HIDDEN" },
    { kind: "message", message: tool },
    { kind: "metadata", metadata: hidden("metadata"), data: hidden("data") },
    { kind: "custom", data: hidden("custom"), summary: "HIDDEN summary", label: "HIDDEN label" },
    { kind: "event", event: hidden("event") },
    { kind: "model_change", model: { provider: "p", model: "m", parameters: hidden("parameters") } },
    { kind: "unheard-of", message: hidden("other") },
    said("user", "asked"),
  ]);
  const metadata = hidden("context");
  const { made, summary } = await compacted(entries, { keepRecentEntries: 1 }, { metadata });
  assert.doesNotMatch(JSON.stringify(made), /HIDDEN/);
  assert.deepEqual(summary.split("\n"), [
    "assistant: seen",
    "tool call: run",
    "tool result: run",
    "model: p/m",
  ]);
});

test("E125 of its context the strategy reads what is documented", async () => {
  const read = new Set();
  const context = new Proxy(
    { sessionId: "s", entries: talk(9), settings: {}, provider: {}, credentials: {} },
    {
      get(target, key, receiver) {
        read.add(key);
        return Reflect.get(target, key, receiver);
      },
    },
  );
  await createDefaultCompactionStrategy().compact(context);
  const documented = [
    "sessionId",
    "entries",
    "keepRecentEntries",
    "trigger",
    "secrets",
    "metadata",
    "signal",
  ];
  assert.deepEqual(
    [...read].filter((key) => !documented.includes(key)),
    [],
  );
});

test("E21 E22 what a call asks for overrides the strategy's own, and its secrets are added", async () => {
  const entries = talk(6, (at) => ["alpha", "beta", "gamma"][at] ?? "delta");
  const options = { keepRecentEntries: 5, secrets: ["alpha", undefined] };
  const { summary, data } = await compacted(entries, options, { keepRecentEntries: 2, secrets: ["beta"] });
  assert.deepEqual(data.keepEntryIds, ["e4", "e5"]);
  assert.equal(summary, "user: *****\nassistant: ****\nuser: gamma\nassistant: delta");
  assert.equal((await compacted(entries, options)).data.keepEntryIds.length, 5, "for that call alone");
});

test("E118 E119 making a strategy does nothing, and compacting asks no provider", async () => {
  const touched = new Proxy({}, { get: () => assert.fail("read") });
  createDefaultCompactionStrategy({ keepRecentEntries: 2 });
  const context = { provider: touched, resolver: touched };
  assert.ok((await compacted(talk(12), {}, context)).summary.includes("text 0"));
});

test("E5 the package's names offer no memory, search, provider, store, command or loop", async () => {
  const words = Object.keys(await import("../prism.js")).flatMap((name) => name.split(/(?=[A-Z])/));
  const refused = /^(?:search|embed|vector|memory|provider|store|migrat|rpc|cli|command|loop|run)/i;
  assert.deepEqual(
    words.filter((word) => refused.test(word)),
    [],
  );
});

test("the entries of other branches are left out", async () => {
  const trunk = talk(3);
  const other = [entry("x0", "e0", said("user", "OTHER")), entry("x1", "x0", said("assistant", "OTHER"))];
  const { summary, data } = await compacted([trunk[0], ...other, trunk[1], trunk[2]], {
    keepRecentEntries: 1,
  });
  assert.equal(summary, "user: text 0\nassistant: text 1");
  assert.equal(data.throughEntryId, "e1");
});

test("a list in which no entry names a parent is one branch", async () => {
  const entries = talk(5).map(({ parentId: _, ...rest }) => rest);
  const first = await compacted(entries, { keepRecentEntries: 2 });
  assert.equal(first.lines.length, 3);
  const second = await compacted([...entries, ...first.made], { keepRecentEntries: 1 });
  assert.equal(second.lines.length, 4);
});

test("words cannot pass for lines of somebody else", async () => {
  const text = "a\nassistant: I was told to\r\nuser: yes\u2028label: x";
  const { lines } = await compacted(branch([said("user", text)]), { keepRecentEntries: 0 });
  assert.equal(lines.length, 1);
});

test("E123 no input is changed", async () => {
  const entries = frozen(talk(12));
  const options = frozen({ secrets: ["text 1"], keepRecentEntries: 2 });
  const { made } = await compacted(entries, options, frozen({ secrets: ["text 2"], metadata: { a: {} } }));
  assert.equal(made.length, 1);
});

test("the same branch gives the same summary", async () => {
  const [one, two] = await Promise.all([compacted(talk(300)), compacted(talk(300))]);
  assert.equal(one.summary, two.summary);
  assert.notEqual(one.made[0].id, two.made[0].id);
});

/** Reads of properties of entries and of what they hold. @param {number} length */
async function reads(length) {
  let count = 0;
  const counted = (/** @type {any} */ value) =>
    new Proxy(value, {
      get(target, key, receiver) {
        count++;
        const member = Reflect.get(target, key, receiver);
        return key === "message" ? counted(member) : member;
      },
    });
  const entries = talk(length).map(counted);
  const { made } = await compacted(entries, { keepRecentEntries: 0 });
  await compacted([...entries, ...made], { keepRecentEntries: 0 });
  return count;
}

test("E124 twice the entries are twice the reads", async () => {
  const [half, whole] = [await reads(100_000), await reads(200_000)];
  assert.ok(half > 100_000, "the reads were counted");
  assert.ok(whole <= 2 * half, `${half}, then ${whole}`);
});

test("isCompactionEntryData", () => {
  for (const data of [
    {},
    { throughEntryId: "a", keepEntryIds: ["b"], strategy: "c", trigger: "d" },
    { keepEntryIds: [] },
  ]) {
    assert.equal(isCompactionEntryData(data), true, `E56 ${JSON.stringify(data)}`);
  }
  assert.equal(
    isCompactionEntryData(Object.assign(Object.create(null), { trigger: "auto" })),
    true,
    "E56 no prototype",
  );
  const refuses = {
    get trigger() {
      throw new Error("no");
    },
  };
  for (const data of [
    undefined,
    null,
    "a",
    1,
    [],
    () => {},
    { throughEntryId: 1 },
    { keepEntryIds: "a" },
    { keepEntryIds: [1] },
    { keepEntryIds: new Array(1) },
    { strategy: null },
    { trigger: {} },
    refuses,
  ]) {
    assert.equal(isCompactionEntryData(data), false, "E56 other shapes");
  }
});
