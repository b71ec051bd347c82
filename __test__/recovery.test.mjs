import assert from "node:assert/strict";
import test from "node:test";
import * as native from "../index.js";
import { client, failed, prepared, previousOf, RETRY, run, says, usage, windowed } from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import {
  DENIED,
  denied,
  ENDING,
  held,
  NOTICE,
  PLACEHOLDER,
  recover,
  textTokens,
  total,
} from "./support/recovery.mjs";
import { answer, call, result, toolCalls, userOfTokens } from "./support/sound.mjs";
import { faults } from "./support/soundness.mjs";

const { compactWithRecovery, CompactionError, contextBudget, Transcript } = native;
const WORDS = frozen([{ role: "user", content: "Port the tokenizer." }, answer("The scanner is done.")]);
const SHORT = frozen(prepared(WORDS));
const LONG = frozen(prepared(Array.from({ length: 60 }, () => userOfTokens(1_000))));
const HUGE = frozen(prepared(Array.from({ length: 60 }, () => userOfTokens(20_000))));
const PREVIOUS = frozen({ summary: "## Goal\nShip the parser." });
const TOO_LARGE = failed("prompt is too long: 210000 tokens > 200000 maximum");
const AUTOMATIC = /** @type {const} */ (["threshold", "overflow"]);
const wide = (/** @type {any[]} */ ...script) => windowed(200_000, 32_000, script);
const small = (/** @type {any[]} */ ...script) => windowed(32_768, 8_192, script);

/** What each code that has a fallback comes from, and the reason that is stored. @type {[string, string, () => any, any, object?][]} */
const FAILURES = [
  ["no_new_history", "no_new_history", () => wide("S"), prepared([], { retainedTail: WORDS })],
  ["no_new_history", "no_new_history", () => wide("S"), SHORT, { leafIsCheckpoint: true }],
  ["summary_budget", "summary_budget", () => windowed(1_000, 500, ["S"]), SHORT],
  ["summary_budget", "summary_budget", () => small("S"), HUGE],
  ["summary_budget", "summary_budget", () => small("S"), LONG, { maxRequests: 2 }],
  ["summary_budget", "summary_budget", () => small(failed("503")), SHORT, { maxRequests: 2 }],
  ["context_overflow", "summary_budget", () => wide(TOO_LARGE), SHORT],
  ["context_overflow", "summary_budget", () => small(TOO_LARGE), LONG],
  ["summary_provider", "summary_provider", () => wide(DENIED), SHORT],
  ["summary_provider", "summary_provider", () => wide(failed("503 overloaded")), SHORT],
  ["summary_provider", "summary_provider", () => wide(new Error("boom")), SHORT],
  ["summary_incomplete", "summary_provider", () => wide(says("Half a", { stopReason: "length" })), SHORT],
  ["summary_empty", "summary_provider", () => wide(" "), SHORT],
  ["summary_refused", "summary_provider", () => wide(says("No", { stopReason: "refusal" })), SHORT],
  ["summary_refused", "summary_provider", () => small("S1", says("", { stopReason: "toolUse" })), LONG],
  ["checkpoint_oversized", "checkpoint_oversized", () => wide("S".repeat(700_000)), SHORT],
];

for (const [code, failureReason, by, preparation, more = {}] of FAILURES) {
  test(`B6 B10 B11 B15 B21 C14 C41 ${code} falls back as ${failureReason} (${preparation.messagesToSummarize.length} messages)`, async () => {
    for (const reason of AUTOMATIC) {
      const given = await recover(by(), preparation, { reason, ...more });
      assert.equal(given.outcome?.kind, "fallback", `${given.error}`);
      const { checkpoint, error } = given.outcome;
      assert.ok(error instanceof CompactionError);
      assert.equal(error.code, code);
      const { fallback, retainedTailShape, failureReason: stated } = checkpoint.details;
      assert.deepEqual(
        [fallback, retainedTailShape, stated],
        ["retained_tail", "recent_window", failureReason],
      );
      assert.equal(checkpoint.summary, `${PLACEHOLDER}${ENDING}`);
      assert.ok(checkpoint.retainedTail.length > 0, "the recent window without any summary");
      assert.deepEqual(faults(checkpoint.retainedTail), []);
      assert.ok(held(given.request, checkpoint) < given.request.budget.hardLimit);
    }
  });

  test(`A59 B26 B36 manual never falls back: ${code} (${preparation.messagesToSummarize.length} messages)`, async () => {
    const { outcome } = await recover(by(), preparation, { reason: "manual", ...more });
    assert.deepEqual([outcome?.kind, outcome?.error?.code], ["failed", code]);
    assert.ok(!("checkpoint" in outcome));
  });
}

