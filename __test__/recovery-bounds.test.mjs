import assert from "node:assert/strict";
import test from "node:test";
import { buildRetainedTail } from "../index.js";
import { failed, prepared, says, windowed } from "./support/model.mjs";
import { frozen, random } from "./support/random.mjs";
import { count, DENIED, ENDING, held, NOTICE, recover, textTokens, total } from "./support/recovery.mjs";
import { sessions } from "./support/sessions.mjs";
import { soundTranscript, toolCalls, userOfTokens } from "./support/sound.mjs";
import { faults, positions } from "./support/soundness.mjs";
import { wildTranscript } from "./support/transcripts.mjs";

/** @typedef {import("./support/random.mjs").Random} Random */
/** @typedef {import("./support/transcripts.mjs").Message} Message */

/** @param {Random} rng @param {number} seed @returns {Message[]} */
function range(rng, seed) {
  const kind = rng.between(0, 3);
  if (kind === 0) return wildTranscript(seed, 40);
  if (kind === 1) return soundTranscript(seed, 20);
  if (kind === 2)
    return [...soundTranscript(seed, 4), ...toolCalls(rng.between(1, 60), "x".repeat(rng.between(0, 9_000)))];
  return [...wildTranscript(seed, 10), ...soundTranscript(seed + 1, 10), userOfTokens(rng.between(3, 9_000))];
}

/** What a client does in a run. @param {Random} rng @returns {any[]} */
function script(rng) {
  const summary = "summary ".repeat(rng.pick([1, 20, 600, 4_000]));
  return rng.pick([
    [summary],
    [failed("503"), summary],
    [summary, summary, DENIED],
    [DENIED],
    [says("half", { stopReason: "length" })],
    [" "],
    [failed("prompt is too long: 9000 tokens > 4000 maximum"), summary],
  ]);
}

/** @param {Random} rng @param {number} seed */
function request(rng, seed) {
  const strategy = rng.pick([undefined, undefined, "refine"]);
  const hardLimit = rng.pick([rng.between(1, 400), rng.between(400, 6_000), rng.between(6_000, 60_000)]);
  const share = () => (rng.chance(0.5) ? 0 : rng.between(0, Math.floor(hardLimit * 0.7)));
  const summary = rng.pick([
    "OLD",
    "漢字かな ".repeat(500),
    "carry ".repeat(9_000),
    `OLD${ENDING}`,
    NOTICE,
    "",
  ]);
  return {
    reason: rng.pick(["threshold", "overflow"]),
    budget: {
      hardLimit,
      requestHeadroom: rng.between(1, hardLimit),
      keepRecentTokens: rng.pick([undefined, rng.between(0, hardLimit)]),
    },
    fixedTokens: share(),
    pendingMessages: rng.chance(0.5) ? undefined : [userOfTokens(3 + Math.floor(share() / 3))],
    previousCheckpoint: rng.chance(0.4) ? undefined : { summary, details: { generation: rng.between(1, 9) } },
    transcript: rng.chance(0.7) ? undefined : [...range(rng, seed + 5_000), ...soundTranscript(seed + 9, 3)],
    leafIsCheckpoint: rng.chance(0.1),
    retentionMode: rng.pick(/** @type {const} */ ([undefined, "active_turn", "completed_turn"])),
    fallbackSummary: rng.pick([undefined, "notice", "extractive"]),
    dialect: rng.pick(/** @type {const} */ ([undefined, "pi-0.87", "pi-1.6"])),
    charsPerToken: strategy === "refine" ? 3 : rng.pick([undefined, undefined, 1.5, 3, 4.4]),
    secrets: rng.pick([undefined, ["carry", "x".repeat(9)]]),
    strategy,
  };
}

/** A range, a client and a request, all from the seed. @param {number} seed */
function scenario(seed) {
  const rng = random(seed ^ 0xbeef);
  const messages = range(rng, seed);
  const cut = rng.between(0, messages.length);
  const retainedTail = rng.chance(0.5) ? undefined : messages.splice(cut);
  const isSplitTurn = rng.chance(0.2);
  const turnPrefixMessages = isSplitTurn ? messages.splice(rng.between(0, messages.length)) : [];
  const parts = retainedTail === undefined ? {} : { retainedTail };
  const preparation = prepared(messages, { isSplitTurn, turnPrefixMessages, ...parts });
  const more = frozen(request(rng, seed));
  const from = [...messages, ...turnPrefixMessages, ...(retainedTail ?? [])];
  const window = rng.pick([more.budget.hardLimit + more.budget.requestHeadroom, 16_384, 200_000]);
  const by = windowed(window, rng.pick([1_024, 8_192]), script(rng));
  return { preparation: frozen(preparation), more, from, by };
}

/** What a fallback's window is made of. @param {ReturnType<typeof scenario>} of */
function sourceOf({ preparation, more, from }) {
  const { messagesToSummarize, turnPrefixMessages, isSplitTurn } = preparation;
  const covered = messagesToSummarize.length + (isSplitTurn ? turnPrefixMessages.length : 0);
  return more.leafIsCheckpoint || covered === 0 ? (more.transcript ?? from) : from;
}

