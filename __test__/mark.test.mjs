import assert from "node:assert/strict";
import test from "node:test";
import * as native from "../index.js";
import { prepared, windowed } from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import { denied, ENDING, NOTICE, PICKED, PLACEHOLDER, recover, stored } from "./support/recovery.mjs";
import { answer } from "./support/sound.mjs";

// The typings refuse much of this; a host in plain JavaScript has no typings.
/** @type {any} */
const { compactionMark, CompactionError, stripFallbackNotice } = native;

const RECORD = frozen({ id: "k1", throughMessageId: "m9", summary: "s".repeat(400) });
const PLAIN = frozen({
  id: "k1",
  throughMessageId: "m9",
  generation: 1,
  summaryTokens: 100,
  summarized: true,
});
const RANGE = frozen(prepared([{ role: "user", content: "Port the tokenizer." }, answer("Done.")]));

/** @param {unknown} details */
const markOf = (details) => compactionMark(frozen({ ...RECORD, details }));

test("A55 A57 a record without a fallback is drawn as before: no field is added", () => {
  for (const details of [undefined, null, {}, { strategy: "chain" }, { fallback: undefined }]) {
    assert.deepEqual(markOf(details), PLAIN);
    assert.ok(!("fallback" in markOf(details)));
  }
  assert.deepEqual(compactionMark(RECORD), PLAIN, "no details at all");
});

test("A55 A58 the fallback is read from what was stored, in old records too", () => {
  for (const details of [
    { fallback: "retained_tail" },
    { fallback: "retained_tail", retainedTailShape: "recent_window" },
    { fallback: "retained_tail", failureReason: "summary_provider", anything: [1] },
  ]) {
    assert.deepEqual(markOf(details), { ...PLAIN, fallback: "retained_tail" });
  }
});

test("A55 only the one word is a fallback", () => {
  for (const fallback of ["", "other", "Retained_tail", true, 1, {}, ["retained_tail"], null]) {
    assert.deepEqual(markOf({ fallback }), PLAIN, JSON.stringify(fallback));
  }
  assert.deepEqual(compactionMark(frozen({ ...RECORD, fallback: "retained_tail" })), PLAIN, "not in details");
});

test("A2 A13 a context that was begun anew is told apart, and from a fallback", () => {
  assert.deepEqual(markOf({ strategy: "fresh_window" }), { ...PLAIN, summarized: false });
  for (const strategy of ["chain", "refine", "", "Fresh_window", 5, null, ["fresh_window"]]) {
    assert.equal(markOf({ strategy }).summarized, true, JSON.stringify(strategy));
  }
});

test("A55 the generation of the details, from 1", () => {
  for (const generation of [1, 2, 50, Number.MAX_SAFE_INTEGER]) {
    assert.equal(markOf({ generation }).generation, generation);
  }
  for (const generation of [undefined, null, 0, -3, 1.5, Number.NaN, "7", {}, [4], 2 ** 53]) {
    assert.equal(markOf({ generation }).generation, 1, String(generation));
  }
});

test("A56 a quarter of the summary's units, as an integer", () => {
  for (const units of [0, 4, 8_848, 12_000]) {
    assert.equal(compactionMark({ ...RECORD, summary: "s".repeat(units) }).summaryTokens, units / 4);
  }
  for (const units of [1, 2, 3, 8_845]) {
    const { summaryTokens } = compactionMark({ ...RECORD, summary: "s".repeat(units) });
    assert.ok(Number.isInteger(summaryTokens) && Math.abs(summaryTokens - units / 4) < 1, `${units}`);
  }
  assert.equal(
    compactionMark({ ...RECORD, summary: "😀".repeat(200) }).summaryTokens,
    100,
    "units, not signs",
  );
});

test("A57 details of any shape make a mark, never an error", () => {
  for (const details of [5, "text", true, [], [1], () => {}, new Map(), Symbol("x"), 5n]) {
    assert.deepEqual(compactionMark({ ...RECORD, details }), PLAIN, typeof details);
  }
});