test("B11 B14 a summary that fits is the checkpoint; nothing marks it as a fallback", async () => {
  for (const reason of [...AUTOMATIC, "manual"]) {
    const { outcome, calls } = await recover(wide("SUMMARY"), SHORT, { reason });
    assert.deepEqual(Object.keys(outcome).sort(), ["checkpoint", "kind", "report"]);
    const { kind, checkpoint } = outcome;
    assert.deepEqual([kind, checkpoint.summary, checkpoint.retainedTail], ["summary", "SUMMARY", []]);
    for (const name of ["fallback", "retainedTailShape", "failureReason"])
      assert.ok(!(name in checkpoint.details), name);
    assert.equal(checkpoint.details.generation, 1);
    assert.equal(calls.length, 1);
  }
});

test("B14 the checkpoint is that of generateCompaction, with generation and tail beside it", async () => {
  for (const preparation of [SHORT, LONG, prepared(WORDS, { previousSummary: "OLD", tokensBefore: 77 })]) {
    const answers = ["S1", "S2", "S3"].map((text, at) => says(text, { usage: usage(8 << at) }));
    const { result: plain } = await run(small(...answers), preparation);
    const { outcome } = await recover(small(...answers), preparation);
    const { retainedTail, details, ...rest } = outcome.checkpoint;
    const { generation, ...shared } = details;
    assert.deepEqual({ ...rest, details: shared }, plain);
    assert.deepEqual(retainedTail, []);
    assert.ok(Number.isSafeInteger(generation) && generation > 0);
  }
});

test("what the host's preparation names is passed on, in both outcomes", async () => {
  const preparation = frozen(prepared(WORDS, { firstKeptEntryId: "e7", tokensBefore: 4_321 }));
  for (const by of [wide("S"), denied()]) {
    const { checkpoint } = (await recover(by, preparation)).outcome;
    assert.deepEqual([checkpoint.firstKeptEntryId, checkpoint.tokensBefore], ["e7", 4_321]);
  }
  const { checkpoint } = (await recover(denied(), SHORT)).outcome;
  assert.equal(checkpoint.tokensBefore, total(WORDS), "else an estimate of the range");
  assert.ok(!("firstKeptEntryId" in checkpoint));
});

test("unsupported_api never falls back, and it is an outcome", async () => {
  const model = { api: "spoken-nowhere", provider: "p", id: "i", baseUrl: "http://127.0.0.1:9" };
  const summarizer = { kind: "http", model: { ...model, contextWindow: 200_000, maxTokens: 100 } };
  for (const reason of AUTOMATIC) {
    const { outcome } = await recover(wide(), SHORT, {
      summarizer,
      budget: contextBudget(summarizer.model),
      reason,
    });
    assert.deepEqual([outcome?.kind, outcome?.error?.code], ["failed", "unsupported_api"]);
    assert.equal(outcome.report.requests, 0);
  }
});

test("A9 a dropped stream and a 503 do not throw the summary away", async () => {
  const script = [failed("503 Service Unavailable"), new Error("terminated"), "SUMMARY"];
  const { outcome } = await recover(wide(...script), SHORT);
  assert.deepEqual(
    [outcome.kind, outcome.checkpoint.summary, outcome.report.requests],
    ["summary", "SUMMARY", 3],
  );
});

test("B4 the error of an outcome is that of generateCompaction: attempts, retryable and cause", async () => {
  const thrown = Object.assign(new Error("529 overloaded"), { status: 529 });
  for (const reason of [...AUTOMATIC, "manual"]) {
    const { error } = (await recover(wide(thrown), SHORT, { reason })).outcome;
    const { error: plain } = await run(wide(thrown), SHORT);
    assert.deepEqual(JSON.parse(JSON.stringify(error)), JSON.parse(JSON.stringify(plain)));
    assert.deepEqual([error.attempts, error.retryable, error.status], [4, true, 529]);
    assert.equal(error.cause, thrown);
  }
});

test("B38 C42 a provider's text is in no checkpoint, report or event", async () => {
  const loud = failed("401 at https://internal.example/v1 for key sk-provider-text");
  const { outcome, events } = await recover(wide(loud), SHORT, { previousCheckpoint: PREVIOUS });
  const shown = JSON.stringify([outcome.checkpoint, outcome.report, events, outcome.error]);
  for (const words of ["internal.example", "sk-provider-text", "401 at"])
    assert.ok(!shown.includes(words), words);
});

