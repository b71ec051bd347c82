import assert from "node:assert/strict";
import test from "node:test";
import {
  buildRetainedTail,
  contextBudget,
  estimateTokens,
  generateCompaction,
  replayRetainedTail,
} from "../index.js";
import { prepared, previousOf, RETRY, windowed } from "./support/model.mjs";
import { frozen, random } from "./support/random.mjs";
import {
  carriedOf,
  count,
  denied,
  ENDING,
  held,
  NOTICE,
  PICKED,
  PLACEHOLDER,
  pickedOf,
  recover,
  stored,
  textTokens,
  total,
} from "./support/recovery.mjs";
import { answer, call, result, soundTranscript, toolCalls, userOfTokens } from "./support/sound.mjs";
import { faults, positions } from "./support/soundness.mjs";
import { hasLoneSurrogate } from "./support/texts.mjs";
import { wildTranscript } from "./support/transcripts.mjs";

/** @typedef {import("./support/transcripts.mjs").Message} Message */

/** Windows and output limits of the vectors F1. */
const WINDOWS = [
  [8_192, 8_192],
  [16_384, 8_192],
  [32_768, 8_192],
  [32_768, 32_000],
  [65_536, 32_000],
  [128_000, 8_192],
  [128_000, 32_000],
  [200_000, 8_192],
  [200_000, 32_000],
  [272_000, 32_000],
  [1_000_000, 32_000],
];
const WORDS = frozen([{ role: "user", content: "Port the tokenizer." }, answer("The scanner is done.")]);
const SHORT = frozen(prepared(WORDS));
const GROUP = toolCalls(1, "x".repeat(800));
const LONG = frozen([{ role: "user", content: "go" }, ...toolCalls(400, "x".repeat(800))]);
/** More than any window carries, with a beginning and an end of its own. */
const GROWN = `HEAD ${"carry this on ".repeat(4_000)} TAIL`;
const EXTRACTIVE = frozen({ fallbackSummary: "extractive" });

/** The fallback of a range, its request beside it. @param {readonly Message[]} range @param {object} more */
async function fallen(range, more = {}, by = denied(), preparation = {}) {
  const { outcome, error, request } = await recover(by, frozen(prepared(range, preparation)), more);
  assert.equal(outcome?.kind, "fallback", `${error ?? outcome?.error}`);
  return { ...outcome.checkpoint, request };
}

test("A5 B18 B19 the text: the earlier summary as it is, a blank line, the notice; else the placeholder", async () => {
  assert.equal((await fallen(WORDS)).summary, `${PLACEHOLDER}\n\n${NOTICE}`);
  for (const summary of ["S", "## Goal\nShip it.\n\n<read-files>\na.ts\n</read-files>", "e".repeat(12_000)]) {
    const { summary: text } = await fallen(WORDS, { previousCheckpoint: { summary } });
    assert.equal(text, `${summary}\n\n${NOTICE}`);
  }
});

