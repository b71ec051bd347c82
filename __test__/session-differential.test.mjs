// Files with everything at once, opened by every leaf, changed, planned and compacted: always as pi's messages.

import assert from "node:assert/strict";
import { test } from "node:test";
import { compactWithRecovery, contextBudget, generateCompaction, summaryFits, Transcript } from "../index.js";
import { budgetOf, encodings } from "./support/encodings.mjs";
import { client, failed } from "./support/model.mjs";
import { DIALECTS } from "./support/oracle.mjs";
import { random } from "./support/random.mjs";
import { mixedTree } from "./support/session-mixed.mjs";
import {
  assertAnswers,
  assertReading,
  changeBoth,
  openSession,
  openUntouched,
  sessionFolder,
} from "./support/session-open.mjs";
import { asPiReads, told } from "./support/session-oracle.mjs";

/** @typedef {import("./support/random.mjs").Random} Random */
/** @typedef {import("./support/transcripts.mjs").Message} Message */
/** @typedef {(start: number, end: number) => any} Part a part of the same messages, in one form or another */

const { file } = sessionFolder("differential");
/** Longer than any machine should take, in milliseconds. */
const HANG = { timeout: 300_000 };

/** A file and what pi makes of it. @param {number} seed @param {number} [most] */
function sample(seed, most) {
  const content = mixedTree(seed, most);
  const reading = asPiReads(content);
  assert.ok(reading, "a header at least");
  return { content, path: file(content), reading };
}

/** @param {string} what @param {Record<string, number>} seen @param {Record<string, number>} least */
function assertSeen(what, seen, least) {
  for (const [name, count] of Object.entries(least))
    assert.ok((seen[name] ?? 0) >= count, `${what}: too few ${name}: ${JSON.stringify(seen)}`);
}

test("mixed trees in any spelling, by every leaf, are pi's", HANG, async () => {
  const seen = {
    files: 0,
    leaves: 0,
    messages: 0,
    checkpoints: 0,
    gaps: 0,
    skipped: 0,
    linear: 0,
  };
  for (let seed = 0; seed < 900; seed++) {
    const { content, path, reading } = sample(seed);
    const session = await openUntouched(path);
    assertReading(session, reading, `seed ${seed}`);
    assertAnswers(session, reading.messages, seed);
    for (const leafId of reading.leafIds) {
      const branch = asPiReads(content, leafId);
      assert.ok(branch, "the oracle finds every id");
      const title = `seed ${seed}, leaf ${JSON.stringify(leafId)}`;
      assertReading(await openSession(path, { leafId }), branch, title);
    }
    seen.files++;
    seen.leaves += reading.leafIds.length;
    seen.messages += reading.messages.length;
    seen.checkpoints += reading.previousCheckpoint ? 1 : 0;
    seen.gaps += reading.gap ? 1 : 0;
    seen.skipped += reading.skipped.length;
    seen.linear += reading.leafIds.length === 0 ? 1 : 0;
  }
  assertSeen("trees", seen, { files: 600, leaves: 3_500, messages: 2_000, checkpoints: 250 });
  assertSeen("trees", seen, { gaps: 150, skipped: 250, linear: 150 });
});

test("changed after it was opened, it and its earlier ranges answer as the lists do", HANG, async () => {
  const seen = { sessions: 0, changes: 0, ranges: 0 };
  for (let seed = 20_000; seed < 20_500; seed++) {
    const { path, reading } = sample(seed, 20);
    const rng = random(seed);
    const session = await openSession(path);
    const plain = reading.messages.slice();
    const ranges = /** @type {[any, Message[]][]} */ ([]);
    for (let changes = rng.between(1, 7); changes > 0; changes--) {
      const start = rng.between(0, plain.length);
      const end = rng.between(start, plain.length);
      ranges.push([session.range(start, end), plain.slice(start, end)]);
      changeBoth(rng, session, plain);
      assert.equal(session.length, plain.length, `seed ${seed}`);
      assert.deepEqual(told([...session]), told(plain), `seed ${seed}`);
      assertAnswers(session, plain, seed * 10 + changes);
      seen.changes++;
    }
    for (const [index, [range, kept]] of ranges.entries()) {
      assert.deepEqual(told([...range]), told(kept), `seed ${seed}, range ${index}`);
      assertAnswers(new Transcript(range), kept, seed + index);
    }
    seen.sessions++;
    seen.ranges += ranges.length;
  }
  assertSeen("changes", seen, { sessions: 450, changes: 1_500, ranges: 1_500 });
});