/** @param {any} given @param {ReturnType<typeof scenario>} of @param {string} title */
function assertBounded({ outcome, request: asked }, given, title) {
  const { preparation, more } = given;
  const { kind, checkpoint, report } = outcome;
  const { summary, retainedTail, details } = checkpoint;
  assert.ok(held(asked, checkpoint) < more.budget.hardLimit, `${title}: ${held(asked, checkpoint)}`);
  assert.deepEqual(faults(retainedTail), [], title);
  const source = kind === "summary" ? (preparation.retainedTail ?? []) : sourceOf(given);
  assert.ok(!positions(source, retainedTail).includes(-1), `${title}: a message that was not there`);
  const sizing = { dialect: more.dialect, charsPerToken: more.charsPerToken };
  const after = textTokens(summary, more.charsPerToken) + total(retainedTail, sizing);
  assert.equal(report.tokensAfter, after, title);
  assert.equal(report.shrank, report.tokensAfter < report.tokensBefore, title);
  assert.equal(count(summary, NOTICE), kind === "summary" ? 0 : 1, title);
  assert.equal(details.generation, (more.previousCheckpoint?.details.generation ?? 0) + 1, title);
  const carried = retainedTail.filter((/** @type {Message} */ { role }) => role === "compactionSummary");
  if (kind === "fallback") assert.deepEqual(carried, [], title);
}

/** Whether there is anything that a window could hold. @param {ReturnType<typeof scenario>} of */
function hasWindow(given) {
  const { more } = given;
  const messages = sourceOf(given).filter(({ role }) => role !== "compactionSummary");
  const retentionMode = more.retentionMode ?? "active_turn";
  const { dialect, charsPerToken } = more;
  const options = { dialect, charsPerToken, retentionMode };
  return buildRetainedTail(messages, more.budget.hardLimit, options).length > 0;
}

const SEEDS = 600;

test("B7 B22 B29 C11 C28 C47 whatever comes: checkpoint, tail, fixed and pending stay below the limit, the tail sound", async () => {
  /** @type {Record<string, number>} */
  const kinds = { summary: 0, fallback: 0, failed: 0 };
  for (let seed = 0; seed < SEEDS; seed++) {
    const of = scenario(seed);
    const given = await recover(of.by, of.preparation, of.more);
    assert.ok(given.outcome, `seed ${seed}: ${given.error}`);
    kinds[given.outcome.kind]++;
    if (given.outcome.kind !== "failed") assertBounded(given, of, `seed ${seed}`);
    else {
      assert.ok(!("checkpoint" in given.outcome));
      assert.equal(given.outcome.report.tokensAfter, given.outcome.report.tokensBefore);
      const oversized = given.outcome.error.code === "checkpoint_oversized";
      assert.ok(oversized || !hasWindow(of), `seed ${seed}: ${given.outcome.error.code}`);
    }
    assert.equal(given.outcome.report.requests, given.calls.length, `seed ${seed}`);
  }
  for (const [kind, times] of Object.entries(kinds)) assert.ok(times > SEEDS / 20, `${kind}: ${times}`);
});

test("B33 C11 C12 what is carried or picked is less where the rest leaves less: it never costs the fallback", async () => {
  const asked = { role: "user", content: "Build the parser of the new language. ".repeat(12) };
  const preparation = frozen(prepared([asked, ...toolCalls(1, "line of output\n".repeat(60))]));
  const previousCheckpoint = { summary: "carry this on ".repeat(900) };
  for (const keepRecentTokens of [0, 10, 40, undefined]) {
    for (let hardLimit = 100; hardLimit < 700; hardLimit += 5) {
      const budget = { hardLimit, requestHeadroom: 32_000, keepRecentTokens };
      const kindOf = async (/** @type {object} */ more) =>
        (await recover(windowed(32_768, 8_192, [DENIED]), preparation, { budget, ...more })).outcome.kind;
      if ((await kindOf({})) === "failed") continue;
      for (const more of [{ previousCheckpoint }, { fallbackSummary: "extractive" }]) {
        const title = `${Object.keys(more)} with ${hardLimit} and ${keepRecentTokens} to keep`;
        assert.equal(await kindOf(more), "fallback", title);
      }
    }
  }
});

test("B17 a fallback's bytes are the same for the same input, whatever came", async () => {
  for (let seed = 0; seed < 150; seed++) {
    const [first, second] = [scenario(seed), scenario(seed)];
    const one = await recover(first.by, first.preparation, first.more);
    const two = await recover(second.by, second.preparation, second.more);
    assert.equal(JSON.stringify(one.outcome), JSON.stringify(two.outcome), `seed ${seed}`);
  }
});

test("B33 real sessions in windows of every size: a bounded, sound checkpoint or none", async () => {
  for (const { name, messages } of sessions()) {
    for (const window of [8_192, 32_768, 200_000]) {
      for (const [end, kind] of /** @type {[any, string][]} */ ([
        ["SUMMARY", "summary"],
        [DENIED, "fallback"],
      ])) {
        const { outcome, request: asked } = await recover(windowed(window, 8_192, [end]), prepared(messages));
        const planned = outcome.error?.code !== "summary_budget";
        assert.equal(outcome.kind, planned ? kind : "fallback", `${name} ${window}`);
        const { retainedTail } = outcome.checkpoint;
        assert.deepEqual(faults(retainedTail), [], `${name} ${window}`);
        assert.ok(held(asked, outcome.checkpoint) < asked.budget.hardLimit, `${name} ${window}`);
      }
    }
  }
});
