import assert from "node:assert/strict";
import test from "node:test";
import { compactionMark, contextBudget, estimateTokens, replayRetainedTail } from "../index.js";
import {
  conversationOf,
  failed,
  prepared,
  previousOf,
  says,
  sentTokens,
  windowed,
} from "./support/model.mjs";
import { frozen, random } from "./support/random.mjs";
import {
  carriedOf,
  count,
  DENIED,
  denied,
  ENDING,
  held,
  NOTICE,
  PLACEHOLDER,
  recover,
  stored,
  textTokens,
  total,
} from "./support/recovery.mjs";
import { answer, call, result, toolCalls } from "./support/sound.mjs";
import { faults } from "./support/soundness.mjs";

/** @typedef {import("./support/transcripts.mjs").Message} Message */

/** @param {string} content @returns {Message} */
const user = (content) => ({ role: "user", content });

/** One assistant message with these calls, and their results. @param {string[]} ids @param {string} output */
function group(ids, output) {
  const content = ids.flatMap((id) => call(id).content);
  return [{ role: "assistant", content, stopReason: "toolUse" }, ...ids.map((id) => result(id, output))];
}

/** What passes the next time. */
const PASSING = [
  failed("503 Service Unavailable"),
  failed("529 overloaded_error"),
  failed("429 rate limit exceeded"),
  failed("500 internal server error"),
  new Error("terminated"),
  new Error("fetch failed"),
  Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }),
  failed("request timed out"),
];

/** A turn with tool output that makes it several times larger raw than printed. @param {number} round */
function heavyTurn(round) {
  const calls = Array.from({ length: 12 }, (_, at) => group([`r${round}c${at}`], "log line\n".repeat(6_000)));
  return [user(`do step ${round}`), ...calls.flat(), answer(`step ${round} is done`)];
}

/** Ten compactions of one session, each with the script of its round. @param {(round: number) => any[]} scriptOf */
async function tenCompactions(scriptOf) {
  /** @type {any} */
  let previousCheckpoint;
  const marks = [];
  for (let round = 0; round < 10; round++) {
    const tail = previousCheckpoint ? replayRetainedTail(previousCheckpoint) : [];
    const preparation = frozen(prepared([...tail, ...heavyTurn(round)]));
    const { outcome, error } = await recover(windowed(200_000, 32_000, scriptOf(round)), preparation, {
      previousCheckpoint,
    });
    assert.ok(outcome?.checkpoint, `${error ?? outcome?.error}`);
    previousCheckpoint = stored(outcome.checkpoint);
    marks.push(compactionMark(previousCheckpoint));
  }
  return marks;
}

test("A6 A7 A9 of ten checkpoints under faults that pass, none is a notice", async () => {
  const rng = random(6);
  const marks = await tenCompactions((round) => {
    const faulty = round % 5 < 3 ? rng.list(1, 3, () => rng.pick(PASSING)) : [];
    return [...faulty, `SUMMARY ${round}`];
  });
  assert.deepEqual(
    marks.map(({ fallback }) => fallback),
    Array.from({ length: 10 }, () => undefined),
  );
  assert.deepEqual(
    marks.map(({ generation }) => generation),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );
});

test("A6 one lasting fault makes one notice, and the next compaction is a summary again", async () => {
  const marks = await tenCompactions((round) => [round === 4 ? DENIED : `SUMMARY ${round}`]);
  const fallen = marks.map(({ fallback }) => fallback === "retained_tail");
  assert.deepEqual(
    fallen,
    Array.from({ length: 10 }, (_, round) => round === 4),
  );
});

for (const raw of [200_000, 400_000, 885_000]) {
  test(`A6 A10 A11 A12 PI-Desktop#543 ${raw} raw tokens of tool output on a 200k window: one request`, async () => {
    const groups = Math.floor(raw / 15_000);
    const range = [user("find the leak"), ...toolCalls(groups, "x".repeat(60_000)), answer("found")];
    assert.ok(Math.abs(total(range) - raw) < 16_000, `${total(range)}`);
    const { outcome, calls } = await recover(
      windowed(200_000, 32_000),
      frozen(prepared(range, { tokensBefore: raw })),
    );
    assert.equal(outcome.kind, "summary");
    const { shape, chunks, reduced, requests } = outcome.checkpoint.details;
    assert.deepEqual([shape, chunks, reduced, requests, calls.length], ["single", 1, false, 1, 1]);
    assert.deepEqual(outcome.report.stages, ["plan", "request", "recheck"]);
    assert.equal(outcome.report.shrank, true);
  });
}

/** The reported range: 168 messages, 3 of a person, 34 of the assistant, 131 of tools. */
function reported() {
  const groups = Array.from({ length: 34 }, (_, at) =>
    group(
      Array.from({ length: at < 29 ? 4 : 3 }, (_, index) => `g${at}-${index}`),
      `src/file-${at}.ts: decided to keep the arena\n`.repeat(40),
    ),
  );
  return frozen([user("first"), user("second"), user("finish the migration"), ...groups.flat()]);
}

