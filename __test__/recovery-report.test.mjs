// What a recovery says of itself: sizes by one ruler, each step that was taken, the first cause.

import assert from "node:assert/strict";
import test from "node:test";
import { contextBudget } from "../index.js";
import { failed, prepared, windowed } from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import { DENIED, denied, recover, stored, textTokens, total } from "./support/recovery.mjs";
import { turns } from "./support/refine.mjs";
import { answer, userOfTokens } from "./support/sound.mjs";

const WORDS = frozen([{ role: "user", content: "Port the tokenizer." }, answer("The scanner is done.")]);
const SHORT = frozen(prepared(WORDS));
const { hardLimit } = contextBudget({ contextWindow: 200_000, maxTokens: 32_000 });
const wide = (/** @type {any[]} */ ...script) => windowed(200_000, 32_000, script);
const STRATEGIES = /** @type {const} */ (["chain", "refine"]);

test("G18 refine: the report measures before and after by the ruler of the context, not of its prompts", async () => {
  const range = [{ role: "user", content: "x".repeat(3_990) }];
  const retainedTail = [{ role: "user", content: "And the docs, with every option." }];
  const previousCheckpoint = { summary: "p".repeat(1_001) };
  for (const sizing of [{}, { charsPerToken: 2.5 }, { refine: { charsPerToken: 2 } }]) {
    const charsPerToken = /** @type {any} */ (sizing).charsPerToken;
    const all = total([...range, ...retainedTail], { charsPerToken });
    const before = all + textTokens(previousCheckpoint.summary, charsPerToken);
    for (const units of [300, 3_300, 4_100, 6_000]) {
      const more = { strategy: "refine", previousCheckpoint, ...sizing };
      const preparation = frozen(prepared(range, { retainedTail }));
      const { outcome } = await recover(wide("s".repeat(units)), preparation, more);
      assert.equal(outcome?.kind, "summary");
      const { checkpoint, report } = outcome;
      const after = textTokens(checkpoint.summary, charsPerToken) + total(retainedTail, { charsPerToken });
      assert.deepEqual([report.tokensBefore, report.tokensAfter], [before, after], `${units}`);
      assert.equal(report.shrank, after < before);
    }
  }
});

test("B37 an extractive recovery tells of its plan, as an event and as a stage", async () => {
  const summarizer = { kind: "extractive" };
  const { outcome, events } = await recover(wide(), SHORT, { summarizer });
  assert.equal(outcome.kind, "summary");
  assert.ok(events.some(({ type }) => type === "plan"));
  assert.deepEqual(outcome.report.stages, ["plan", "recheck"]);
});

test("G18 a checkpoint no smaller than its range is an event and stands in the report, whoever wrote it", async () => {
  const range = prepared([{ role: "user", content: "x" }]);
  const long = "A summary that is much longer than what it stands for. ".repeat(20);
  for (const more of [
    { strategy: "chain" },
    { strategy: "refine" },
    { summarizer: { kind: "extractive" } },
  ]) {
    const { outcome, events } = await recover(wide(long), range, more);
    assert.equal(outcome.kind, "summary");
    assert.equal(outcome.report.shrank, false);
    const heard = events.filter(({ type }) => type === "warning").map(({ message }) => message);
    assert.deepEqual(outcome.report.warnings, heard);
    assert.ok(
      heard.some((message) => /no smaller/.test(message)),
      `${JSON.stringify(more)}: ${heard}`,
    );
  }
});

test("where not even the shortest summary fits, no request is made; where one would, it is", async () => {
  const range = prepared(turns(40, 8_000));
  for (const strategy of STRATEGIES) {
    for (const reason of ["threshold", "overflow", "manual"]) {
      for (const beside of [
        { fixedTokens: hardLimit },
        { fixedTokens: hardLimit + 5 },
        { fixedTokens: Number.MAX_SAFE_INTEGER },
        { pendingMessages: [userOfTokens(hardLimit + 5)] },
        { fixedTokens: hardLimit / 2, pendingMessages: [userOfTokens(hardLimit / 2 + 5)] },
      ]) {
        const { outcome, calls, events } = await recover(wide("S"), range, { strategy, reason, ...beside });
        assert.deepEqual([outcome.kind, outcome.error.code], ["failed", "checkpoint_oversized"]);
        assert.deepEqual([calls.length, outcome.report.requests], [0, 0]);
        assert.ok(!events.some(({ type }) => type === "request"));
      }
      const more = { strategy, reason, fixedTokens: hardLimit - 2_000 };
      const { outcome, calls } = await recover(wide("S"), range, more);
      assert.deepEqual([outcome.kind, calls.length > 0], ["summary", true]);
    }
  }
});

test("a tail that leaves a summary no room costs no request, and a smaller one takes its place", async () => {
  const retainedTail = Array.from({ length: 40 }, () => userOfTokens(hardLimit / 30));
  const preparation = frozen(prepared(WORDS, { retainedTail }));
  for (const strategy of STRATEGIES) {
    const { outcome, calls } = await recover(wide("S"), preparation, { strategy });
    assert.deepEqual([outcome.kind, calls.length], ["fallback", 0]);
    assert.equal(outcome.checkpoint.details.failureReason, "checkpoint_oversized");
    assert.ok(total(outcome.checkpoint.retainedTail) < hardLimit / 4);
    const manual = await recover(wide("S"), preparation, { strategy, reason: "manual" });
    assert.deepEqual([manual.outcome.kind, manual.calls.length], ["failed", 0]);
  }
});

