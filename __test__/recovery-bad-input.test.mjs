import assert from "node:assert/strict";
import test from "node:test";
import * as native from "../index.js";
import { prepared, windowed } from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import { denied, ENDING, held, NOTICE, PLACEHOLDER, recover } from "./support/recovery.mjs";
import { answer, call, result, toolCalls } from "./support/sound.mjs";

// The typings refuse most of this; a host in plain JavaScript has no typings.

const { CompactionError, contextBudget } = native;
const WORDS = frozen([{ role: "user", content: "Port the tokenizer." }, answer("The scanner is done.")]);
const SHORT = frozen(prepared(WORDS));
const NO_COUNT = [Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY, "100", {}, [], true, 5n, 2 ** 53];
const NO_LIST = [0, 5, "", "messages", {}, true, false, new Set(WORDS), () => {}];
const NO_MESSAGE = [null, undefined, 5, "user", true];
const NO_OBJECT = [5, "x", true, () => {}];

/** The model must not be asked for a request that is malformed. */
const asked = () => windowed(200_000, 32_000, ["SUMMARY"]);

/**
 * Each bad value is refused by name before anything is sent, whatever the outcome would have been.
 *
 * @param {string} named @param {readonly unknown[]} values @param {(value: any) => object} more
 */
function refuses(named, values, more) {
  test(`a bad ${named} is invalid_argument and names it`, async () => {
    for (const value of values) {
      for (const reason of ["threshold", "manual"]) {
        const { outcome, error, calls } = await recover(asked(), SHORT, { reason, ...more(value) });
        const title = `${named}: ${typeof value} ${typeof value === "symbol" ? "" : String(value)}`;
        assert.equal(outcome, undefined, title);
        assert.ok(error instanceof CompactionError, title);
        assert.equal(error.code, "invalid_argument", title);
        assert.ok(error.message.includes(named), `"${error.message}" does not name ${named}`);
        assert.ok(error.message.length > named.length + 10, `"${error.message}" says too little`);
        assert.equal(calls.length, 0, title);
      }
    }
  });
}

const NO_REASON = [undefined, null, "", "Threshold", "auto", 5, {}, ["manual"], "toString"];
refuses("reason", NO_REASON, (reason) => ({ reason }));
const NO_MODE = ["", "other", "Active_turn", 5, {}, ["active_turn"], true, "toString"];
refuses("retentionMode", NO_MODE, (retentionMode) => ({ retentionMode }));
refuses("fixedTokens", NO_COUNT, (fixedTokens) => ({ fixedTokens }));
refuses("pendingMessages", NO_LIST, (pendingMessages) => ({ pendingMessages }));
refuses("pendingMessages[2]", NO_MESSAGE, (odd) => ({ pendingMessages: [...WORDS, odd] }));
refuses("transcript", NO_LIST, (transcript) => ({ transcript }));
refuses("transcript[1]", NO_MESSAGE, (odd) => ({ transcript: [WORDS[0], odd, WORDS[1]] }));
refuses("previousCheckpoint", [...NO_OBJECT, {}, []], (previousCheckpoint) => ({ previousCheckpoint }));
const NO_SUMMARY = [undefined, null, 5, {}, ["s"], true];
refuses("previousCheckpoint.summary", NO_SUMMARY, (summary) => ({ previousCheckpoint: { summary } }));
refuses("leafIsCheckpoint", [5, "true", {}, []], (leafIsCheckpoint) => ({ leafIsCheckpoint }));
const NO_FALLBACK = ["", "none", "Notice", 5, {}, true, ["notice"]];
refuses("fallbackSummary", NO_FALLBACK, (fallbackSummary) => ({ fallbackSummary }));
refuses("preparation", [undefined, null, ...NO_OBJECT], (preparation) => ({ preparation }));
refuses("messagesToSummarize", [undefined, null, ...NO_LIST], (messagesToSummarize) => ({
  preparation: { messagesToSummarize },
}));
refuses("budget", [undefined, null, ...NO_OBJECT], (budget) => ({ budget }));
for (const limit of ["hardLimit", "requestHeadroom", "keepRecentTokens"]) {
  refuses(limit, NO_COUNT, (value) => ({
    budget: { hardLimit: 168_000, requestHeadroom: 32_000, [limit]: value },
  }));
}
refuses("keepRecentTokens", NO_COUNT, (keepRecentTokens) => ({
  budget: { hardLimit: 168_000, requestHeadroom: 32_000 },
  preparation: { ...SHORT, settings: { keepRecentTokens } },
}));
refuses("summarizer", [undefined, null, ...NO_OBJECT, {}, { kind: "other" }], (summarizer) => ({
  summarizer,
}));

