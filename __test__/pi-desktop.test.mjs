// Does the drop-in answer by the names of PI-Desktop's agent runtime, as that does?

import assert from "node:assert/strict";
import test from "node:test";
import * as pi from "../index.js";
import { bundled } from "./support/bundle.mjs";
import { frozen } from "./support/random.mjs";
import { answer, call, result, soundTranscript, userOfTokens } from "./support/sound.mjs";
import { faults } from "./support/soundness.mjs";

/** @typedef {import("./support/transcripts.mjs").Message} Message */

const runtime = await bundled("examples/pi-desktop/compaction.ts");

/** F1: window, most output, headroom, hard limit, recent context, guard's limit. */
const F1 = [
  [8_192, 8_192, 4_096, 4_096, 2_048, 2_868],
  [16_384, 8_192, 8_192, 8_192, 4_096, 7_783],
  [32_768, 8_192, 16_384, 16_384, 8_000, 22_528],
  [32_768, 32_000, 16_384, 16_384, 8_000, 17_613],
  [65_536, 32_000, 16_384, 49_152, 9_830, 50_381],
  [128_000, 8_192, 16_384, 111_616, 22_323, 117_760],
  [128_000, 32_000, 32_000, 96_000, 19_200, 100_352],
  [200_000, 8_192, 16_384, 183_616, 36_723, 189_760],
  [200_000, 32_000, 32_000, 168_000, 33_600, 172_352],
  [272_000, 32_000, 32_000, 240_000, 48_000, 244_352],
  [1_000_000, 32_000, 50_000, 950_000, 64_000, 965_952],
];
const SMALL = { contextWindow: 32_768, maxTokens: 8_192 };

/** @param {string | number} content a text, or so many tokens of one @returns {Message} */
const user = (content) => (typeof content === "number" ? userOfTokens(content) : { role: "user", content });

/** @param {readonly Message[]} messagesToSummarize @param {object} more */
const input = (messagesToSummarize, more = {}) =>
  frozen({ messagesToSummarize, turnPrefixMessages: [], isSplitTurn: false, ...more });

/** @param {readonly Message[]} messages */
const total = (messages) => messages.reduce((sum, message) => sum + pi.estimateTokens(message), 0);

test("A16 A17 A18 the policy, its numbers, and the other constants", () => {
  assert.deepEqual(runtime.COMPACTION_SUMMARY_RETRY_POLICY, {
    enabled: true,
    maxRetries: 3,
    baseDelayMs: 2_000,
  });
  const constants = {
    COMPACTION_SUMMARY_MAX_RETRIES: 3,
    COMPACTION_SUMMARY_RETRY_BASE_MS: 2_000,
    COMPACTION_REDUCED_TOOL_RESULT_CHARS: 500,
    COMPACTION_SUMMARY_PROMPT_SAFETY_TOKENS: 2_048,
    COMPACTION_SUMMARY_MAX_CHUNKS: 16,
    COMPACTION_RETAINED_TAIL_SHAPE: "recent_window",
  };
  for (const [name, value] of Object.entries(constants)) assert.equal(runtime[name], value, name);
});

test("F1 contextBudgetLimitsFor and A40 compactionSummaryInputLimit", () => {
  for (const [contextWindow, maxTokens, requestHeadroom, hardLimit, keepRecentTokens, limit] of F1) {
    const limits = runtime.contextBudgetLimitsFor({ contextWindow, maxTokens });
    assert.deepEqual(limits, { hardLimit, requestHeadroom, keepRecentTokens }, `${contextWindow}`);
    const stated = { hardLimit, requestHeadroom, modelMaxTokens: maxTokens };
    assert.equal(runtime.compactionSummaryInputLimit(stated), limit, `${contextWindow}`);
  }
  const unknown = runtime.contextBudgetLimitsFor({});
  assert.deepEqual(unknown, { hardLimit: 111_616, requestHeadroom: 16_384, keepRecentTokens: 22_323 });
  assert.equal(runtime.compactionSummaryInputLimit(unknown), 117_760);
  assert.equal(runtime.compactionSummaryInputLimit({ hardLimit: 0, requestHeadroom: 0 }), 1);
});

