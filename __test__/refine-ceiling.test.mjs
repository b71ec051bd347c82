import assert from "node:assert/strict";
import test from "node:test";
import { refineBudgets, serializeConversation } from "../index.js";
import { failed, instructionsOf, prepared, previousOf, says, sentTokens } from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import {
  CHARS,
  chunkCalls,
  eventsOf,
  isCompression,
  marksOf,
  modelOf,
  numbered,
  recordOf,
  refined,
  turns,
  upTo,
  WORDS,
} from "./support/refine.mjs";

const LIMITS = frozen({ contextWindow: 32_768, maxTokens: 32_000 });
const MAIN = frozen({ contextWindow: 4 * 32_768 });
const { maxPromptTokens, maxOutputTokens, summaryCeilingTokens } = refineBudgets({ summaryModel: LIMITS });
/** Four chunks. */
const TURNS = frozen(turns(8, 6_000));

/** A summary of so many tokens. @param {string} name @param {number} tokens */
const summary = (name, tokens) => `${name} `.padEnd(tokens * CHARS, "s");

/**
 * Answers of so many tokens, and what is given to a compression.
 *
 * @param {number} tokens @param {(call: any) => any} compress
 */
const growing = (tokens, compress) => (/** @type {any} */ made) =>
  isCompression(made) ? compress(made) : summary(`S${made.index}`, tokens);

/** @param {(call: any) => any} rule @param {object} more @param {object} preparation */
const refine = (rule, more = {}, preparation = prepared(TURNS)) =>
  refined(modelOf(rule, LIMITS), preparation, { mainModel: MAIN, prompts: WORDS, ...more });

/** The numbers in the last line of a prompt. @param {string} prompt */
const aims = (prompt) =>
  (prompt.trim().split("\n").at(-1) ?? "").replaceAll(",", "").match(/\d+/g)?.map(Number) ?? [];

/** A prompt names the length to aim for, in tokens or in units. @param {string} prompt @param {number} tokens */
function assertAims(prompt, tokens) {
  const near = (/** @type {number} */ number) =>
    Math.abs(number - tokens) <= 1 || Math.abs(number - tokens * CHARS) <= CHARS;
  assert.ok(aims(prompt).some(near), `${aims(prompt)} has none for ${tokens} tokens`);
}

test("D46 D72 a running summary above the ceiling is compressed before the next chunk", async () => {
  const { result, error, calls, events } = await refine(growing(10_000, () => "SHORT"));
  assert.equal(error, undefined);
  assert.deepEqual(
    calls.map(isCompression),
    [false, true, false, true, false, true, false],
    "not after the last",
  );
  for (const index of [1, 3, 5]) {
    const { prompt, system, options } = calls[index];
    assert.equal(previousOf(prompt), summary(`S${index - 1}`, 10_000), "the whole of it");
    assert.ok(!prompt.includes("conversation>"), "no record");
    assert.match(instructionsOf(prompt), /^COMPRESS-WORDS\n[\s\S]*\d/);
    assert.equal(system, "SYSTEM-WORDS");
    assert.equal(options.maxTokens, maxOutputTokens);
    assert.equal(previousOf(calls[index + 1].prompt), "SHORT");
  }
  assert.equal(result.details.shrinkCount, 3);
  assert.deepEqual(
    eventsOf(events, "compress").map(({ tokensBefore, tokensAfter }) => [tokensBefore, tokensAfter]),
    Array.from({ length: 3 }, () => [10_000, 2]),
  );
  assert.equal(recordOf(calls), serializeConversation(TURNS));
  assert.equal(result.details.requests, 7);
});

test("D72 the ceiling itself is not above it", async () => {
  const at = await refine(growing(summaryCeilingTokens, () => "SHORT"));
  assert.equal(at.calls.filter(isCompression).length, 0);
  const above = await refine(growing(summaryCeilingTokens + 1, () => "SHORT"));
  assert.equal(above.calls.filter(isCompression).length, 3);
});

test("D73 it aims at 60 percent, and says so in the last line", async () => {
  for (const tokens of [8_000, 9_000, 10_000]) {
    const { calls } = await refine(growing(tokens, () => "SHORT"));
    const asked = calls.filter(isCompression);
    assert.equal(asked.length, 3);
    for (const { prompt } of asked) assertAims(prompt, tokens * 0.6);
  }
});