test("absent and undefined are the same, for every field that may be absent", async () => {
  const names =
    "retentionMode fixedTokens pendingMessages previousCheckpoint leafIsCheckpoint transcript fallbackSummary";
  const absent = Object.fromEntries(names.split(" ").map((name) => [name, undefined]));
  for (const by of [asked, denied]) {
    const [given, plain] = [await recover(by(), SHORT, absent), await recover(by(), SHORT)];
    assert.ok(plain.outcome);
    assert.equal(JSON.stringify(given.outcome), JSON.stringify(plain.outcome));
  }
});

test("a malformed request is refused although there is nothing to summarize", async () => {
  for (const more of [{ fixedTokens: -1 }, { pendingMessages: 5 }, { transcript: [null] }]) {
    const { error } = await recover(asked(), prepared([]), { leafIsCheckpoint: true, ...more });
    assert.equal(error?.code, "invalid_argument");
  }
});

test("an error over a malformed request holds no text of it", async () => {
  const secret = "s3cret-words";
  for (const more of [
    { previousCheckpoint: { summary: [secret] } },
    { transcript: secret },
    { pendingMessages: [secret] },
    { reason: secret },
    { retentionMode: secret },
  ]) {
    const { error } = await recover(asked(), SHORT, more);
    assert.equal(error?.code, "invalid_argument");
    assert.ok(!JSON.stringify(error).includes(secret) && !String(error.stack).includes(secret));
  }
});

/** A recovery over a checkpoint with these details, by a model that answers and by one that does not. */
async function carriedOn(/** @type {unknown} */ details) {
  const previousCheckpoint = frozen({ summary: "OLD", details });
  return Promise.all([asked(), denied()].map((by) => recover(by, SHORT, { previousCheckpoint })));
}

test("odd details of an earlier checkpoint are left out with a warning; the run goes on", async () => {
  for (const details of [
    5,
    "details",
    true,
    [1, 2],
    { generation: "3" },
    { generation: -1 },
    { generation: 0 },
    { generation: 2.5 },
    { generation: Number.NaN },
    { generation: 2 ** 53 },
    { generation: {} },
    { readFiles: "a.ts" },
    { readFiles: [1, {}] },
    { modifiedFiles: { a: 1 } },
    { modifiedFiles: [null] },
  ]) {
    for (const { outcome, error, events } of await carriedOn(details)) {
      const title = JSON.stringify(details);
      assert.ok(outcome?.checkpoint, `${title}: ${error}`);
      assert.equal(outcome.checkpoint.details.generation, 2, title);
      assert.deepEqual(outcome.checkpoint.details.readFiles, [], title);
      assert.deepEqual(outcome.checkpoint.details.modifiedFiles, [], title);
      const told = outcome.report.warnings.filter((/** @type {string} */ words) => words.includes("details"));
      assert.ok(told.length > 0, `${title}: no warning`);
      const heard = events.filter(({ type }) => type === "warning").map(({ message }) => message);
      assert.deepEqual(outcome.report.warnings, heard, title);
    }
  }
});

test("one odd part of the details costs only itself", async () => {
  for (const { outcome } of await carriedOn({ generation: 6, readFiles: 5, modifiedFiles: ["b.ts", 7] })) {
    const { generation, readFiles, modifiedFiles } = outcome.checkpoint.details;
    assert.deepEqual([generation, readFiles], [7, []]);
    assert.ok(!modifiedFiles.includes(7));
    assert.ok(outcome.report.warnings.length > 0);
  }
});

test("details that are absent, or that know nothing of this package, are no reason to warn", async () => {
  const none = (await carriedOn(undefined)).map(({ outcome }) => outcome.report.warnings);
  assert.deepEqual(none[0], [], "a summary over a sound request");
  for (const details of [undefined, null, {}, { other: 5 }, { generation: undefined }, { strategy: "old" }]) {
    for (const [at, { outcome }] of (await carriedOn(details)).entries()) {
      assert.equal(outcome.checkpoint.details.generation, 2);
      assert.deepEqual(outcome.report.warnings, none[at], JSON.stringify(details));
    }
  }
});

test("generations count from the stored one; without a checkpoint from 1", async () => {
  for (const generation of [1, 2, 49, 10 ** 6]) {
    for (const { outcome } of await carriedOn({ generation }))
      assert.equal(outcome.checkpoint.details.generation, generation + 1);
  }
  for (const by of [asked(), denied()])
    assert.equal((await recover(by, SHORT)).outcome.checkpoint.details.generation, 1);
});