test("A41 A42 estimateSummaryPromptTokens and the guard take the runtime's objects", () => {
  const messages = [user(100), answer("done")];
  const split = input(messages, {
    turnPrefixMessages: [user(900)],
    isSplitTurn: true,
    previousSummary: "old",
  });
  assert.equal(runtime.estimateSummaryPromptTokens(split), pi.estimateSummaryPromptTokens(split));
  assert.equal(runtime.estimateSummaryPromptTokens(split), 900);
  const limits = runtime.contextBudgetLimitsFor(SMALL);
  const limit = runtime.compactionSummaryInputLimit({ ...limits, modelMaxTokens: SMALL.maxTokens });
  const exceeds = (/** @type {number} */ tokens) =>
    runtime.compactionSummaryWouldExceedBudget(input([user(tokens)]), limits, SMALL);
  assert.deepEqual([exceeds(limit - 1), exceeds(limit)], [false, true]);
});

test("A44 A54 reduceSummaryInput thins by the stated length and keeps what it does not touch", () => {
  const messages = [user("go"), call("a"), result("a", "x".repeat(5_000))];
  const thinned = runtime.reduceSummaryInput(input(messages));
  const [first, second, third] = thinned.messagesToSummarize;
  assert.deepEqual([first === messages[0], second === messages[1]], [true, true]);
  const kept = "x".repeat(runtime.COMPACTION_REDUCED_TOOL_RESULT_CHARS);
  assert.ok(third.content[0].text.startsWith(`${kept}\n\n[`));
  assert.equal(runtime.reduceSummaryInput(thinned), undefined);
});

test("C30 C33 C39 G11 planSummaryChunks", () => {
  const plan = (/** @type {readonly Message[]} */ messages, /** @type {object} */ more = {}) =>
    runtime.planSummaryChunks(input(messages), { summaryInputLimit: 2_000, reserveTokens: 0, ...more });
  const messages = Array.from({ length: 12 }, () => user(500));
  const chunks = plan(messages);
  assert.deepEqual(
    chunks.map((/** @type {any} */ chunk) => chunk.length),
    [3, 3, 3, 3],
  );
  assert.deepEqual(chunks.flat(), messages);
  assert.equal(plan([]), undefined);
  assert.equal(plan(Array.from({ length: 16 }, () => user(1_500)))?.length, 16);
  assert.equal(plan(Array.from({ length: 17 }, () => user(1_500))), undefined);
  assert.equal(plan(messages, { reserveTokens: 2_000 }), undefined, "the reserve leaves no room");
  assert.deepEqual(plan(messages, { reserveTokens: -5 }), chunks, "no reserve below none");
  const large = plan([user(9_000)]);
  assert.ok(
    JSON.stringify(large).includes(JSON.stringify(runtime.SUMMARY_CHUNK_TRUNCATION_MARKER).slice(1, -1)),
  );
  assert.throws(() => plan(messages, { summaryInputLimit: Number.NaN }), { code: "invalid_argument" });
});

test("C37 addSummaryUsage sums every field, the rare ones where a side has them", () => {
  const one = usage(1);
  assert.equal(runtime.addSummaryUsage(undefined, undefined), undefined);
  assert.equal(runtime.addSummaryUsage(one, undefined), one);
  assert.equal(runtime.addSummaryUsage(undefined, one), one);
  const sum = runtime.addSummaryUsage(one, usage(10));
  assert.deepEqual(sum, usage(11));
  assert.ok(!("cacheWrite1h" in sum) && !("reasoning" in sum));
  const rare = runtime.addSummaryUsage(one, { ...usage(10), reasoning: 0, cacheWrite1h: 7 });
  assert.deepEqual(rare, { ...usage(11), reasoning: 0, cacheWrite1h: 7 });
});

/** @param {number} all */
function usage(all) {
  const tokens = { input: all, output: 2 * all, cacheRead: 3 * all, cacheWrite: 4 * all };
  return { ...tokens, totalTokens: 10 * all, cost: { ...tokens, total: 10 * all } };
}

