import assert from "node:assert/strict";
import test from "node:test";
import {
  compactionSummaryWouldExceedBudget,
  contextBudget,
  estimateSummaryPromptTokens,
  estimateTokens,
  serializeConversation,
} from "../index.js";
import { frozen } from "./support/random.mjs";
import { promptTokens } from "./support/reference.mjs";
import { answer, exchange, toolCalls, userOfTokens } from "./support/sound.mjs";

/** F1: window, max output, headroom, hard, keepRecent, summary output, guard limit, a quarter of hard, fallback chars. */
const F1 = [
  [8_192, 8_192, 4_096, 4_096, 2_048, 3_276, 2_868, 1_024, 3_072],
  [16_384, 8_192, 8_192, 8_192, 4_096, 6_553, 7_783, 2_048, 6_144],
  [32_768, 8_192, 16_384, 16_384, 8_000, 8_192, 22_528, 4_096, 12_000],
  [32_768, 32_000, 16_384, 16_384, 8_000, 13_107, 17_613, 4_096, 12_000],
  [65_536, 32_000, 16_384, 49_152, 9_830, 13_107, 50_381, 12_288, 12_000],
  [128_000, 8_192, 16_384, 111_616, 22_323, 8_192, 117_760, 27_904, 12_000],
  [128_000, 32_000, 32_000, 96_000, 19_200, 25_600, 100_352, 24_000, 12_000],
  [200_000, 8_192, 16_384, 183_616, 36_723, 8_192, 189_760, 45_904, 12_000],
  [200_000, 32_000, 32_000, 168_000, 33_600, 25_600, 172_352, 42_000, 12_000],
  [272_000, 32_000, 32_000, 240_000, 48_000, 25_600, 244_352, 60_000, 12_000],
  [1_000_000, 32_000, 50_000, 950_000, 64_000, 32_000, 965_952, 237_500, 12_000],
];

const MODEL = { contextWindow: 200_000, maxTokens: 32_000 };
const BUDGET = contextBudget(MODEL);

/** @param {readonly object[]} messagesToSummarize @param {object} more @returns {any} */
function input(messagesToSummarize, more = {}) {
  return frozen({ messagesToSummarize, turnPrefixMessages: [], isSplitTurn: false, ...more });
}

/**
 * The guard's limit, found from outside: the smallest prompt that exceeds.
 *
 * @param {any} budget @param {any} model @param {any} options @param {object} more of the input
 */
function limitOf(budget, model, options = {}, more = {}) {
  let fits = 2;
  let exceeds = 2_000_000;
  while (exceeds - fits > 1) {
    const middle = Math.floor((fits + exceeds) / 2);
    const size = estimateSummaryPromptTokens(input([userOfTokens(middle)], more), options);
    const verdict = compactionSummaryWouldExceedBudget(
      input([userOfTokens(middle)], more),
      budget,
      model,
      options,
    );
    if (verdict) exceeds = middle;
    else fits = middle;
    assert.ok(size >= middle);
  }
  return exceeds;
}

for (const [window, output, ...columns] of F1) {
  test(`F1 budgets of a window of ${window} and an output of ${output}`, () => {
    const budget = contextBudget(frozen({ contextWindow: window, maxTokens: output }));
    const [requestHeadroom, hardLimit, keepRecentTokens, summaryOutput, summaryInputLimit, tail, chars] =
      columns;
    assert.deepEqual(budget, {
      hardLimit,
      requestHeadroom,
      keepRecentTokens,
      summaryOutput,
      summaryInputLimit,
      fallbackTailTokens: tail,
      fallbackSummaryChars: chars,
    });
  });

  test(`A39 A40 B12 F1 the guard's own limit at a window of ${window} and an output of ${output}`, () => {
    const [requestHeadroom, hardLimit] = columns;
    const budget = frozen({ hardLimit, requestHeadroom });
    const model = frozen({ contextWindow: window, maxTokens: output });
    assert.equal(limitOf(budget, model), columns[4]);
    assert.equal(limitOf(budget, { maxTokens: output }), columns[4], "G15: the budget's own window");
  });
}

test("F1 an unknown window is 128,000 and an unknown output 8,192", () => {
  const known = contextBudget({ contextWindow: 128_000, maxTokens: 8_192 });
  assert.deepEqual(contextBudget({}), known);
  assert.deepEqual(contextBudget({ contextWindow: 0, maxTokens: 0 }), known);
  assert.deepEqual(contextBudget({ contextWindow: undefined, maxTokens: undefined }), known);
});