test("details whose reading throws are unusable, or refused with what was thrown; never a fault", async () => {
  const details = {
    get generation() {
      throw new Error("mine");
    },
  };
  for (const by of [asked(), denied()]) {
    const { outcome, error } = await recover(by, SHORT, { previousCheckpoint: { summary: "OLD", details } });
    if (outcome) assert.equal(outcome.checkpoint.details.generation, 2);
    else assert.deepEqual([error.code, error.cause?.message], ["invalid_argument", "mine"]);
  }
});

test("C22 C27 C28 a retained tail with orphans is repaired, with a warning", async () => {
  const sound = [...WORDS, ...toolCalls(2, "out"), answer("done")];
  for (const retainedTail of [
    [result("cut-away"), ...sound],
    [...sound, call("unanswered")],
    [answer("half", "aborted"), ...sound],
    [...sound.slice(0, 3), result("nobody"), ...sound.slice(3)],
  ]) {
    const { outcome, events } = await recover(asked(), frozen(prepared(WORDS, { retainedTail })));
    assert.equal(outcome.kind, "summary");
    assert.deepEqual(outcome.checkpoint.retainedTail, sound);
    for (const message of outcome.checkpoint.retainedTail) assert.ok(retainedTail.includes(message));
    assert.equal(outcome.report.warnings.length, 1, `${outcome.report.warnings}`);
    assert.ok(events.some(({ type }) => type === "warning"));
    assert.ok(!outcome.report.warnings[0].includes("cut-away"), "no text of the transcript");
  }
  const { outcome } = await recover(asked(), frozen(prepared(WORDS, { retainedTail: sound })));
  assert.deepEqual(outcome.report.warnings, [], "a sound tail is no reason to warn");
});

test("a retained tail that is no list of messages ends in an outcome or a refusal by name, never a fault", async () => {
  for (const retainedTail of [5, "tail", {}, true, [null, 5, "x"]]) {
    for (const by of [asked(), denied()]) {
      const { outcome, error } = await recover(by, prepared(WORDS, { retainedTail }));
      if (error) {
        assert.equal(error.code, "invalid_argument");
        assert.ok(error.message.includes("retainedTail"), error.message);
      } else {
        assert.ok(Array.isArray(outcome.checkpoint.retainedTail));
        assert.ok(outcome.checkpoint.retainedTail.every((/** @type {unknown} */ m) => typeof m === "object"));
        assert.ok(outcome.report.warnings.length > 0);
      }
    }
  }
});

test("B29 a hard limit below the notice is failed, with either kind of end", async () => {
  const least = Math.ceil(NOTICE.length / 4);
  for (const hardLimit of [0, 1, least - 1, least]) {
    const budget = { hardLimit, requestHeadroom: 32_000 };
    for (const by of [windowed(200_000, 32_000, ["S".repeat(400)]), denied()]) {
      for (const fallbackSummary of ["notice", "extractive"]) {
        const { outcome } = await recover(by, SHORT, { budget, fallbackSummary, fixedTokens: 3 });
        assert.equal(outcome?.kind, "failed", `${hardLimit}`);
        assert.ok(!("checkpoint" in outcome));
      }
    }
  }
});

test("B29 the least that a fallback needs is enough, and a token less is not below it", async () => {
  const range = prepared([{ role: "user", content: "hi" }]);
  const need = Math.ceil(`${PLACEHOLDER}${ENDING}`.length / 4) + 1;
  for (let hardLimit = need - 3; hardLimit < need + 4; hardLimit++) {
    const budget = { hardLimit, requestHeadroom: 199_000 };
    const { outcome, request } = await recover(denied(), range, { budget });
    if (hardLimit <= need) assert.equal(outcome.kind, "failed", `${hardLimit} of ${need}`);
    else assert.equal(outcome.kind, "fallback", `${hardLimit} of ${need}`);
    if (outcome.checkpoint) assert.ok(held(request, outcome.checkpoint) < hardLimit);
  }
});

test("malformed messages are no malformed request: no throw, nothing lost of the rest", async () => {
  const odd = /** @type {any[]} */ ([
    { role: "user" },
    { role: "assistant", content: null },
    { role: "toolResult", content: 5, toolCallId: {} },
    { role: "whatever" },
    {},
    { role: 5 },
  ]);
  const range = frozen([...odd, ...WORDS, ...odd]);
  for (const by of [asked(), denied()]) {
    const { outcome, error } = await recover(by, prepared(range), {
      pendingMessages: odd,
      transcript: range,
    });
    assert.ok(outcome?.checkpoint, `${error ?? outcome?.error}`);
    if (outcome.kind === "fallback")
      for (const message of WORDS) assert.ok(outcome.checkpoint.retainedTail.includes(message));
  }
  assert.ok(contextBudget({}).hardLimit > 0);
});