test("B16 B22 the recheck counts fixed, pending, checkpoint and tail: one token decides", async () => {
  const retainedTail = frozen([{ role: "user", content: "x".repeat(402) }, answer("y".repeat(802))]);
  const pendingMessages = frozen([{ role: "user", content: "p".repeat(1_202) }]);
  const preparation = frozen(prepared(WORDS, { retainedTail }));
  const summary = "S".repeat(4_001);
  for (const sizing of [{}, { charsPerToken: 3 }, { dialect: "pi-1.6" }]) {
    const beside = total(retainedTail, sizing) + total(pendingMessages, sizing);
    const { hardLimit } = contextBudget({ contextWindow: 200_000, maxTokens: 32_000 });
    const most = hardLimit - 1 - beside - textTokens(summary, sizing.charsPerToken);
    const more = { pendingMessages, ...sizing };
    const fits = await recover(wide(summary), preparation, { ...more, fixedTokens: most });
    assert.equal(fits.outcome.kind, "summary");
    assert.equal(held(fits.request, fits.outcome.checkpoint), hardLimit - 1);
    assert.deepEqual(fits.outcome.checkpoint.retainedTail, retainedTail);
    const over = await recover(wide(summary), preparation, { ...more, fixedTokens: most + 1 });
    assert.equal(over.outcome.kind, "fallback");
    assert.equal(over.outcome.error.code, "checkpoint_oversized");
    assert.ok(held(over.request, over.outcome.checkpoint) < hardLimit);
  }
});

test("B29 a fallback that is still too large is failed, with nothing to store", async () => {
  const { hardLimit } = contextBudget({ contextWindow: 200_000, maxTokens: 32_000 });
  const before = total(WORDS) + textTokens(PREVIOUS.summary);
  for (const fixedTokens of [hardLimit, hardLimit - 1, hardLimit * 3, Number.MAX_SAFE_INTEGER]) {
    const { outcome } = await recover(denied(), SHORT, { fixedTokens, previousCheckpoint: PREVIOUS });
    assert.deepEqual(Object.keys(outcome).sort(), ["error", "kind", "report"]);
    assert.deepEqual([outcome.kind, outcome.error.code], ["failed", "checkpoint_oversized"]);
    const { tokensBefore, tokensAfter, shrank } = outcome.report;
    assert.deepEqual([tokensBefore, tokensAfter, shrank], [before, before, false]);
  }
  const pendingMessages = [{ role: "user", content: "x".repeat(4 * hardLimit) }];
  assert.equal((await recover(denied(), SHORT, { pendingMessages })).outcome.kind, "failed");
});

test("a malformed request rejects with invalid_argument and never throws", async () => {
  for (const request of [undefined, null, 5, "x", {}, { preparation: 5 }, { preparation: SHORT }]) {
    const promise = compactWithRecovery(/** @type {any} */ (request));
    assert.ok(promise instanceof Promise);
    await assert.rejects(promise, { name: "CompactionError", code: "invalid_argument" });
  }
});

test("B15 nothing replayable: a failure that says why there is no summary", async () => {
  for (const range of [[result("a"), result("b")], [answer("half", "aborted")], [call("lost")], []]) {
    const { outcome } = await recover(denied(), frozen(prepared(range)), { previousCheckpoint: PREVIOUS });
    assert.equal(outcome.kind, "failed");
    assert.equal(outcome.error.code, range.length > 0 ? "summary_provider" : "no_new_history");
    assert.equal(outcome.report.tokensAfter, outcome.report.tokensBefore);
  }
});

test("B8 B9 the leaf is the checkpoint: no request, the earlier summary, a tail of the whole transcript", async () => {
  const transcript = frozen([...toolCalls(400, "x".repeat(800)), userOfTokens(10), answer("done")]);
  const previousCheckpoint = frozen({ ...PREVIOUS, details: { generation: 4 } });
  for (const messages of [transcript, new Transcript(transcript)]) {
    const more = { transcript: messages, previousCheckpoint, leafIsCheckpoint: true };
    for (const preparation of [prepared([]), SHORT]) {
      const { outcome, calls } = await recover(wide("NEVER ASKED"), preparation, more);
      assert.deepEqual([outcome.kind, outcome.error.code, calls.length], ["fallback", "no_new_history", 0]);
      const { summary, retainedTail, details } = outcome.checkpoint;
      assert.equal(summary, `${PREVIOUS.summary}${ENDING}`);
      assert.equal(details.generation, 5);
      assert.deepEqual(retainedTail, transcript.slice(-retainedTail.length));
      assert.ok(total(retainedTail) > 33_000 && total(retainedTail) <= 33_600, `${total(retainedTail)}`);
      assert.ok(!outcome.report.stages.includes("request"));
    }
    const manual = await recover(wide("NEVER ASKED"), prepared([]), { ...more, reason: "manual" });
    assert.deepEqual([manual.outcome.kind, manual.outcome.error.code], ["failed", "no_new_history"]);
  }
});