test("C2 C3 C4 C43 PI-Desktop#827 the third compaction of a long turn fails: the window fills its budget", async () => {
  const range = reported();
  assert.deepEqual(
    ["user", "assistant", "toolResult"].map(
      (role) => range.filter((message) => message.role === role).length,
    ),
    [3, 34, 131],
  );
  const previousCheckpoint = { summary: "## Goal\nMigrate the store.", details: { generation: 2 } };
  for (const window of [32_768, 65_536, 200_000]) {
    const { outcome } = await recover(denied(window, 8_192), frozen(prepared(range)), { previousCheckpoint });
    const { summary, retainedTail, details } = outcome.checkpoint;
    assert.equal(summary, `${previousCheckpoint.summary}${ENDING}`);
    assert.deepEqual([details.generation, details.failureReason], [3, "summary_provider"], "C6 the reason");
    const { keepRecentTokens, hardLimit } = contextBudget({ contextWindow: window, maxTokens: 8_192 });
    const most = Math.min(keepRecentTokens, Math.floor(hardLimit / 4));
    const largest = total(range.slice(3, 8));
    assert.ok(total(retainedTail) <= most, `${total(retainedTail)} of ${most}`);
    if (total(range) > most) assert.ok(total(retainedTail) > most - largest, `${total(retainedTail)}`);
    else assert.deepEqual(retainedTail, range);
    assert.ok(retainedTail.includes(range[2]), "C23 the task's own message");
    assert.deepEqual(retainedTail.slice(1), range.slice(1 - retainedTail.length));
    assert.deepEqual(faults(retainedTail), []);
    const replayed = replayRetainedTail(stored(outcome.checkpoint));
    assert.deepEqual(replayed, retainedTail, "C7 a restart gives the same window");
  }
});

test("openclaw#80641 an earlier summary that grew from 8,845 to 70,544 units is shortened, with a warning", async () => {
  for (const [window, units] of [
    [200_000, 8_845],
    [200_000, 70_544],
    [32_768, 70_544],
    [16_384, 8_845],
    [16_384, 70_544],
    [8_192, 70_544],
  ]) {
    const model = { contextWindow: window, maxTokens: 8_192 };
    const summary = `GOAL ${"kept words ".repeat(units)}`.slice(0, units - 5).concat(" LAST");
    const range = [user("go on"), ...toolCalls(4, "out"), answer("did")];
    const { outcome, calls } = await recover(windowed(window, 8_192), frozen(prepared(range)), {
      previousCheckpoint: { summary },
    });
    assert.equal(outcome.kind, "summary", `${window} ${units}: ${outcome.error}`);
    const { summaryInputLimit } = contextBudget(model);
    for (const sent of calls) assert.ok(sentTokens(sent) < summaryInputLimit + 2_048, `${sentTokens(sent)}`);
    const carried = previousOf(calls[0].prompt) ?? "";
    const whole = textTokens(summary) < summaryInputLimit / 2;
    if (whole) assert.equal(carried, summary);
    if (textTokens(summary) >= summaryInputLimit) {
      assert.ok(textTokens(carried) < summaryInputLimit, `${carried.length}`);
      assert.match(carried, /^GOAL kept[\s\S]* LAST$/, "head and tail are kept");
      assert.ok(outcome.report.warnings.length > 0);
    }
  }
});

test("opensquilla#1563 a fallback over nested fallbacks does not grow", async () => {
  let nested = "## Goal\nShip it.";
  for (let depth = 0; depth < 40; depth++)
    nested = `${nested}${depth % 2 ? `\n\n${PLACEHOLDER}` : ""}${ENDING}`;
  const range = frozen(prepared([user("go on"), answer("did")]));
  const { outcome } = await recover(denied(), range, { previousCheckpoint: { summary: nested } });
  assert.equal(outcome.checkpoint.summary, `## Goal\nShip it.${ENDING}`);
  const asked = await recover(windowed(200_000, 32_000), range, { previousCheckpoint: { summary: nested } });
  assert.equal(previousOf(asked.calls[0].prompt), "## Goal\nShip it.");
});