test("C8 C23 C24 C29 selectRecentTail, with a goal and without", () => {
  const goal = user("g".repeat(400));
  const work = Array.from({ length: 6 }, (_, i) => [call(`c${i}`), result(`c${i}`, "x".repeat(300))]).flat();
  const turn = frozen([user("an older question"), answer("answered"), goal, ...work]);
  const window = runtime.selectRecentTail(turn, 200);
  assert.deepEqual([faults(window), window.at(-1) === turn.at(-1)], [[], true]);
  assert.ok(!window.includes(goal) && total(window) <= 200);
  const ahead = runtime.selectRecentTail(turn, 300, { latestUserGoal: goal });
  assert.deepEqual([ahead[0] === goal, faults(ahead)], [true, []]);
  assert.ok(total(ahead) <= 300);
  const short = runtime.selectRecentTail(turn, 120, { latestUserGoal: goal });
  assert.deepEqual([short[0].role, pi.estimateTokens(short[0])], ["user", 60], "half of the budget");
  const all = runtime.selectRecentTail(turn, 100_000, { latestUserGoal: goal });
  assert.equal(all.filter((/** @type {Message} */ message) => message === goal).length, 1);
  const elsewhere = user("said before the range");
  const from = runtime.selectRecentTail(turn, 300, { latestUserGoal: elsewhere });
  assert.deepEqual([from[0] === elsewhere, faults(from)], [true, []]);
  assert.ok(total(from) <= 300);
  assert.deepEqual(runtime.selectRecentTail([], 200, { latestUserGoal: goal }), [goal]);
});

test("C29 truncateMessageToTail cuts every kind of message visibly and within its tokens", () => {
  const thinking = { type: "thinking", thinking: "t".repeat(4_000) };
  const large = { path: "a.ts", content: "line\n".repeat(800) };
  const messages = frozen([
    user(1_000),
    answer("word ".repeat(800)),
    answer("word ".repeat(800), "error"),
    result("a", "out ".repeat(1_000)),
    { ...call("a", large), content: [thinking, ...call("a", large).content, ...call("b").content] },
    { role: "bashExecution", command: "ls", output: "file\n".repeat(900), exitCode: 0, cancelled: false },
    { role: "custom", customType: "note", content: "note ".repeat(900), display: true },
  ]);
  for (const message of messages) {
    assert.equal(runtime.truncateMessageToTail(message, 5_000), message);
    const cut = runtime.truncateMessageToTail(message, 200);
    assert.ok(pi.estimateTokens(cut) <= 200, `${message.role}: ${pi.estimateTokens(cut)}`);
    assert.ok(JSON.stringify(cut).includes("cut to fit the kept context"), message.role);
    const { content, output, ...rest } = cut;
    assert.deepEqual({ ...message, ...rest }, message, "only the text is another");
    const calls = (/** @type {any} */ { content }) =>
      content.filter?.(({ type }) => type === "toolCall").length;
    if (message.role === "assistant") assert.equal(calls(cut), calls(message));
  }
  const { content } = runtime.truncateMessageToTail(frozen(user("x".repeat(900))), 50);
  assert.ok(content.includes(runtime.CHECKPOINT_TRUNCATION_MARKER));
});

test("C28 stripDanglingToolCalls takes calls out, and nothing else", () => {
  const spoken = { ...call("a"), content: [{ type: "text", text: "I read" }, ...call("a").content] };
  assert.deepEqual(runtime.stripDanglingToolCalls(frozen(spoken)).content, [
    { type: "text", text: "I read" },
  ]);
  assert.deepEqual(runtime.stripDanglingToolCalls(frozen(call("a"))).content, []);
  for (const message of [answer("done"), user("go"), result("a")]) {
    assert.equal(runtime.stripDanglingToolCalls(message), message);
  }
});

