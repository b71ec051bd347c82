// Where the texts of a fallback, secrets, warnings and signals meet.

import assert from "node:assert/strict";
import test from "node:test";
import vm from "node:vm";
import * as native from "../index.js";
import { failed, prepared, previousOf, run, says, windowed } from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import { count, denied, ENDING, NOTICE, PICKED, PLACEHOLDER, recover, stored } from "./support/recovery.mjs";
import { eventsOf, turns } from "./support/refine.mjs";
import { answer } from "./support/sound.mjs";

/** @type {any} */
const { compactWithRecovery, contextBudget, exportCache, generateCompaction, importCache } = native;
const WORDS = frozen([{ role: "user", content: "Port the tokenizer." }, answer("The scanner is done.")]);
const SHORT = frozen(prepared(WORDS));
const EXTRACTIVE = frozen({ fallbackSummary: "extractive" });
const wide = (/** @type {any[]} */ ...script) => windowed(200_000, 32_000, script);
const { hardLimit } = contextBudget({ contextWindow: 200_000, maxTokens: 32_000 });

/** The text of a fallback with an excerpt. @param {any[]} range @param {object} more */
async function picked(range, more = {}) {
  const { outcome } = await recover(denied(), prepared(range), { ...EXTRACTIVE, ...more });
  assert.equal(outcome.kind, "fallback");
  return outcome.checkpoint.summary;
}

test("E126 a secret in two halves around a line of a fallback is masked in what is picked", async () => {
  for (const line of [NOTICE, PICKED]) {
    const content = `the key is sk-${line}123456`;
    for (const range of [[{ role: "user", content }], [{ role: "user", content: "go" }, answer(content)]]) {
      const summary = await picked(range, { secrets: ["sk-123456"] });
      assert.ok(!summary.includes("sk-123456"), summary);
    }
  }
});

test("G19 what is picked cannot put a notice together", async () => {
  for (const content of [
    `a ${NOTICE.slice(0, 9)}${PICKED}${NOTICE.slice(9)} b`,
    `a ${NOTICE.slice(0, 9)}${NOTICE}${NOTICE.slice(9)} b`,
  ]) {
    assert.equal(count(await picked([{ role: "user", content }]), NOTICE), 1);
  }
});

test("B19 G19 a placeholder inside the range is not picked, and so reaches no model later", async () => {
  const summary = `${PLACEHOLDER}${ENDING}\n\n${PICKED}\n\n## Goal\n- x`;
  const range = [{ role: "compactionSummary", summary, tokensBefore: 1 }, ...WORDS];
  const text = await picked(range, { previousCheckpoint: { summary: "OLD" } });
  assert.equal(count(text, PLACEHOLDER), 0);
  const { calls } = await recover(wide("S"), SHORT, { previousCheckpoint: stored({ summary: text }) });
  assert.ok(!previousOf(calls[0].prompt)?.includes(PLACEHOLDER));
});

test("G17 an imported summary is blank by the rule by which an answer is", async () => {
  for (const [at, blank] of ["\u200b", "\u2060 ", "\u0000"].entries()) {
    const { error } = await run(wide(blank), SHORT);
    assert.equal(error?.code, "summary_empty", "as an answer");
    const sessionId = `blank ${at}`;
    await run(wide("S"), SHORT, { sessionId });
    const [{ key }] = exportCache(sessionId).entries;
    const exported = { version: 1, entries: [{ key, summary: blank }] };
    assert.throws(() => importCache(exported), { code: "invalid_argument" }, JSON.stringify(blank));
  }
});

test("B37 nothing was rechecked where no summary was asked for", async () => {
  for (const reason of ["threshold", "manual"]) {
    const { outcome, calls } = await recover(wide("S"), SHORT, { reason, fixedTokens: hardLimit });
    assert.equal(calls.length, 0);
    assert.ok(!outcome.report.stages.includes("recheck"), `${outcome.report.stages}`);
  }
});

for (const strategy of ["chain", "refine"]) {
  test(`G4 ${strategy}: messages that only the plan after an overflow cuts are told of as well`, async () => {
    const limits = /** @type {const} */ ([32_768, 8_192]);
    const narrow = ({ prompt }) => {
      const tokens = Math.ceil(prompt.length / 3);
      return tokens > 4_000 ? failed(`prompt is too long: ${tokens} tokens > 4000 maximum`) : says("S");
    };
    const by = windowed(...limits, [narrow]);
    const { error, calls, events } = await run(by, prepared(turns(16, 6_000)), { strategy });
    assert.equal(error, undefined, `${error}`);
    assert.equal(eventsOf(events, "replan").length, 1);
    assert.ok(
      calls.some(({ prompt }) => /\[\.\.\./.test(prompt)),
      "messages are cut",
    );
    const warned = eventsOf(events, "warning").map(({ message }) => message);
    assert.ok(
      warned.some((message) => /cut/.test(message)),
      `${warned}`,
    );
  });
}

test("openclaw#80641 a previous summary that only the plan after an overflow cuts is told of as well", async () => {
  const steps = [failed("prompt is too long: 12000 tokens > 6000 maximum"), says("S")];
  const preparation = prepared(turns(10, 4_000), { previousSummary: `HEAD ${"p".repeat(20_000)} TAIL` });
  const { error, calls, events } = await run(windowed(32_768, 8_192, steps), preparation);
  assert.equal(error, undefined, `${error}`);
  assert.match(previousOf(calls[1].prompt) ?? "", /^HEAD p+\s*\[\.\.\.[\s\S]* TAIL$/, "it is cut");
  assert.ok(eventsOf(events, "warning").some(({ message }) => /previous summary .*cut/.test(message)));
});

test("a signal whose reason cannot be read, or that is there only at first, is no raw rejection", async () => {
  const boom = () => {
    throw new Error("boom");
  };
  const odd = { aborted: true, addEventListener() {}, removeEventListener() {} };
  for (const call of [generateCompaction, compactWithRecovery]) {
    const { summarizer } = wide("S");
    const whole = { preparation: SHORT, reason: "threshold", budget: contextBudget({}), summarizer };
    const signal = Object.defineProperty({ ...odd }, "reason", { get: boom });
    await assert.rejects(call({ ...whole, signal }), { name: "CompactionError", code: "invalid_argument" });
    let reads = 0;
    const given = AbortSignal.abort("given up");
    const get = () => (++reads > 2 ? boom() : given);
    const fleeting = Object.defineProperty({ ...whole }, "signal", { get });
    await assert.rejects(
      call(fleeting),
      (error) => error === "given up" || error.code === "invalid_argument",
    );
  }
});

test("details of another realm are a plain record as well", async () => {
  const details = vm.runInNewContext('({ generation: 7, readFiles: ["a.ts"], modifiedFiles: [] })');
  const { outcome } = await recover(wide("S"), SHORT, { previousCheckpoint: { summary: "OLD", details } });
  const { generation, readFiles } = outcome.checkpoint.details;
  assert.deepEqual([generation, readFiles, outcome.report.warnings], [8, ["a.ts"], []]);
});