test("D74 G6 it aims at no less than 2,000 tokens, nor at more than the ceiling", async () => {
  for (const [ceiling, tokens, aim] of [
    [2_500, 3_000, 2_000],
    [2_500, 5_000, 3_000],
    [1_000, 1_500, 1_000],
    [500, 4_000, 2_400],
    [500, 700, 500],
  ]) {
    const { calls, error } = await refine(
      growing(tokens, () => "SHORT"),
      {
        refine: { summaryCeilingTokens: ceiling },
      },
    );
    assert.equal(error, undefined);
    const asked = calls.filter(isCompression);
    assert.equal(asked.length, 3, `${ceiling}`);
    for (const { prompt } of asked) assertAims(prompt, aim);
  }
});

test("D79 an explicit ceiling beats the formula", async () => {
  const explicit = { refine: { summaryCeilingTokens: 100 } };
  const { calls, result } = await refine(
    growing(150, () => "SHORT"),
    explicit,
  );
  assert.equal(calls.filter(isCompression).length, 3);
  assert.equal(result.details.budgets.summaryCeilingTokens, 100);
  const wide = await refine(
    growing(8_500, () => "SHORT"),
    { refine: { summaryCeilingTokens: 9_000 } },
  );
  assert.equal(wide.calls.filter(isCompression).length, 0);
});

test("D79 D80 a ceiling of next to nothing does not end a run that has begun", async () => {
  const giant = { role: "user", content: `⟦8⟧ ${"x".repeat(100_000)}` };
  const messages = [...TURNS, giant, ...turns(2, 6_000, 9)];
  for (const ceiling of [0, 1, 50, 85]) {
    for (const compress of [() => "SHORT", () => summary("C", 120), () => failed("400 no")]) {
      const { error, calls } = await refine(
        growing(200, compress),
        { refine: { summaryCeilingTokens: ceiling, maxPromptTokens: 8_000 } },
        prepared(messages),
      );
      if (calls.length > 0) assert.equal(error, undefined, `${ceiling}: ${error}`);
      else assert.equal(error?.code, "summary_budget");
      for (const made of calls) assert.ok(sentTokens(made, CHARS) <= 8_000);
      if (error === undefined) assert.deepEqual(marksOf(recordOf(calls)), upTo(11));
    }
  }
});

test("D46 a previous summary above the ceiling is compressed before the first chunk", async () => {
  const previousSummary = summary("OLD", 9_000);
  const { calls } = await refine(
    growing(10, () => "SHORT"),
    {},
    prepared(TURNS, { previousSummary }),
  );
  assert.ok(isCompression(calls[0]));
  assert.equal(previousOf(calls[0].prompt), previousSummary);
  assert.equal(previousOf(calls[1].prompt), "SHORT");
  assert.equal(calls.filter(isCompression).length, 1);
});

/** What a compression may come to. @type {Record<string, any>} */
const FAILED = {
  "a malformed request": failed("400 invalid_request_error"),
  "a used-up quota": failed("429 insufficient_quota"),
  "an overload that stays": failed("529 overloaded"),
  "a prompt too long": failed("prompt is too long: 20000 tokens > 16000 maximum"),
  "a cut-off answer": says("cut off", { stopReason: "length" }),
  "an empty answer": says(""),
  "a refusal": says("no", { stopReason: "refusal" }),
  "a ghost abort": says("partial", { stopReason: "aborted" }),
  "a thrown error": new Error("socket hang up"),
};

for (const [title, bad] of Object.entries(FAILED)) {
  test(`D80 D81 a failed compression is a warning, and the run goes on: ${title}`, async () => {
    const rule = growing(8_000, () => bad);
    const { result, error, calls, events } = await refine(rule);
    assert.equal(error, undefined, `${error}`);
    assert.ok(calls.some(isCompression));
    assert.ok(eventsOf(events, "warning").length > 0);
    assert.equal(eventsOf(events, "compress").length, 0);
    assert.equal(result.details.shrinkCount, 0);
    assert.equal(recordOf(calls), serializeConversation(TURNS));
    for (const made of calls) assert.ok(sentTokens(made, CHARS) <= maxPromptTokens);
    const [, second] = chunkCalls(calls);
    assert.equal(previousOf(second.prompt), summary("S0", 8_000), "uncompressed");
  });
}

test("D81 a compression that fails once is sent again", async () => {
  let tries = 0;
  const rule = growing(10_000, () => (tries++ === 0 ? failed("503") : "SHORT"));
  const { result, calls, error } = await refine(rule);
  assert.equal(error, undefined);
  assert.equal(calls[1].prompt, calls[2].prompt);
  assert.equal(previousOf(calls[3].prompt), "SHORT");
  assert.equal(result.details.shrinkCount, 3);
});

