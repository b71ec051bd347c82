// A fallback's text: what stays of the earlier summary, whatever stands in it.

import assert from "node:assert/strict";
import test from "node:test";
import { contextBudget, stripFallbackNotice } from "../index.js";
import { prepared, previousOf, run, windowed } from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import {
  carriedOf,
  count,
  denied,
  ENDING,
  NOTICE,
  PICKED,
  PLACEHOLDER,
  recover,
  stored,
} from "./support/recovery.mjs";
import { answer } from "./support/sound.mjs";

/** @typedef {import("./support/transcripts.mjs").Message} Message */

const WORDS = frozen([{ role: "user", content: "Port the tokenizer." }, answer("The scanner is done.")]);
const EXTRACTIVE = frozen({ fallbackSummary: "extractive" });
const SECRET = "sk-123456";
const { fallbackSummaryChars: MOST } = contextBudget({ contextWindow: 200_000, maxTokens: 32_000 });

/** The fallback of a range. @param {readonly Message[]} range @param {object} more @param {object} preparation */
async function fallen(range, more = {}, preparation = {}) {
  const { outcome, error } = await recover(denied(), frozen(prepared(range, preparation)), more);
  assert.equal(outcome?.kind, "fallback", `${error ?? outcome?.error}`);
  return outcome.checkpoint;
}

/** A model that answers. */
const answering = () => windowed(200_000, 32_000, ["NEXT"]);

/** Summaries in which a model wrote the words that head a fallback's excerpt. */
const QUOTING = [
  `# Goal\nA\n\n${PICKED}\n\nIMPORTANT B`,
  `${PICKED}\n\nIMPORTANT B`,
  `# Goal\nA\n${PICKED}\nIMPORTANT B`,
  `# Goal\nA\n\n  ${PICKED}  \n\nIMPORTANT B`,
  `# Goal\nA\n\n${PICKED}\n\nIMPORTANT B\n\n${PICKED}`,
];

test("B19 G19 the excerpt's heading without a notice before it is the summary's own: nothing behind it is lost", async () => {
  for (const summary of QUOTING) {
    assert.equal(stripFallbackNotice(summary), summary);
    for (const [more, preparation] of [
      [{}, { previousSummary: summary }],
      [{ previousCheckpoint: { summary } }, {}],
    ]) {
      const first = await fallen(WORDS, more, preparation);
      assert.equal(first.summary, `${summary}${ENDING}`);
      const second = await fallen(WORDS, { ...EXTRACTIVE, previousCheckpoint: stored(first) });
      assert.equal(carriedOf(second.summary), summary, "and a generation later");
      const third = await fallen(WORDS, { previousCheckpoint: stored(second) });
      assert.equal(third.summary, `${summary}${ENDING}`, "the excerpt that a fallback added is gone");
    }
    for (const strategy of ["chain", "refine"]) {
      const { calls } = await run(answering(), prepared(WORDS, { previousSummary: summary }), { strategy });
      assert.match(previousOf(calls[0].prompt) ?? "", /IMPORTANT B/);
    }
  }
});

test("B19 behind a notice the same words head an excerpt, and it goes", async () => {
  for (const summary of [
    `OLD${ENDING}\n\n${PICKED}\n\nIMPORTANT B`,
    `OLD${ENDING}\n${PICKED}\nIMPORTANT B`,
    `OLD${ENDING}\n\n\n \n${PICKED}\n\nIMPORTANT B`,
  ]) {
    assert.equal(stripFallbackNotice(summary), "OLD");
    assert.equal((await fallen(WORDS, { previousCheckpoint: { summary } })).summary, `OLD${ENDING}`);
  }
});

/** A summary of so many units that lists so many files. @param {number} units @param {number} files */
function listing(units, files) {
  const paths = Array.from({ length: files }, (_, index) => `src/dir/file-number-${index}.ts`).sort();
  const words = "Words of it. ".padEnd(units, "w");
  const read = `<read-files>\n${paths.join("\n")}\n</read-files>`;
  const summary = `${words}\n\n${read}\n\n<modified-files>\nsrc/z.ts\n</modified-files>`;
  return { summary, paths };
}