test("B20 without a transcript the window is of history, turn prefix and retained tail", async () => {
  const turnPrefixMessages = [{ role: "user", content: "Now the benchmark." }, ...toolCalls(1, "out")];
  const retainedTail = [answer("The benchmark runs."), { role: "user", content: "And the docs." }];
  const more = { isSplitTurn: true, turnPrefixMessages, retainedTail };
  const all = [...WORDS, ...turnPrefixMessages, ...retainedTail];
  const { outcome } = await recover(denied(), frozen(prepared(WORDS, more)));
  assert.equal(outcome.checkpoint.retainedTail.length, all.length);
  for (const [at, message] of outcome.checkpoint.retainedTail.entries()) assert.equal(message, all[at]);
});

test("the earlier checkpoint stands before the preparation's summary, in prompt and fallback", async () => {
  const preparation = frozen(prepared(WORDS, { previousSummary: "OTHER-SUMMARY" }));
  const more = { previousCheckpoint: PREVIOUS };
  const { calls } = await recover(wide("S"), preparation, more);
  assert.equal(previousOf(calls[0].prompt), PREVIOUS.summary);
  assert.ok(!calls[0].prompt.includes("OTHER-SUMMARY"));
  const both = (await recover(denied(), preparation, more)).outcome.checkpoint.summary;
  assert.equal(both, `${PREVIOUS.summary}${ENDING}`);
  const { outcome } = await recover(denied(), preparation);
  assert.equal(outcome.checkpoint.summary, `OTHER-SUMMARY${ENDING}`, "B18 else that of the preparation");
});

test("files of the earlier checkpoint are carried on, in both outcomes", async () => {
  const details = frozen({ generation: 2, readFiles: ["a.ts", "b.ts"], modifiedFiles: ["c.ts"] });
  const edit = { type: "toolCall", id: "e", name: "edit", arguments: { path: "b.ts" } };
  const range = [
    ...WORDS,
    call("r", { path: "d.ts" }),
    result("r"),
    { ...call("e"), content: [edit] },
    result("e"),
  ];
  for (const by of [wide("S"), denied()]) {
    const more = { previousCheckpoint: { summary: "OLD", details } };
    const { checkpoint } = (await recover(by, frozen(prepared(range)), more)).outcome;
    const { readFiles, modifiedFiles, generation } = checkpoint.details;
    assert.deepEqual([readFiles, modifiedFiles, generation], [["a.ts", "d.ts"], ["b.ts", "c.ts"], 3]);
  }
});

test("G19 only a summary that is more than a notice makes a second generation's prompt", async () => {
  const summary = `${PLACEHOLDER}${ENDING}`;
  const { outcome, calls } = await recover(wide("S"), SHORT, {
    previousCheckpoint: { summary, details: { generation: 1 } },
  });
  assert.equal(previousOf(calls[0].prompt), undefined);
  assert.ok(!calls[0].prompt.includes(NOTICE) && !calls[0].prompt.includes(PLACEHOLDER));
  assert.equal(outcome.checkpoint.details.generation, 2);
});

test("A3 E119 an extractive summarizer recovers as a model does", async () => {
  const summarizer = { kind: "extractive" };
  const { outcome } = await recover(wide(), SHORT, { summarizer });
  assert.deepEqual([outcome.kind, outcome.checkpoint.details.summarizer], ["summary", "extractive"]);
  const budget = { hardLimit: 900, requestHeadroom: 100_000 };
  const words = (/** @type {string} */ of) => `${of} ${"of the parser ".repeat(40)}`;
  const turns = Array.from({ length: 40 }, (_, at) => [
    { role: "user", content: words(`Build part ${at}`) },
    answer(words(`Done with ${at}`)),
  ]);
  const over = await recover(wide(), frozen(prepared(turns.flat())), { summarizer, budget });
  assert.deepEqual(
    [over.outcome.kind, over.outcome.checkpoint?.details.failureReason],
    ["fallback", "checkpoint_oversized"],
  );
});

test("refine falls back too", async () => {
  const { outcome } = await recover(client([DENIED]), LONG, { strategy: "refine", retry: RETRY });
  assert.deepEqual([outcome?.kind, outcome?.error?.code], ["fallback", "summary_provider"]);
  const done = await recover(client(["S"]), SHORT, { strategy: "refine" });
  assert.equal(done.outcome.kind, "summary");
  assert.match(done.outcome.checkpoint.summary, /^\[Checkpoint[\s\S]*\n\nS\n\n\[End of the checkpoint\.\]/);
});