test("D46 D81 after an answer that was no summary, the next chunk's ceiling is looked after again", async () => {
  const once = ["a cut-off answer", "an empty answer", "a refusal", "a ghost abort"];
  for (const title of once) {
    let tries = 0;
    // Of an answer that passes by itself three are needed.
    const fails = () => tries++ < (title.includes("empty") || title.includes("ghost") ? 3 : 1);
    const rule = growing(8_000, () => (fails() ? FAILED[title] : "SHORT"));
    const { result, error } = await refine(rule);
    assert.equal(error, undefined);
    assert.equal(result.details.shrinkCount, 2, title);
  }
});

test("D72 a compression that is no shorter is dropped", async () => {
  for (const tokens of [8_000, 9_000]) {
    const { result, error, calls, events } = await refine(growing(8_000, () => summary("GROWN", tokens)));
    assert.equal(error, undefined);
    assert.ok(calls.some(isCompression));
    for (const { prompt } of calls) assert.doesNotMatch(prompt, /GROWN/);
    assert.equal(result.details.shrinkCount, 0);
    assert.equal(eventsOf(events, "compress").length, 0);
    assert.equal(recordOf(calls), serializeConversation(TURNS));
  }
});

test("D80 an abort in a compression is an abort, and maxRequests its end", async () => {
  const controller = new AbortController();
  const reason = new Error("the person's own");
  const abort = () => {
    controller.abort(reason);
    return "SHORT";
  };
  const aborted = await refine(growing(10_000, abort), { signal: controller.signal });
  assert.equal(aborted.error, reason);
  assert.equal(aborted.calls.length, 2);
  const bounded = await refine(
    growing(10_000, () => failed("503")),
    {
      maxRequests: 5,
      retry: { baseDelayMs: 0, maxRetries: 100 },
    },
  );
  assert.equal(bounded.error?.code, "summary_budget");
  assert.equal(bounded.calls.length, 5);
});

test("openclaw#80641 an enormous previous summary is cut and compressed, and no prompt exceeds the cap", async () => {
  for (const units of [60_000, 200_000, 3_000_000]) {
    const previousSummary = `HEAD ${"p".repeat(units)} TAIL`;
    const { result, error, calls, events } = await refine(
      growing(10, () => "SHORT"),
      {},
      prepared(TURNS, { previousSummary }),
    );
    assert.equal(error, undefined, `${units}: ${error}`);
    assert.ok(isCompression(calls[0]));
    assert.match(previousOf(calls[0].prompt) ?? "", /^HEAD p+[^p]*\[\.\.\.[^\]]+\][^p]*p+ TAIL$/);
    assert.equal(previousOf(calls[1].prompt), "SHORT");
    for (const made of calls) assert.ok(sentTokens(made, CHARS) <= maxPromptTokens, `${units}`);
    assert.ok(eventsOf(events, "warning").length > 0, "a cut is said");
    assert.equal(result.details.shrinkCount, 1);
    assert.equal(recordOf(calls), serializeConversation(TURNS));
  }
});

test("openclaw#80641 an enormous previous summary that nothing compresses still fits beside each chunk", async () => {
  const previousSummary = `HEAD ${"p".repeat(200_000)} TAIL`;
  const rule = growing(10, () => failed("400 no"));
  const { error, calls, events } = await refine(rule, {}, prepared(TURNS, { previousSummary }));
  assert.equal(error, undefined, `${error}`);
  const [first] = chunkCalls(calls);
  assert.match(previousOf(first.prompt) ?? "", /^HEAD p+[^p]*\[\.\.\.[^\]]+\][^p]*p+ TAIL$/);
  for (const made of calls) assert.ok(sentTokens(made, CHARS) <= maxPromptTokens);
  assert.ok(eventsOf(events, "warning").length > 0);
  assert.equal(recordOf(calls), serializeConversation(TURNS));
});

test("D75 D76 answers of the whole allowance and more never bring a prompt above the cap", async () => {
  for (const tokens of [maxOutputTokens, 30_000, 300_000]) {
    for (const compress of [() => "SHORT", () => failed("400 no"), numbered(tokens * CHARS)]) {
      const { error, calls } = await refine(growing(tokens, compress));
      assert.equal(error, undefined, `${tokens}: ${error}`);
      for (const made of calls) assert.ok(sentTokens(made, CHARS) <= maxPromptTokens, `${tokens}`);
      assert.equal(recordOf(calls), serializeConversation(TURNS));
    }
  }
});