for (const [units, files] of [
  [20, 900],
  [20, 400],
  [11_000, 40],
  [30_000, 40],
  [30_000, 300],
  [MOST - 100, 5],
  [MOST, 1],
]) {
  test(`a carried summary of ${units} units with ${files} files is never cut through a path`, async () => {
    const { summary, paths } = listing(units, files);
    const known = [...paths, "src/z.ts"];
    const record = { summary, details: { readFiles: paths, modifiedFiles: ["src/z.ts"] } };
    const first = await fallen(WORDS, { previousCheckpoint: record });
    assert.ok((carriedOf(first.summary) ?? "").length <= MOST);
    assert.match(first.summary, /^Words of it/);
    assert.deepEqual(first.details.readFiles, paths);
    assert.deepEqual(first.details.modifiedFiles, ["src/z.ts"]);
    const byText = await run(answering(), prepared(WORDS, { previousSummary: first.summary }));
    const named = [...byText.result.details.readFiles, ...byText.result.details.modifiedFiles];
    assert.deepEqual(
      named.filter((/** @type {string} */ path) => !known.includes(path)),
      [],
      "a host that keeps the text alone gets no file that is none",
    );
    const byRecord = await recover(answering(), prepared(WORDS), { previousCheckpoint: stored(first) });
    assert.deepEqual(byRecord.outcome.checkpoint.details.readFiles, paths);
    assert.deepEqual(byRecord.outcome.checkpoint.details.modifiedFiles, ["src/z.ts"]);
  });
}

test("G19 an earlier fallback inside the range cannot make notices nest", async () => {
  const earlier = `old facts${ENDING}\n\n${PICKED}\n\n## Goal\n- x`;
  const ranges = [
    [{ role: "compactionSummary", summary: earlier, tokensBefore: 1 }, ...WORDS],
    [{ role: "user", content: earlier }, answer(earlier), ...WORDS],
  ];
  for (const range of ranges) {
    for (const summary of [undefined, "OLD", `OLD${ENDING}\n\n${PICKED}\n\n- picked before`]) {
      const previousCheckpoint = summary === undefined ? undefined : { summary };
      const carried = summary === undefined ? PLACEHOLDER : "OLD";
      const first = await fallen(range, { ...EXTRACTIVE, previousCheckpoint });
      assert.deepEqual([count(first.summary, NOTICE), count(first.summary, PICKED)], [1, 1]);
      assert.equal(carriedOf(first.summary), carried);
      const second = await fallen(range, { ...EXTRACTIVE, previousCheckpoint: stored(first) });
      assert.equal(second.summary, first.summary, "nor does it grow");
    }
  }
});

test("E126 G19 a secret in two halves around a line of a fallback is masked when the line is taken out", async () => {
  const block = "BEGIN KEY\n\nEND KEY";
  for (const [summary, secret] of [
    [`top sk-${NOTICE}123456 end`, SECRET],
    [`top s${NOTICE}k-12${NOTICE}3456 end`, SECRET],
    [`BEGIN KEY\n\n${NOTICE}\n\nEND KEY`, block],
    [`BEGIN KEY\n\n${PLACEHOLDER}\n\nEND KEY`, block],
    [`BEGIN KEY\n\n${NOTICE}\n\n${NOTICE}\n\nEND KEY\n\nrest`, block],
  ]) {
    for (const more of [{}, EXTRACTIVE]) {
      const secrets = [secret];
      const { summary: text } = await fallen(WORDS, { ...more, secrets, previousCheckpoint: { summary } });
      assert.ok(!text.includes(secret), text);
      assert.ok(!stripFallbackNotice(text).includes(secret), text);
      const preparation = prepared(WORDS, { previousSummary: summary });
      const { calls } = await run(answering(), preparation, { secrets });
      assert.ok(!calls[0].prompt.includes(secret), "nor does a model get it");
    }
  }
});