test("isRetainedTailMessage knows the messages of a model", () => {
  for (const message of [user("a"), { role: "user", content: [] }, answer("b"), call("c"), result("c")]) {
    assert.equal(runtime.isRetainedTailMessage(message), true, JSON.stringify(message));
  }
  const others = [
    undefined,
    null,
    1,
    "user",
    [],
    {},
    { role: "user" },
    { role: "assistant", content: "text" },
  ];
  const pis = [
    { role: "custom", content: "note" },
    { role: "bashExecution", command: "ls" },
  ];
  for (const value of [...others, ...pis]) assert.equal(runtime.isRetainedTailMessage(value), false);
});

test("C19 C22 C27 replayRetainedTail", () => {
  for (const value of [undefined, null, {}, "[]", { retainedTail: [] }]) {
    assert.equal(runtime.replayRetainedTail(value), undefined);
  }
  const whole = { ...answer("done"), timestamp: 5 };
  const stored = [null, 7, { role: "custom", content: "note" }, result("gone"), user("go"), whole];
  const replayed = runtime.replayRetainedTail(frozen([...stored, answer("no", "error"), call("open")]));
  assert.deepEqual(replayed, [{ ...user("go"), timestamp: 0 }, whole]);
  assert.equal(replayed[1], whole);
  assert.deepEqual(runtime.replayRetainedTail([]), []);
  for (let seed = 0; seed < 50; seed++) {
    assert.deepEqual(faults(runtime.replayRetainedTail(soundTranscript(seed))), [], `seed ${seed}`);
  }
});

test("retainedUserMessageBudget and selectRetainedUserMessages", () => {
  const budgets = [0, 1, 2, 4_096, 39_999, 40_000, 168_000];
  const expected = [1, 1, 1, 2_048, 19_999, 20_000, 20_000];
  assert.deepEqual(
    budgets.map((hardLimit) => runtime.retainedUserMessageBudget({ hardLimit })),
    expected,
  );
  const candidates = frozen([user(100), user(200), user(300)]);
  const select = (/** @type {number} */ most) => runtime.selectRetainedUserMessages(candidates, most);
  assert.deepEqual([select(600), select(300)], [candidates, candidates.slice(2)]);
  const crossed = select(400);
  assert.deepEqual([crossed.length, crossed[1] === candidates[2]], [2, true]);
  assert.ok(total(crossed) <= 400 && total(crossed) > 380, "the one that crosses is cut, not dropped");
  assert.deepEqual(select(302), candidates.slice(2), "what no cut makes fit is dropped");
  assert.equal(select(0).length, 1, "the newest stays");
  assert.deepEqual(runtime.selectRetainedUserMessages([], 100), []);
});

test("A55 B19 G19 stored checkpoints: mark and notice", async () => {
  const record = { id: "c", throughMessageId: "m", summary: "x".repeat(9), tokensBefore: 1, createdAt: 0 };
  const mark = { id: "c", throughMessageId: "m", generation: 1, summaryTokens: 3, summarized: true };
  const marked = (/** @type {object} */ details) => runtime.contextCompactionMark({ ...record, details });
  assert.deepEqual(runtime.contextCompactionMark(record), mark);
  assert.deepEqual(marked({ generation: 4 }), { ...mark, generation: 4 });
  assert.deepEqual(marked({ generation: 0 }), mark);
  assert.deepEqual(marked({ strategy: "fresh_window" }), { ...mark, summarized: false });
  assert.deepEqual(marked({ fallback: "retained_tail" }), { ...mark, fallback: "retained_tail" });
  const request = {
    reason: /** @type {const} */ ("threshold"),
    preparation: input([user("go"), answer("done")], { previousSummary: "What was done." }),
    budget: runtime.contextBudgetLimitsFor(SMALL),
    leafIsCheckpoint: true,
    summarizer: /** @type {const} */ ({ kind: "extractive" }),
  };
  const outcome = await pi.compactWithRecovery(/** @type {any} */ (request));
  assert.equal(outcome.kind, "fallback");
  const { summary } = /** @type {any} */ (outcome).checkpoint;
  assert.notEqual(summary, "What was done.");
  assert.equal(runtime.stripCompactionFallbackNotice(summary), "What was done.");
});