test("A40 F4 A41 limit − 1 fits, the limit itself exceeds", () => {
  const limit = BUDGET.summaryInputLimit;
  assert.equal(estimateSummaryPromptTokens(input([userOfTokens(limit)])), limit);
  assert.equal(compactionSummaryWouldExceedBudget(input([userOfTokens(limit - 1)]), BUDGET, MODEL), false);
  assert.equal(compactionSummaryWouldExceedBudget(input([userOfTokens(limit)]), BUDGET, MODEL), true);
});

test("A41 F4 the previous summary counts on the history side, alone too", () => {
  const previousSummary = "s".repeat(BUDGET.summaryInputLimit * 4);
  const alone = input([], { previousSummary });
  assert.equal(compactionSummaryWouldExceedBudget(alone, BUDGET, MODEL), true);
  const small = { previousSummary: "s".repeat(400) };
  assert.equal(estimateSummaryPromptTokens(input([userOfTokens(1_000)], small)), 1_100);
  const split = { ...small, isSplitTurn: true, turnPrefixMessages: [userOfTokens(1_000)] };
  assert.equal(estimateSummaryPromptTokens(input([], split)), 1_000, "it is not added to the prefix side");
});

test("A42 F4 a prefix ten times the history counts only in a split turn", () => {
  const prefix = { turnPrefixMessages: [userOfTokens(BUDGET.summaryInputLimit)] };
  const history = [userOfTokens(BUDGET.summaryInputLimit / 10)];
  const whole = input(history, prefix);
  const split = input(history, { ...prefix, isSplitTurn: true });
  assert.equal(compactionSummaryWouldExceedBudget(whole, BUDGET, MODEL), false);
  assert.equal(compactionSummaryWouldExceedBudget(split, BUDGET, MODEL), true);
  for (const isSplitTurn of [undefined, false]) {
    assert.equal(
      estimateSummaryPromptTokens(input(history, { ...prefix, isSplitTurn })),
      promptTokens("pi-0.87", whole),
    );
  }
});

test("A38 a split turn counts the larger of its two requests, not the sum", () => {
  const two = Math.floor(BUDGET.summaryInputLimit * 0.9);
  const split = input([userOfTokens(two)], {
    isSplitTurn: true,
    turnPrefixMessages: [userOfTokens(two - 5)],
  });
  assert.equal(estimateSummaryPromptTokens(split), two);
  assert.equal(compactionSummaryWouldExceedBudget(split, BUDGET, MODEL), false);
});

test("F4 an empty range is 0 tokens and fits, whatever the limit", () => {
  const nothing = { hardLimit: 0, requestHeadroom: 0 };
  assert.equal(estimateSummaryPromptTokens(input([])), 0);
  assert.equal(compactionSummaryWouldExceedBudget(input([]), BUDGET, MODEL), false);
  assert.equal(compactionSummaryWouldExceedBudget(input([]), nothing), false);
  assert.equal(compactionSummaryWouldExceedBudget(input([userOfTokens(3)]), nothing), true);
});

test("A10 A11 A12 A36 PI-Desktop#543 tool output of 190k to 885k raw tokens fits a 200k window", () => {
  for (const [results, chars] of [
    [60, 13_000],
    [150, 20_000],
    [177, 20_000],
  ]) {
    const messages = [
      { role: "user", content: "go" },
      ...toolCalls(results, "line of output\n".repeat(chars / 15)),
    ];
    const raw = messages.reduce((sum, message) => sum + estimateTokens(message), 0);
    assert.ok(raw > 190_000 && raw < 890_000, `${raw}`);
    assert.ok(raw > BUDGET.summaryInputLimit);
    assert.equal(compactionSummaryWouldExceedBudget(input(messages), BUDGET, MODEL), false);
  }
});

test("pi-claude-bridge#18 the larger request decides, each on its own", () => {
  const history = exchange(1_035, 1_207_541);
  const prefix = exchange(3, 6_662);
  const split = input(history, { isSplitTurn: true, turnPrefixMessages: prefix });
  assert.equal(estimateSummaryPromptTokens(split), Math.ceil(1_207_541 / 4));
  assert.equal(
    estimateSummaryPromptTokens(input([], { isSplitTurn: true, turnPrefixMessages: prefix })),
    1_666,
  );
  assert.equal(compactionSummaryWouldExceedBudget(split, BUDGET, MODEL), true);
  assert.equal(compactionSummaryWouldExceedBudget(split, BUDGET, { contextWindow: 1_000_000 }), false);
  assert.equal(compactionSummaryWouldExceedBudget(input(prefix), BUDGET, MODEL), false);
});

