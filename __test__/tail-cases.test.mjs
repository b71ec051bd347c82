import assert from "node:assert/strict";
import test from "node:test";
import { buildRetainedTail, estimateTokens, findCut, replayRetainedTail } from "../index.js";
import { DIALECTS } from "./support/oracle.mjs";
import { frozen } from "./support/random.mjs";
import { answer, call, result, toolCalls } from "./support/sound.mjs";
import { faults } from "./support/soundness.mjs";
import { wildTranscript } from "./support/transcripts.mjs";

/** @typedef {import("./support/transcripts.mjs").Message} Message */

/** @param {string} content @returns {Message} */
function user(content) {
  return { role: "user", content };
}

/** @param {readonly Message[]} messages */
function total(messages) {
  return messages.reduce((sum, message) => sum + estimateTokens(message), 0);
}

/** One assistant message with these calls. @param {string[]} ids @returns {Message} */
function calls(...ids) {
  return { role: "assistant", content: ids.flatMap((id) => call(id).content), stopReason: "toolUse" };
}

for (const dialect of DIALECTS) {
  test(`pi#7201 trailing results beyond the budget: the cut steps back to their call (${dialect})`, () => {
    const results = ["a", "b", "c", "d"].map((id) => result(id, "x".repeat(22_178)));
    const messages = frozen([user("old"), answer("ok"), user("go"), calls("a", "b", "c", "d"), ...results]);
    const cut = findCut(messages, 20_000, { dialect });
    assert.deepEqual(cut, { firstKeptIndex: 3, turnStartIndex: 2, isSplitTurn: true });
  });

  test(`pi#2562 a CJK session is cut neither at nothing nor at everything (${dialect})`, () => {
    const turns = Array.from({ length: 40 }, () => [
      user("日本語の質問".repeat(40)),
      answer("回答です".repeat(60)),
    ]);
    const messages = frozen(turns.flat());
    const { firstKeptIndex } = findCut(messages, 1_000, { dialect });
    assert.ok(firstKeptIndex > 0 && firstKeptIndex < messages.length);
    assert.ok(total(messages.slice(firstKeptIndex)) >= 1_000);
  });
}

test("findCut of nothing, of one message, and of results alone", () => {
  const none = { turnStartIndex: -1, isSplitTurn: false };
  assert.deepEqual(findCut([], 100), { firstKeptIndex: 0, ...none });
  assert.deepEqual(findCut([user("a")], 100), { firstKeptIndex: 0, ...none });
  assert.deepEqual(findCut([result("a"), result("b")], 0), { firstKeptIndex: 0, ...none });
});

test("PI-Desktop#224 after a complete last turn the tail is never empty", () => {
  const turns = Array.from({ length: 125 }, () => [user("do"), call("c"), result("c"), answer("did")]).flat();
  for (const retentionMode of /** @type {const} */ (["active_turn", "completed_turn", undefined])) {
    for (const budget of [0, 16, 500, 27_904]) {
      assert.ok(
        buildRetainedTail(frozen(turns), budget, { retentionMode }).length > 0,
        `${retentionMode} ${budget}`,
      );
    }
  }
});

test("C2 C3 PI-Desktop#827 a long active turn: the tail fills its budget with whole recent pairs", () => {
  const groups = Array.from({ length: 34 }, (_, group) => {
    const ids = Array.from({ length: group < 29 ? 4 : 3 }, (_, index) => `g${group}-${index}`);
    return [calls(...ids), ...ids.map((id) => result(id, "output line\n".repeat(60)))];
  });
  const goal = user("finish the migration");
  const range = frozen([user("first"), user("second"), goal, ...groups.flat()]);
  assert.deepEqual([range.length, groups.flat().length - 34], [168, 131]);
  const tail = buildRetainedTail(range, 9_000, { retentionMode: "active_turn" });
  assert.deepEqual(faults(tail), []);
  assert.equal(tail[0], goal);
  assert.deepEqual(tail.slice(1), range.slice(-(tail.length - 1)));
  const group = total(groups[0]);
  assert.ok(total(tail) <= 9_000 && total(tail) > 9_000 - group, `${total(tail)} tokens`);
});