/** What a promise comes to. @param {() => Promise<any>} run */
async function outcome(run) {
  try {
    return await run();
  } catch (error) {
    const { code, message } = /** @type {any} */ (error);
    return { code, message };
  }
}

/** Every function that answers later, with arguments that depend on the seed alone. @param {Random} rng @param {number} length */
function runs(rng, length) {
  const [from, middle, to] = rng.list(3, 3, () => rng.between(0, length)).sort((a, b) => a - b);
  const dialect = rng.pick(DIALECTS);
  const limits = { contextWindow: rng.pick([8_192, 16_384, 32_768]), maxTokens: 2_048 };
  const [strategy, kind] = [rng.pick(["chain", "refine"]), rng.pick(["extractive", "callback", "fails"])];
  const [isSplitTurn, leafIsCheckpoint] = [rng.chance(0.5), rng.chance(0.2)];
  const [encoding, limit] = [rng.pick(encodings), rng.pick([10, 100, 500, 2_000])];
  const prepared = (/** @type {Part} */ part) => ({
    messagesToSummarize: part(from, middle),
    turnPrefixMessages: part(middle, to),
    isSplitTurn,
  });
  const asked = (/** @type {Part} */ part) => {
    const by = client([kind === "fails" ? failed("401 invalid x-api-key") : "SUMMARY"], limits);
    const summarizer = kind === "extractive" ? { kind } : by.summarizer;
    const budget = contextBudget(limits);
    const request = /** @type {any} */ ({
      strategy,
      preparation: prepared(part),
      dialect,
      budget,
      summarizer,
    });
    return { request, prompts: () => by.calls.map(({ system, prompt }) => system + prompt) };
  };
  return {
    summaryFits: (/** @type {Part} */ part) =>
      outcome(() => summaryFits(prepared(part), budgetOf(limit), undefined, { dialect, encoding })),
    generateCompaction: async (/** @type {Part} */ part) => {
      const { request, prompts } = asked(part);
      return { result: await outcome(() => generateCompaction(request)), prompts: prompts() };
    },
    compactWithRecovery: async (/** @type {Part} */ part) => {
      const { request, prompts } = asked(part);
      const more = { leafIsCheckpoint, transcript: part(0, to), pendingMessages: part(to, length) };
      const result = await outcome(() =>
        compactWithRecovery({ ...request, ...more, reason: "threshold", fallbackSummary: "extractive" }),
      );
      const { error } = result;
      return { ...result, error: error && [error.code, error.message], prompts: prompts() };
    },
  };
}

test("exact tokens, compactions and recoveries of its ranges are those of the lists", HANG, async () => {
  const seen = { runs: 0, prompts: 0, fallbacks: 0, summaries: 0, fits: 0 };
  for (let seed = 40_000; seed < 40_500; seed++) {
    const { path, reading } = sample(seed, seed % 10 === 0 ? 120 : 30);
    const session = await openSession(path);
    const plain = reading.messages;
    for (const [name, run] of Object.entries(runs(random(seed), plain.length))) {
      const found = await run((start, end) => session.range(start, end));
      const expected = await run((start, end) => plain.slice(start, end));
      assert.deepEqual(told(found), told(expected), `seed ${seed}: ${name}`);
      seen.runs++;
      seen.prompts += expected.prompts?.length ?? 0;
      seen.fallbacks += expected.kind === "fallback" ? 1 : 0;
      seen.summaries += expected.kind === "summary" ? 1 : 0;
      seen.fits += expected === true ? 1 : 0;
    }
  }
  assertSeen("runs", seen, { runs: 1_200, prompts: 300, fallbacks: 100, summaries: 150, fits: 250 });
});