test("openclaw#80641 success and failure by turns: the carried summary stays in its bound, once", async () => {
  const budget = contextBudget({ contextWindow: 32_768, maxTokens: 8_192 });
  /** @type {any} */
  let previousCheckpoint;
  for (let round = 0; round < 30; round++) {
    const grows = (/** @type {any} */ { prompt }) =>
      says(`${previousOf(prompt) ?? "BEGIN"} ${"more ".repeat(400)}`);
    const by = windowed(32_768, 8_192, round % 3 === 2 ? [DENIED] : [grows]);
    const range = frozen(prepared([user(`step ${round}`), ...toolCalls(3, "out"), answer("did")]));
    const { outcome, request } = await recover(by, range, { previousCheckpoint });
    assert.ok(outcome.checkpoint, `round ${round}: ${outcome.error}`);
    const { summary, details } = outcome.checkpoint;
    assert.ok(held(request, outcome.checkpoint) < budget.hardLimit);
    assert.equal(details.generation, round + 1);
    assert.equal(count(summary, NOTICE), outcome.kind === "fallback" ? 1 : 0, `round ${round}`);
    if (outcome.kind === "fallback")
      assert.ok((carriedOf(summary) ?? "").length <= budget.fallbackSummaryChars);
    for (const { prompt } of by.calls) assert.ok(!prompt.includes(NOTICE));
    previousCheckpoint = stored(outcome.checkpoint);
  }
});

test("PI-Desktop#224 the summary fails after 500 messages, the last turn complete: the tail is never empty", async () => {
  const turns = Array.from({ length: 125 }, (_, at) => [
    user("do"),
    ...toolCalls(1, "out"),
    answer(`did ${at}`),
  ]);
  const range = frozen(turns.flat());
  assert.equal(range.length, 500);
  for (const retentionMode of ["active_turn", "completed_turn", undefined]) {
    for (const keepRecentTokens of [1, 20, 500, 33_600]) {
      const limits = contextBudget({ contextWindow: 200_000, maxTokens: 32_000 });
      const budget = { ...limits, keepRecentTokens };
      const { outcome } = await recover(denied(), frozen(prepared(range)), { retentionMode, budget });
      assert.equal(outcome.kind, "fallback");
      const { retainedTail } = outcome.checkpoint;
      assert.ok(retainedTail.length > 0, `${retentionMode} ${keepRecentTokens}`);
      assert.equal(retainedTail.at(-1), range.at(-1));
      assert.deepEqual(faults(retainedTail), []);
    }
  }
});

test("pi-vcc PR#4 a range without a user message is compacted, and falls back with a tail", async () => {
  const range = frozen(toolCalls(20, "out"));
  const done = await recover(windowed(200_000, 32_000), prepared(range));
  assert.equal(done.outcome.kind, "summary");
  assert.ok(conversationOf(done.calls[0].prompt).includes("out"));
  for (const retentionMode of ["active_turn", undefined]) {
    const { outcome } = await recover(denied(), prepared(range), { retentionMode });
    assert.deepEqual(outcome.checkpoint.retainedTail, range);
  }
});

test("pi-stuff#308 Roo#6069 one message larger than everything: bounded, marked and sound", async () => {
  const huge = "x".repeat(1_330_000);
  for (const range of [
    [user("go"), answer("ok"), user(huge)],
    [user("go"), call("c"), result("c", huge)],
    [user("go"), call("c", { path: "a", content: huge }), result("c")],
  ]) {
    const { outcome, request } = await recover(denied(), frozen(prepared(range)));
    const { retainedTail } = outcome.checkpoint;
    assert.ok(retainedTail.length > 0);
    assert.deepEqual(faults(retainedTail), []);
    assert.ok(total(retainedTail) <= 33_600, `${total(retainedTail)}`);
    assert.ok(held(request, outcome.checkpoint) < request.budget.hardLimit);
  }
});

test("B3 B8 pi#2562 the newest checkpoint is the leaf and the next prompt too large: a smaller tail", async () => {
  const transcript = frozen([...reported(), answer("migrated")]);
  const previousCheckpoint = { summary: "日本語の要約".repeat(900), details: { generation: 1 } };
  const pendingMessages = [user("次の仕事".repeat(9_000))];
  const budget = { hardLimit: 16_384, requestHeadroom: 16_384 };
  const more = { transcript, previousCheckpoint, pendingMessages, budget, leafIsCheckpoint: true };
  const { outcome, request, calls } = await recover(windowed(32_768, 8_192), prepared([]), more);
  assert.deepEqual([outcome.kind, calls.length], ["fallback", 0]);
  const { checkpoint } = outcome;
  assert.ok(checkpoint.retainedTail.length > 0);
  assert.equal(checkpoint.retainedTail.at(-1), transcript.at(-1));
  assert.ok(held(request, checkpoint) < budget.hardLimit);
  assert.ok(checkpoint.summary.startsWith("日本語の要約"));
});

test("C5 C38 PI-Desktop#543 a range of more than 16 requests costs a fallback, not the run", async () => {
  const range = frozen(
    Array.from({ length: 80 }, (_, at) => [user(`${at}`), answer("x".repeat(40_000))]).flat(),
  );
  const { outcome, calls } = await recover(windowed(32_768, 8_192), prepared(range));
  assert.deepEqual([outcome.kind, outcome.error.code, calls.length], ["fallback", "summary_budget", 0]);
  assert.equal(outcome.checkpoint.details.failureReason, "summary_budget");
  assert.ok(estimateTokens(outcome.checkpoint.retainedTail.at(-1)) > 0);
});