test("pi-vcc PR#4 a range without any user message still has a tail", () => {
  const range = frozen(toolCalls(20, "out"));
  for (const retentionMode of /** @type {const} */ (["active_turn", undefined])) {
    const tail = buildRetainedTail(range, 200, { retentionMode });
    assert.ok(tail.length >= 2 && tail.at(-1) === range.at(-1));
    assert.deepEqual(faults(tail), []);
  }
});

test("C22 C27 pi#4570 pairing is checked over the whole window", () => {
  const inner = { role: "compactionSummary", summary: "before", tokensBefore: 9 };
  const range = frozen([inner, result("cut-away"), user("go"), ...toolCalls(2, "out"), result("cut-away")]);
  const tail = buildRetainedTail(range, 10_000);
  assert.deepEqual(tail, [inner, user("go"), ...range.slice(3, 7)]);
});

test("C28 OpenHarness#191 an assistant call whose result never came is never sent bare", () => {
  const range = frozen([user("go"), call("lost"), user("still there?"), answer("yes")]);
  assert.deepEqual(buildRetainedTail(range, 10_000), [range[0], range[2], range[3]]);
  assert.deepEqual(faults(buildRetainedTail(range.slice(0, 2), 10_000)), []);
});

test("C28 langchain#38352 all results of a message with several calls stay with it", () => {
  const results = ["a", "b", "c"].map((id) => result(id, "x".repeat(800)));
  const range = frozen([user("go"), calls("a", "b", "c"), ...results]);
  for (let budget = 0; budget < 900; budget += 25) {
    assert.deepEqual(faults(buildRetainedTail(range, budget)), [], `${budget} tokens`);
  }
  const uncovered = frozen([user("go"), calls("a", "b", "c"), ...results.slice(0, 2), answer("on")]);
  const tail = buildRetainedTail(uncovered, 10_000);
  assert.deepEqual(faults(tail), []);
  assert.equal(tail.at(-1), uncovered.at(-1));
});

test("opencode#40235 zeph#6501 a result binds to the nearest earlier call of its id", () => {
  const twice = [calls("same", "same"), result("same", "first"), result("same", "second")];
  assert.deepEqual(faults(buildRetainedTail(frozen([user("go"), ...twice]), 10_000)), []);
  const later = [
    call("same"),
    result("same", "old"),
    ...toolCalls(33, "x"),
    call("same"),
    result("same", "new"),
  ];
  const range = frozen([user("go"), ...later]);
  assert.deepEqual(buildRetainedTail(range, 10_000), [...range]);
  const tail = buildRetainedTail(range, 30);
  assert.deepEqual(tail.slice(-2), range.slice(-2));
  const unanswered = frozen([
    user("go"),
    call("same"),
    ...toolCalls(2, "x"),
    call("same"),
    result("same", "new"),
  ]);
  assert.ok(!buildRetainedTail(unanswered, 10_000).includes(unanswered[1]), "the first call has no result");
  const second = frozen([user("go"), call("same"), call("same"), result("same", "a"), result("same", "b")]);
  const bound = buildRetainedTail(second, 10_000);
  assert.ok(!bound.includes(second[1]), "a second result of one call does not answer the call before");
});

test("a record with the marker keeps its window", () => {
  const retainedTail = [user("go"), ...toolCalls(2, "out"), answer("done")];
  const details = { fallback: "retained_tail", retainedTailShape: "recent_window" };
  const record = frozen({ type: "compaction", summary: "s", retainedTail, details });
  const tail = replayRetainedTail(record);
  assert.deepEqual(tail, retainedTail);
  assert.ok(tail.every((message, index) => message === retainedTail[index]));
});