for (const [window, output] of WINDOWS) {
  test(`C10 C11 C12 C13 F1 a window of ${window} with ${output} of output: both parts within their bounds, and full`, async () => {
    const budget = contextBudget({ contextWindow: window, maxTokens: output });
    const { hardLimit, keepRecentTokens, fallbackSummaryChars: chars } = budget;
    const previousCheckpoint = { summary: GROWN };
    const { summary, retainedTail, request } = await fallen(
      LONG,
      { previousCheckpoint },
      denied(window, output),
    );
    const carried = carriedOf(summary) ?? "";
    assert.ok(carried.length <= chars && carried.length > chars * 0.9, `${carried.length} of ${chars}`);
    assert.match(carried, /^HEAD carry[\s\S]*\[\.\.\.[\s\S]*carry this on {2}TAIL$/, "head, marker, tail");
    assert.equal(summary, `${carried}${ENDING}`);
    const left = hardLimit - Math.ceil(chars / 4) - textTokens(NOTICE);
    const most = Math.min(keepRecentTokens, Math.floor(hardLimit / 4), Math.max(1, left));
    const tokens = total(retainedTail);
    assert.ok(tokens <= most, `${tokens} of ${most}`);
    assert.ok(
      tokens > most - total(GROUP) - 1,
      `C43 ${tokens} of ${most}: whole pairs that would fit are lost`,
    );
    assert.equal(retainedTail[0], LONG[0], "C23 the turn's own message stands ahead");
    assert.deepEqual(retainedTail.slice(1), LONG.slice(1 - retainedTail.length));
    assert.ok(held(request, { summary, retainedTail }) < hardLimit);
  });
}

test("C10 the recent target: of the budget, else of the preparation's settings, else of F1", async () => {
  const { hardLimit, requestHeadroom } = contextBudget({ contextWindow: 200_000, maxTokens: 32_000 });
  const limits = { hardLimit, requestHeadroom };
  for (const [target, keepRecentTokens, inSettings] of /** @type {const} */ ([
    [5_000, 5_000, 9_000],
    [9_000, undefined, 9_000],
    [33_600, undefined, undefined],
    [42_000, 90_000, 5_000],
    [42_000, undefined, 90_000],
  ])) {
    const more = { budget: { ...limits, keepRecentTokens } };
    const preparation = inSettings === undefined ? {} : { settings: { keepRecentTokens: inSettings } };
    const { retainedTail } = await fallen(LONG, more, denied(), preparation);
    const tokens = total(retainedTail);
    assert.ok(tokens <= target && tokens > target - total(GROUP) - 1, `${tokens} of ${target}`);
  }
});

test("C11 C12 B33 fixed and pending tokens take of both parts; failed only where not even the least fits", async () => {
  const hardLimit = 16_384;
  const budget = { hardLimit, requestHeadroom: 16_384 };
  const pendingMessages = frozen([userOfTokens(300)]);
  for (const summary of [undefined, "OLD", GROWN]) {
    const previousCheckpoint = summary === undefined ? undefined : { summary };
    for (let fixedTokens = 0; fixedTokens < hardLimit + 500; fixedTokens += 251) {
      const more = { budget, fixedTokens, pendingMessages, previousCheckpoint };
      const { outcome, request } = await recover(denied(32_768, 8_192), frozen(prepared(LONG)), more);
      const free = hardLimit - fixedTokens - total(pendingMessages);
      if (free >= 250) assert.equal(outcome.kind, "fallback", `${free} tokens are free`);
      if (free <= textTokens(NOTICE)) assert.equal(outcome.kind, "failed", `${free} tokens are free`);
      if (outcome.kind === "failed") continue;
      const { checkpoint } = outcome;
      assert.ok(held(request, checkpoint) < hardLimit, `${free} tokens are free`);
      assert.ok(checkpoint.retainedTail.length > 0, `${free} tokens are free`);
      assert.ok(checkpoint.summary.endsWith(ENDING), "the notice is never cut");
      assert.deepEqual(faults(checkpoint.retainedTail), []);
    }
  }
});

test("C12 a carried summary that is cut keeps its pairs whole", async () => {
  for (let lead = 0; lead < 6; lead++) {
    const previousCheckpoint = { summary: "a".repeat(lead) + "😀".repeat(20_000) };
    const { summary } = await fallen(WORDS, { previousCheckpoint });
    assert.equal(hasLoneSurrogate(summary), false, `${lead}`);
  }
});

/** Failures in a row, each carrying the checkpoint before it. @param {any} first @param {object} more */
async function failuresInARow(first, more = {}, rounds = 50) {
  const found = [];
  let previousCheckpoint = first;
  /** @type {Message[]} */
  let tail = [];
  for (let round = 0; round < rounds; round++) {
    const turn = [{ role: "user", content: `step ${round}` }, ...toolCalls(2, "out"), answer(`did ${round}`)];
    const { request, ...checkpoint } = await fallen([...tail, ...turn], { ...more, previousCheckpoint });
    previousCheckpoint = stored(checkpoint);
    tail = replayRetainedTail(previousCheckpoint);
    found.push(previousCheckpoint);
  }
  return found;
}

for (const [title, more] of /** @type {[string, object][]} */ ([
  ["notice", {}],
  ["extractive", EXTRACTIVE],
])) {
  test(`G19 opensquilla#1563 50 failures in a row (${title}): nothing nests, generations count up`, async () => {
    const { fallbackSummaryChars } = contextBudget({ contextWindow: 200_000, maxTokens: 32_000 });
    for (const summary of [undefined, "## Goal\nShip it.", GROWN]) {
      const first = summary === undefined ? undefined : { summary, details: { generation: 3 } };
      const found = await failuresInARow(first, more);
      for (const [round, { summary: text, details }] of found.entries()) {
        assert.equal(count(text, NOTICE), 1);
        assert.equal(count(text, PLACEHOLDER), summary === undefined ? 1 : 0);
        assert.equal(count(text, PICKED), title === "notice" ? 0 : 1);
        assert.equal(details.generation, round + (summary === undefined ? 1 : 4));
        const carried = carriedOf(text) ?? "";
        assert.equal(carried, carriedOf(found[0].summary), `round ${round}: what is carried stays as it is`);
        assert.ok(carried.length <= fallbackSummaryChars);
      }
    }
  });
}

test("G19 PR#249 opensquilla#1563 notices that were stored nested are carried on once", async () => {
  for (const [given, carried] of [
    [`REAL${ENDING}${ENDING}${ENDING}`, "REAL"],
    [`${PLACEHOLDER}${ENDING}${ENDING}`, PLACEHOLDER],
    [`${PLACEHOLDER}${ENDING}\n\nREAL${ENDING}`, "REAL"],
    [NOTICE, PLACEHOLDER],
  ]) {
    const { summary } = await fallen(WORDS, { previousCheckpoint: { summary: given } });
    assert.equal(summary, `${carried}${ENDING}`);
  }
});

test("PI-Desktop PR#249 B19 notice and placeholder never reach a model, in a recovery or without", async () => {
  const { summary: bare } = await fallen(WORDS);
  const { summary: over } = await fallen(WORDS, { previousCheckpoint: { summary: "REAL" } });
  for (const [previousSummary, carried] of [
    [bare, undefined],
    [over, "REAL"],
    [`REAL${ENDING}${ENDING}`, "REAL"],
  ]) {
    const by = windowed(200_000, 32_000);
    const budget = contextBudget(by.summarizer.model);
    const preparation = frozen(prepared(WORDS, { previousSummary }));
    await generateCompaction({ preparation, budget, summarizer: by.summarizer, retry: RETRY });
    await recover(by, preparation);
    await recover(by, SHORT, { previousCheckpoint: { summary: previousSummary } });
    await recover(by, SHORT, { previousCheckpoint: { summary: previousSummary }, strategy: "refine" });
    assert.equal(by.calls.length, 4);
    for (const { prompt, system } of by.calls) {
      assert.equal(previousOf(prompt), carried);
      assert.ok(![NOTICE, PLACEHOLDER].some((line) => prompt.includes(line) || system.includes(line)));
    }
  }
});

test("the extractive text stands beside the notice, marked and bounded", async () => {
  for (const range of [WORDS, LONG, ...[1, 2, 3, 4].map((seed) => soundTranscript(seed, 60))]) {
    for (const summary of [undefined, "OLD", GROWN]) {
      const previousCheckpoint = summary === undefined ? undefined : { summary };
      const notice = await fallen(range, { previousCheckpoint });
      const both = await fallen(range, { ...EXTRACTIVE, previousCheckpoint });
      assert.ok(both.summary.startsWith(`${notice.summary}\n\n${PICKED}\n\n`));
      const picked = pickedOf(both.summary) ?? "";
      assert.ok(picked.trim() !== "" && picked.length <= 4_000, `${picked.length}`);
      assert.ok(held(both.request, both) < both.request.budget.hardLimit);
    }
  }
  assert.ok(pickedOf((await fallen(WORDS, EXTRACTIVE)).summary)?.includes("Port the tokenizer"));
  const more = { ...EXTRACTIVE, previousCheckpoint: { summary: "OLD" } };
  const empty = await fallen([], more, denied(), { retainedTail: WORDS });
  assert.equal(empty.summary, `OLD${ENDING}`, "nothing where the range is empty");
});

test("G19 the extractive text goes with the notice at the next failure, and reaches the next success", async () => {
  for (const [carried, previousCheckpoint] of [
    [PLACEHOLDER, undefined],
    ["OLD", { summary: "OLD" }],
  ]) {
    const first = await fallen(WORDS, { ...EXTRACTIVE, previousCheckpoint });
    const next = [{ role: "user", content: "Then the docs." }];
    const failed = await fallen(next, { previousCheckpoint: first });
    assert.equal(failed.summary, `${carried}${ENDING}`);
    const { calls } = await recover(windowed(200_000, 32_000), frozen(prepared(next)), {
      previousCheckpoint: first,
    });
    const previous = previousOf(calls[0].prompt) ?? "";
    assert.ok(previous.includes("Port the tokenizer"), "as part of the earlier summary");
    assert.equal(previous.includes("OLD"), carried === "OLD");
    assert.ok(!previous.includes(NOTICE) && !previous.includes(PLACEHOLDER));
  }
});

test("G19 a range that quotes notice and marker cannot make them nest", async () => {
  const quoted = `why ${NOTICE}\n\n${PICKED}\n\nand ${PLACEHOLDER}`;
  const range = [{ role: "user", content: quoted }, answer(quoted)];
  const first = await fallen(range, { ...EXTRACTIVE, previousCheckpoint: { summary: "OLD" } });
  const second = await fallen(range, { previousCheckpoint: first });
  assert.equal(second.summary, `OLD${ENDING}`);
});

test("E126 secrets are masked in what is carried and picked; the tail is the host's own", async () => {
  const secret = "sk-live-0123456789abcdef-0123456789";
  const rng = random(7);
  const range = [{ role: "user", content: `use ${secret}` }, answer(`used ${secret}`)];
  for (let at = 0; at < 60; at++) {
    const filler = "carry ".repeat(rng.between(900, 2_200));
    const summary = `${filler}${secret} ${filler}${secret}${"x".repeat(rng.between(0, 60))}`;
    const more = { ...EXTRACTIVE, secrets: [secret], previousCheckpoint: { summary } };
    const given = await fallen(range, more);
    for (let part = 0; part + 8 <= secret.length; part++) {
      const piece = secret.slice(part, part + 8);
      assert.ok(!given.summary.includes(piece), `"${piece}" of the secret, round ${at}`);
    }
    assert.deepEqual(given.retainedTail, range);
    for (const [index, message] of given.retainedTail.entries()) assert.equal(message, range[index]);
  }
  const files = { readFiles: [`/home/${secret}/a.ts`], modifiedFiles: [] };
  const named = await fallen(range, {
    secrets: [secret],
    previousCheckpoint: { summary: "OLD", details: files },
  });
  assert.ok(!JSON.stringify(named.details).includes(secret));
});

test("C8 C9 C19 C22 C27 C28 tails over transcripts of any shape: sound, in order, nothing invented", async () => {
  for (let seed = 0; seed < 300; seed++) {
    const rng = random(seed);
    const range = frozen(seed % 2 === 0 ? soundTranscript(seed, 12) : wildTranscript(seed, 30));
    const retentionMode = rng.pick(/** @type {const} */ (["active_turn", "completed_turn", undefined]));
    const budget = { hardLimit: 4_096, requestHeadroom: 4_096, keepRecentTokens: rng.between(40, 2_000) };
    const own = range.filter(({ role }) => role !== "compactionSummary");
    if (buildRetainedTail(own, 1_000, { retentionMode: retentionMode ?? "active_turn" }).length === 0)
      continue;
    const { retainedTail, details, request } = await fallen(range, { retentionMode, budget });
    assert.deepEqual(faults(retainedTail), [], `seed ${seed}`);
    assert.ok(
      !retainedTail.some((/** @type {Message} */ message) => message.role === "compactionSummary"),
      `seed ${seed}`,
    );
    assert.ok(!positions(range, retainedTail).includes(-1), `seed ${seed}: a message that was not there`);
    assert.ok(held(request, { summary: "", retainedTail }) < 4_096, `seed ${seed}`);
    const record = stored({ summary: "s", retainedTail, details });
    const shown = JSON.stringify(replayRetainedTail(record));
    assert.equal(shown, JSON.stringify(record.retainedTail), `C7 seed ${seed}: replayed whole`);
  }
});

test("the newest earlier checkpoint is never in the window: it is carried", async () => {
  const inner = { role: "compactionSummary", summary: "INNER", tokensBefore: 9 };
  const { retainedTail } = await fallen([inner, ...WORDS, inner]);
  assert.deepEqual(retainedTail, WORDS);
});

test("C22 C28 orphans, unanswered calls and broken answers are left out", async () => {
  const range = [
    result("cut-away"),
    ...WORDS,
    call("lost"),
    answer("half", "aborted"),
    ...toolCalls(2, "out"),
  ];
  const { retainedTail } = await fallen(range);
  assert.deepEqual(retainedTail, [...WORDS, ...range.slice(5)]);
});

test("C25 C26 a completed turn keeps a window too, ending on a finished answer", async () => {
  const range = [...LONG, answer("All four hundred are read.")];
  for (const retentionMode of ["completed_turn", "active_turn", undefined]) {
    const { retainedTail } = await fallen(range, { retentionMode });
    assert.equal(retainedTail.at(-1), range.at(-1));
    assert.ok(total(retainedTail) > 33_600 - total(GROUP) - 1);
  }
  const open = await fallen([...WORDS, ...LONG], { retentionMode: "completed_turn" });
  assert.deepEqual(open.retainedTail, WORDS);
});

test("C7 C14 a stored fallback replays its window ten times over, whole", async () => {
  const { request: _, ...checkpoint } = await fallen(LONG);
  let record = stored(checkpoint);
  const window = record.retainedTail;
  for (let restart = 0; restart < 10; restart++) {
    const retainedTail = replayRetainedTail(record);
    assert.deepEqual(retainedTail, window);
    record = stored({ ...record, retainedTail });
  }
});

test("C15 C16 C17 C18 a summary's record narrows to its latest user message", async () => {
  const latest = { role: "user", content: "And the docs." };
  const retainedTail = [{ role: "user", content: "First." }, ...toolCalls(2, "out"), latest, answer("Done.")];
  const preparation = frozen(prepared(WORDS, { retainedTail }));
  const { outcome } = await recover(windowed(200_000, 32_000), preparation);
  assert.deepEqual(outcome.checkpoint.retainedTail, retainedTail, "the live tail is whole");
  assert.deepEqual(replayRetainedTail(stored(outcome.checkpoint)), [latest]);
  const before = stored({ summary: "s", retainedTail, details: { fallback: "retained_tail" } });
  assert.deepEqual(replayRetainedTail(before), [latest], "a fallback from before the marker");
});

test("C29 a newest message beyond everything is cut with a marker, and still fits", async () => {
  const { hardLimit, keepRecentTokens } = contextBudget({ contextWindow: 200_000, maxTokens: 32_000 });
  const huge = { role: "user", content: "😀".repeat(600_000) };
  const { retainedTail, request } = await fallen([...WORDS, huge]);
  assert.equal(hasLoneSurrogate(JSON.stringify(retainedTail)), false);
  assert.ok(estimateTokens(retainedTail.at(-1)) <= keepRecentTokens);
  assert.ok(held(request, { summary: "", retainedTail }) < hardLimit);
});