test("B15 C41 gsd-2 PR#4690 a range that prints nothing is nothing new: no request about an empty record", async () => {
  const silent = [
    { role: "user", content: "" },
    { role: "user", content: [] },
    { role: "assistant", content: [], stopReason: "stop" },
    { role: "notification", content: "not for a model" },
  ];
  for (const strategy of STRATEGIES) {
    for (const summary of [undefined, "OLD"]) {
      const previousCheckpoint = summary === undefined ? undefined : { summary };
      const preparation = frozen(prepared(silent, { retainedTail: WORDS }));
      const { outcome, calls } = await recover(wide("S"), preparation, { strategy, previousCheckpoint });
      assert.equal(calls.length, 0, strategy);
      assert.deepEqual([outcome.kind, outcome.error.code], ["fallback", "no_new_history"]);
      assert.equal(outcome.checkpoint.details.failureReason, "no_new_history");
      const more = { strategy, previousCheckpoint, reason: "manual" };
      const manual = await recover(wide("S"), preparation, more);
      assert.deepEqual([manual.outcome.error.code, manual.calls.length], ["no_new_history", 0]);
    }
  }
});

/** Why there is no summary, and what was done until then. @type {[string, () => any, string, string[]][]} */
const CAUSES = [
  ["a refused key", denied, "summary_provider", ["plan", "request", "fallback"]],
  ["an overload", () => wide(failed("503")), "summary_provider", ["plan", "request", "fallback"]],
  ["a blank answer", () => wide(" "), "summary_empty", ["plan", "request", "fallback"]],
  [
    "a summary beyond everything",
    () => wide("S".repeat(9_000)),
    "checkpoint_oversized",
    ["plan", "request", "recheck", "fallback"],
  ],
];

for (const [title, by, code, stages] of CAUSES) {
  test(`B29 B37 not even a fallback fits: the cause is ${title}, and no step is told of that was not taken`, async () => {
    for (const left of [2, 10, 20]) {
      const more = { fixedTokens: hardLimit - left };
      const { outcome } = await recover(by(), SHORT, more);
      assert.deepEqual([outcome.kind, outcome.error.code], ["failed", "checkpoint_oversized"], `${left}`);
      assert.equal(outcome.error.cause?.name, "CompactionError");
      assert.equal(outcome.error.cause.code, code);
      assert.deepEqual(outcome.report.stages, stages);
      const manual = (await recover(by(), SHORT, { ...more, reason: "manual" })).outcome;
      assert.deepEqual([manual.kind, manual.error.code], ["failed", code], "a person hears of it itself");
      assert.equal(manual.error.message, outcome.error.cause.message);
      assert.deepEqual(
        manual.report.stages,
        stages.filter((stage) => stage !== "fallback"),
      );
    }
  });
}

test("B4 B29 what the host's client threw stands behind both", async () => {
  const thrown = Object.assign(new Error("401 invalid x-api-key"), { status: 401 });
  const { outcome } = await recover(wide(thrown), SHORT, { fixedTokens: hardLimit - 10 });
  assert.deepEqual([outcome.kind, outcome.error.code], ["failed", "checkpoint_oversized"]);
  assert.deepEqual([outcome.error.cause.code, outcome.error.cause.status], ["summary_provider", 401]);
  assert.equal(outcome.error.cause.cause, thrown);
  assert.ok(!JSON.stringify(outcome).includes("x-api-key"), "B38 the provider's words are not stored");
});

test("B15 B37 nothing can be replayed: the first error itself, and no fallback among the stages", async () => {
  const broken = prepared([answer("half", "aborted")]);
  const { outcome } = await recover(wide(DENIED), broken, { previousCheckpoint: { summary: "OLD" } });
  assert.deepEqual([outcome.kind, outcome.error.code], ["failed", "summary_provider"]);
  assert.deepEqual(outcome.report.stages, ["plan", "request"]);
});

test("B8 the leaf is the checkpoint: `tokensBefore` is what it stood for, never 0", async () => {
  const previousCheckpoint = { summary: "p".repeat(401) };
  const transcript = [...WORDS, ...turns(20, 400)];
  const leaf = { leafIsCheckpoint: true, previousCheckpoint };
  const whole = total(transcript) + textTokens(previousCheckpoint.summary);
  const given = total(WORDS) + textTokens(previousCheckpoint.summary);
  for (const [preparation, more, before] of /** @type {[any, object, number][]} */ ([
    [prepared([]), { transcript }, whole],
    [SHORT, {}, given],
    [SHORT, { transcript }, whole],
    [prepared([], { retainedTail: WORDS }), {}, given],
    [prepared(WORDS, { tokensBefore: 77 }), {}, 77],
  ])) {
    const { outcome, calls } = await recover(wide("NEVER ASKED"), preparation, { ...leaf, ...more });
    assert.deepEqual([outcome.kind, calls.length], ["fallback", 0]);
    assert.equal(outcome.checkpoint.tokensBefore, before);
  }
});

test("generations end at the largest safe integer, and the next run still takes it", async () => {
  const generation = Number.MAX_SAFE_INTEGER;
  for (const by of [() => wide("S"), denied]) {
    let previousCheckpoint = /** @type {any} */ ({ summary: "OLD", details: { generation } });
    const silent = (await recover(by(), SHORT)).outcome.report.warnings;
    for (let round = 0; round < 3; round++) {
      const { outcome } = await recover(by(), SHORT, { previousCheckpoint });
      assert.equal(outcome.checkpoint.details.generation, generation);
      assert.deepEqual(outcome.report.warnings, silent, "nothing is unusable");
      previousCheckpoint = stored(outcome.checkpoint);
    }
  }
});