test("C15 C16 C17 C18 a record without it keeps only its latest user message", () => {
  const latest = user("latest");
  const retainedTail = [
    user("older"),
    ...toolCalls(2, "out"),
    latest,
    ...toolCalls(1, "out"),
    answer("done"),
  ];
  for (const details of [
    undefined,
    null,
    {},
    { retainedTailShape: "other" },
    { fallback: "retained_tail" },
    "x",
  ]) {
    const record = frozen({ type: "compaction", summary: "s", retainedTail, details });
    const tail = replayRetainedTail(record);
    assert.deepEqual(tail, [latest]);
    assert.equal(tail[0], latest);
  }
  const none = { retainedTail: toolCalls(2, "out"), details: {} };
  assert.deepEqual(replayRetainedTail(none), []);
});

test("C19 C22 C28 a list of messages yields the sound ones; anything else yields none", () => {
  const sound = [user("go"), ...toolCalls(1, "out"), answer("done")];
  const list = [result("orphan"), sound[0], answer("broken", "error"), ...sound.slice(1), call("unanswered")];
  assert.deepEqual(replayRetainedTail(frozen(list)), sound);
  for (const odd of [
    undefined,
    null,
    5,
    "text",
    {},
    { retainedTail: "x" },
    { retainedTail: null },
    [],
    () => {},
  ]) {
    assert.deepEqual(replayRetainedTail(odd), []);
  }
  const details = { retainedTailShape: "recent_window" };
  assert.deepEqual(replayRetainedTail({ retainedTail: [null, 5, "x", sound[0]], details }), [sound[0]]);
  assert.deepEqual(replayRetainedTail([null, 5, sound[0]]), [sound[0]]);
});

test("C7 a rebuilt tail is a fixed point: rebuilding it again drops nothing", () => {
  for (let seed = 0; seed < 2_000; seed++) {
    const once = replayRetainedTail(frozen(wildTranscript(seed, 14)));
    assert.deepEqual(faults(once), [], `wildTranscript(${seed}, 14)`);
    const again = replayRetainedTail(frozen(once));
    assert.ok(again.length === once.length && again.every((message, index) => message === once[index]));
    const tail = buildRetainedTail(frozen(wildTranscript(seed, 14)), 1_000_000);
    assert.equal(replayRetainedTail(tail).length, tail.length, `seed ${seed}`);
  }
});

test("C26 a turn that ends in thoughts alone is not finished: nothing of it could end the window", () => {
  const thoughts = { role: "assistant", content: [{ type: "thinking", thinking: "hm" }], stopReason: "stop" };
  const finished = [user("old"), answer("done"), user("go"), thoughts];
  const retentionMode = /** @type {const} */ ("completed_turn");
  assert.deepEqual(buildRetainedTail(finished, 100, { retentionMode }), finished.slice(0, 2));
  const open = [thoughts, user("go"), call("a"), result("a")];
  assert.deepEqual(buildRetainedTail(open, 100, { retentionMode }), open.slice(1));
});

test("C29 a result of many text blocks is cut to its share of the budget", () => {
  for (const [blocks, words] of /** @type {const} */ ([
    [2, 300],
    [40, 300],
    [5_000, 1],
    [90, 8],
  ])) {
    const content = Array.from({ length: blocks }, (_, at) => ({
      type: "text",
      text: `${at} `.padEnd(words, "x"),
    }));
    const messages = frozen([user("go"), call("a"), { ...result("a"), content }]);
    for (const budget of [60, 100, 150]) {
      const tail = buildRetainedTail(messages, budget);
      assert.equal(tail.at(-1)?.role, "toolResult");
      assert.ok(total(tail) <= budget, `${blocks} blocks: ${total(tail)} of ${budget}`);
      assert.match(JSON.stringify(tail.at(-1)), /cut to fit the kept context/);
    }
  }
});

test("C29 a message of thoughts and several texts keeps its words when it is cut to the least", () => {
  const texts = ["w".repeat(400), "x".repeat(20)].map((text) => ({ type: "text", text }));
  const content = [{ type: "thinking", thinking: "hm" }, ...texts];
  const [kept] = buildRetainedTail(frozen([{ role: "assistant", content, stopReason: "stop" }]), 10);
  assert.match(JSON.stringify(kept), /w+\\n\[\.\.\. cut to fit the kept context/);
});
