// What a fallback costs: it is said, it is only a view, and it buys no room that is not there.

import assert from "node:assert/strict";
import test from "node:test";
import { compactionMark, contextBudget, replayRetainedTail, Transcript } from "../index.js";
import { conversationOf, prepared, sentTokens, windowed } from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import { count, denied, held, NOTICE, recover, stored } from "./support/recovery.mjs";
import { answer, toolCalls, userOfTokens } from "./support/sound.mjs";
import { faults } from "./support/soundness.mjs";

const WINDOW = 32_768;
const OUTPUT = 8_192;
/** More than the recent window holds. */
const LONG = frozen([
  { role: "user", content: "FIRST WORDS" },
  ...toolCalls(400, "x".repeat(800)),
  answer("LAST"),
]);
const PREVIOUS = frozen({ summary: "## Goal\nShip it.", details: { generation: 3 } });

test("B6 B23 B34 outcome, details, text, warning and mark say that a summary is missing, and why", async () => {
  for (const reason of ["threshold", "overflow"]) {
    for (const [by, failureReason] of /** @type {[() => any, string][]} */ ([
      [denied, "summary_provider"],
      [() => windowed(1_000, 500), "summary_budget"],
      [() => windowed(200_000, 32_000, ["S".repeat(700_000)]), "checkpoint_oversized"],
    ])) {
      const more = { reason, previousCheckpoint: PREVIOUS };
      const { outcome, events } = await recover(by(), frozen(prepared(LONG)), more);
      assert.equal(outcome?.kind, "fallback", failureReason);
      const { checkpoint, report, error } = outcome;
      assert.equal(checkpoint.details.fallback, "retained_tail", "what `compaction_end` is told");
      assert.equal(checkpoint.details.failureReason, failureReason);
      assert.ok(error.message.length > 20, "and to a person");
      assert.equal(checkpoint.summary, `${PREVIOUS.summary}\n\n${NOTICE}`, "no new summary");
      assert.ok(checkpoint.retainedTail.length > 0);
      assert.deepEqual(faults(checkpoint.retainedTail), []);
      assert.equal(report.stages.at(-1), "fallback");
      const warned = (/** @type {string} */ message) => /no summary .*recent context is kept/.test(message);
      assert.ok(report.warnings.some(warned), `${report.warnings}`);
      assert.ok(events.some(({ type, message }) => type === "warning" && warned(message)));
      assert.equal(compactionMark(stored(checkpoint)).fallback, "retained_tail", "after a restart too");
    }
  }
});

test("B23 B34 a summary says none of it", async () => {
  const more = { previousCheckpoint: PREVIOUS };
  const by = windowed(200_000, 32_000, ["SUMMARY"]);
  const { outcome, events } = await recover(by, frozen(prepared(LONG)), more);
  const { kind, checkpoint, report } = outcome;
  assert.equal(kind, "summary");
  for (const name of ["fallback", "failureReason"]) assert.ok(!(name in checkpoint.details), name);
  assert.equal(count(checkpoint.summary, NOTICE), 0);
  assert.ok(!("error" in outcome) && !report.stages.includes("fallback"));
  assert.deepEqual(report.warnings, []);
  assert.ok(!events.some(({ type }) => type === "warning"));
  assert.ok(!("fallback" in compactionMark(stored(checkpoint))));
});

test("B32 a fallback is only a view of the transcript: all of it is still there, and can still be summarized", async () => {
  const messages = [...LONG];
  const transcript = new Transcript(messages);
  const { outcome } = await recover(denied(), { messagesToSummarize: transcript.range() });
  assert.equal(outcome?.kind, "fallback");
  const { retainedTail } = outcome.checkpoint;
  assert.ok(retainedTail.length < LONG.length / 2, "a view of the newest part");
  for (const message of retainedTail) assert.ok(messages.includes(message), "the very messages, not copies");
  assert.equal(transcript.length, LONG.length);
  for (const whole of [messages, [...transcript]])
    assert.ok(whole.every((message, index) => message === LONG[index]));
  const restarted = stored(outcome.checkpoint);
  assert.deepEqual(replayRetainedTail(restarted), retainedTail, "what a restart rebuilds is that view");
  const by = windowed(200_000, 32_000, ["SUMMARY"]);
  const again = await recover(
    by,
    { messagesToSummarize: transcript.range() },
    { previousCheckpoint: restarted },
  );
  assert.equal(again.outcome?.kind, "summary");
  const record = conversationOf(again.calls[0].prompt);
  assert.match(record, /^\[User\]: FIRST WORDS\n[\s\S]*LAST$/);
  assert.equal(count(record, "[Tool result]"), 400);
});

test("C47 with less and less room: a summary, a fallback, then none; the limit is never raised nor passed by", async () => {
  const { hardLimit, requestHeadroom } = contextBudget({ contextWindow: WINDOW, maxTokens: OUTPUT });
  const budget = frozen({ hardLimit, requestHeadroom });
  const range = frozen(prepared(Array.from({ length: 60 }, () => userOfTokens(1_000))));
  const met = [];
  for (let pending = 3; pending < hardLimit + 600; pending += 307) {
    const by = windowed(WINDOW, OUTPUT, ["S".repeat(20_000)]);
    const more = { budget, pendingMessages: [userOfTokens(pending)] };
    const { outcome, request, calls } = await recover(by, range, more);
    met.push(outcome.kind);
    // Where not even the shortest summary would fit, none is asked for.
    const worthwhile = pending + 1 < hardLimit;
    assert.equal(calls.length > 1, worthwhile, "what is too large for one request is sent in several");
    for (const made of calls) assert.ok(sentTokens(made) + made.options.maxTokens < WINDOW);
    if (outcome.kind === "failed") {
      assert.equal(outcome.error.code, "checkpoint_oversized");
      assert.ok(!("checkpoint" in outcome), "nothing to go on with");
      assert.ok(pending > hardLimit - 200, `${pending} pending`);
    } else assert.ok(held(request, outcome.checkpoint) < hardLimit, `${pending} pending`);
  }
  const changes = met.filter((kind, index) => kind !== met[index - 1]);
  assert.deepEqual(changes, ["summary", "fallback", "failed"]);
});