test("openclaw#10423 the prompt that will be sent decides, not what the provider reported last", () => {
  const usage = { totalTokens: 70_000, input: 70_000, output: 0, cacheRead: 0, cacheWrite: 0 };
  const report = { role: "assistant", content: [], stopReason: "stop", usage };
  const split = { isSplitTurn: true, turnPrefixMessages: [userOfTokens(209_809), report] };
  assert.equal(compactionSummaryWouldExceedBudget(input([], split), BUDGET, MODEL), true);
});

test("senpi PR#1425 a stated input limit caps the prompt, whatever the window", () => {
  const model = { contextWindow: 1_050_000, maxTokens: 8_192 };
  const capped = frozen({ ...model, maxInputTokens: 922_000 });
  const budget = contextBudget(model);
  const between = input([userOfTokens(930_000)]);
  assert.equal(compactionSummaryWouldExceedBudget(between, budget, model), false);
  assert.equal(compactionSummaryWouldExceedBudget(between, budget, capped), true);
  assert.equal(compactionSummaryWouldExceedBudget(input([userOfTokens(900_000)]), budget, capped), false);
  const limits = contextBudget(capped);
  assert.ok(limits.summaryInputLimit <= 922_000, `${limits.summaryInputLimit}`);
  assert.equal(limits.summaryInputLimit, limitOf(budget, capped), "one limit for the guard and the planner");
});

test("G15 the summary model's window stands where it is known", () => {
  const larger = limitOf(BUDGET, { contextWindow: 500_000, maxTokens: 32_000 });
  assert.equal(larger, 500_000 - BUDGET.summaryOutput - 2_048);
  const smaller = limitOf(BUDGET, { contextWindow: 64_000, maxTokens: 32_000 });
  assert.equal(smaller, 64_000 - BUDGET.summaryOutput - 2_048);
  const small = limitOf(BUDGET, { contextWindow: 8_192, maxTokens: 8_192 });
  assert.equal(small, 8_192 / 2 - 2_048, "the answer takes no more than half of it");
  assert.equal(limitOf(BUDGET, { contextWindow: 0, maxTokens: 32_000 }), BUDGET.summaryInputLimit);
  assert.equal(limitOf(BUDGET, undefined), 200_000 - 8_192 - 2_048, "an unknown output is 8,192");
});

test("G16 the margin pays for template and instructions; only the excess counts", () => {
  const limit = limitOf(BUDGET, MODEL);
  assert.equal(limitOf(BUDGET, MODEL, { customInstructions: "Keep the paths." }), limit);
  const larger = limitOf(BUDGET, MODEL, { customInstructions: "i".repeat(20_000) });
  const largest = limitOf(BUDGET, MODEL, { customInstructions: "i".repeat(40_000) });
  assert.equal(larger - largest, 5_000);
  assert.ok(limit - largest <= 10_000 && limit - largest >= 10_000 - 2_048, `${limit - largest}`);
});

test("G16 the host's own prompts count, each with the request that it belongs to", () => {
  const limit = limitOf(BUDGET, MODEL);
  const long = "p".repeat(40_000);
  for (const name of ["system", "initial"]) {
    assert.ok(limitOf(BUDGET, MODEL, { prompts: { [name]: long } }) < limit - 7_000, name);
  }
  const update = { prompts: { update: long } };
  assert.ok(limitOf(BUDGET, MODEL, update, { previousSummary: "s" }) < limit - 7_000);
  assert.equal(limitOf(BUDGET, MODEL, { prompts: { system: "Summarize.", initial: "Now." } }), limit);
});

test("D97 G8 sizes are those of the text: nothing is added for an answer or a tool result", () => {
  for (const messages of [
    [answer("a".repeat(10))],
    toolCalls(30, "o".repeat(300)),
    toolCalls(30, "o".repeat(9_000)),
  ]) {
    const units = serializeConversation(messages).length;
    assert.equal(estimateSummaryPromptTokens(input(messages), { charsPerToken: 1 }), units);
  }
});

test("A37 D93 the ratio of units to tokens is the host's to set", () => {
  const messages = [userOfTokens(1_000)];
  assert.equal(estimateSummaryPromptTokens(input(messages), { charsPerToken: 3 }), Math.ceil(4_000 / 3));
  assert.equal(estimateSummaryPromptTokens(input(messages), { charsPerToken: 2.5 }), 1_600);
});