test("A55 anything but a record with a summary is refused", () => {
  const odd = [undefined, null, 5, "record", true, {}, [], { id: "k", throughMessageId: "m" }];
  const bad = [undefined, null, 5, {}, ["s"]].map((summary) => ({ ...RECORD, summary }));
  for (const record of [...odd, ...bad]) {
    assert.throws(
      () => compactionMark(record),
      (/** @type {any} */ error) => error instanceof CompactionError && error.code === "invalid_argument",
      JSON.stringify(record),
    );
  }
});

test("A55 B34 B37 the marks of a summary, a fallback and the summary after it", async () => {
  const ids = { id: "k", throughMessageId: "m" };
  const first = stored((await recover(windowed(200_000, 32_000), RANGE)).outcome.checkpoint);
  assert.deepEqual(compactionMark(first), { ...ids, generation: 1, summaryTokens: 2, summarized: true });
  const carried = { previousCheckpoint: first };
  const second = stored((await recover(denied(), RANGE, carried)).outcome.checkpoint);
  const summaryTokens = compactionMark(second).summaryTokens;
  assert.ok(Math.abs(summaryTokens - second.summary.length / 4) < 1);
  const fallback = "retained_tail";
  assert.deepEqual(compactionMark(second), {
    ...ids,
    generation: 2,
    summaryTokens,
    summarized: true,
    fallback,
  });
  const again = { previousCheckpoint: second };
  const third = stored((await recover(windowed(200_000, 32_000), RANGE, again)).outcome.checkpoint);
  assert.deepEqual(compactionMark(third), { ...ids, generation: 3, summaryTokens: 2, summarized: true });
});

test("B19 G19 the notice, the placeholder and the picked text go; the rest stays as it is", () => {
  const real = "## Goal\nShip it.\n\n## Next Steps\n- the benchmark\n\n<read-files>\na.ts\n</read-files>";
  const picked = `\n\n${PICKED}\n\n## Goal\npicked\n\n- more`;
  for (const [given, left] of [
    [real, real],
    [`${real}${ENDING}`, real],
    [`${real}${ENDING}${picked}`, real],
    [`${PLACEHOLDER}${ENDING}`, ""],
    [`${PLACEHOLDER}${ENDING}${picked}`, ""],
    [NOTICE, ""],
    [PLACEHOLDER, ""],
    ["", ""],
  ]) {
    assert.equal(stripFallbackNotice(given), left, given);
    assert.equal(stripFallbackNotice(left), left, "a second time changes nothing");
  }
});

test("G19 opensquilla#1563 notices that older versions nested all go", () => {
  for (const nested of [
    `REAL${ENDING}${ENDING}`,
    `REAL${ENDING}${ENDING}${ENDING}${ENDING}`,
    `${PLACEHOLDER}${ENDING}\n\nREAL${ENDING}`,
    `REAL\n\n${PLACEHOLDER}${ENDING}${ENDING}`,
    `REAL${ENDING}\n\n${PICKED}\n\nwords${ENDING}`,
  ]) {
    assert.equal(stripFallbackNotice(nested), "REAL", nested);
  }
  assert.equal(stripFallbackNotice(`${PLACEHOLDER}${ENDING}${ENDING}`), "");
});

test("B19 words of a person that only look like it stay", () => {
  for (const words of [
    "The file list was [picked from the omitted messages, by hand].",
    `A test quotes "${PICKED}" and goes on.\n\n## Next Steps\n- more`,
    "[automatic context recovery: off]",
    "No previous context checkpoint",
  ]) {
    assert.equal(stripFallbackNotice(words), words);
  }
});

test("B19 anything but a text is refused, and the argument is named", () => {
  for (const odd of [undefined, null, 5, {}, ["s"], true]) {
    assert.throws(
      () => stripFallbackNotice(odd),
      (/** @type {any} */ error) => error.code === "invalid_argument" && /summary/.test(error.message),
    );
  }
});
