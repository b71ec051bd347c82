import assert from "node:assert/strict";
import test from "node:test";
import { refineBudgets, serializeConversation } from "../index.js";
import { conversationOf, failed, prepared, previousOf, says, sentTokens } from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import {
  CHARS,
  chunkCalls,
  eventsOf,
  isCompression,
  lineage,
  marksOf,
  modelOf,
  recordOf,
  refined,
  turn,
  turns,
  upTo,
} from "./support/refine.mjs";
import { answer, call, result as toolResult } from "./support/sound.mjs";

const LIMITS = frozen({ contextWindow: 32_768, maxTokens: 32_000 });
const { chunkBudget, maxPromptTokens, maxOutputTokens } = refineBudgets({ summaryModel: LIMITS });
/** Sixteen turns that fill one chunk nearly. */
const ONE_CHUNK = frozen(turns(16, Math.floor((chunkBudget * CHARS) / 16) - 2));
const CUT_OFF = frozen(says("cut off in the mid", { stopReason: "length" }));

/** Answers of `units`, but cut off where the record has more turns than `most`. @param {number} most */
const cutOffAbove =
  (most, units = 0) =>
  (/** @type {any} */ made) =>
    !isCompression(made) && marksOf(conversationOf(made.prompt)).length > most
      ? CUT_OFF
      : `S${made.index} `.padEnd(units, "s").trim();

/** @param {(call: any) => any} rule @param {object} preparation @param {object} more */
const refine = (rule, preparation = prepared(ONE_CHUNK), more = {}) =>
  refined(modelOf(rule, LIMITS), preparation, more);

/** The turns in each request, in order. @param {readonly any[]} calls */
const turnsOf = (calls) => calls.map(({ prompt }) => marksOf(conversationOf(prompt)));

test("D29 D34 D59 D65 D70 a cut-off answer splits its chunk; the halves go through one running summary", async () => {
  const { result, error, calls, events } = await refine(cutOffAbove(8));
  assert.equal(error, undefined);
  assert.deepEqual(turnsOf(calls), [upTo(16), upTo(8), upTo(16).slice(8)]);
  assert.deepEqual(
    calls.map(({ prompt }) => previousOf(prompt)),
    [undefined, undefined, "S1"],
  );
  const splits = eventsOf(events, "split");
  assert.deepEqual(
    splits.map(({ cause, index, of }) => [cause, index, of]),
    [["answer", 1, 1]],
  );
  assert.equal(result.details.retrySplits, 1);
  assert.equal(result.details.chunks, 1);
  assert.match(result.summary, /\nS2\n/);
});

test("D64 D65 a half whose answer is cut off is split again", async () => {
  const { result, calls, events } = await refine(cutOffAbove(4));
  const [first, second] = [upTo(16).slice(0, 8), upTo(16).slice(8)];
  assert.deepEqual(turnsOf(calls), [
    upTo(16),
    first,
    first.slice(0, 4),
    first.slice(4),
    second,
    second.slice(0, 4),
    second.slice(4),
  ]);
  assert.deepEqual(
    calls.map(({ prompt }) => previousOf(prompt)),
    [undefined, undefined, undefined, "S2", "S3", "S3", "S5"],
    "a cut-off answer is never carried on",
  );
  const depths = eventsOf(events, "split").map(({ depth }) => depth);
  assert.deepEqual(depths, [depths[0], depths[0] + 1, depths[0] + 1]);
  assert.equal(result.details.retrySplits, 3);
  assert.equal(recordOf(calls), serializeConversation(ONE_CHUNK));
});

test("D65 D67 after two splits there is no third: without a running summary the answer's fault is the end", async () => {
  const { error, calls, events } = await refine(() => CUT_OFF);
  assert.equal(error?.code, "summary_incomplete");
  assert.deepEqual(
    turnsOf(calls).map(({ length }) => length),
    [16, 8, 4],
  );
  assert.equal(eventsOf(events, "split").length, 2);
  assert.equal(eventsOf(events, "done").length, 0);
});

/** A summary that does not leave room for itself in the next answer. */
const LONG = Math.floor(0.8 * maxOutputTokens) * CHARS;

/**
 * The first quarter's answer is long, the second quarter's is cut off until the summary is short.
 *
 * @param {any} compressed the answer to the compression @param {(call: any) => any} then the second quarter's next
 */
function deepShrink(compressed, then = () => "S-AGAIN") {
  let shrunk = false;
  return (/** @type {any} */ made) => {
    if (isCompression(made)) {
      shrunk = true;
      return compressed;
    }
    const marks = marksOf(conversationOf(made.prompt));
    if (marks.length > 4) return CUT_OFF;
    if (marks[0] === 0) return `S${made.index} `.padEnd(LONG, "s");
    return marks[0] === 4 ? (shrunk ? then(made) : CUT_OFF) : `S${made.index}`;
  };
}

test("D67 D68 at depth 2 the running summary is compressed, and the same chunk is sent once more", async () => {
  const { result, error, calls, events } = await refine(deepShrink("SHORT"));
  assert.equal(error, undefined);
  const at = calls.findIndex(isCompression);
  assert.equal(previousOf(calls[at].prompt)?.length, LONG);
  assert.deepEqual(marksOf(conversationOf(calls[at - 1].prompt)), [4, 5, 6, 7]);
  assert.equal(conversationOf(calls[at + 1].prompt), conversationOf(calls[at - 1].prompt), "the same chunk");
  assert.equal(previousOf(calls[at + 1].prompt), "SHORT");
  assert.equal(calls.filter(isCompression).length, 1);
  assert.equal(result.details.shrinkCount, 1);
  assert.equal(eventsOf(events, "compress").length, 1);
  assert.equal(recordOf(calls), serializeConversation(ONE_CHUNK));
});

test("D67 it aims at 0.6 of the answer's allowance", async () => {
  const { calls } = await refine(deepShrink("SHORT"));
  const { prompt } = /** @type {any} */ (calls.find(isCompression));
  const numbers = prompt.trim().split("\n").at(-1).replaceAll(",", "").match(/\d+/g).map(Number);
  const aim = Math.floor(0.6 * maxOutputTokens);
  const near = (/** @type {number} */ number) =>
    Math.abs(number - aim) <= 1 || Math.abs(number - aim * 3) <= 3;
  assert.ok(numbers.some(near), `${numbers} has none for ${aim}`);
});

test("D68 the same chunk is sent once more, and not twice", async () => {
  const { error, calls } = await refine(deepShrink("SHORT", () => CUT_OFF));
  assert.equal(error?.code, "summary_incomplete");
  assert.equal(calls.filter(isCompression).length, 1);
  assert.equal(calls.findIndex(isCompression), calls.length - 2);
});

/** Compressions that come to nothing. @type {Record<string, any>} */
const FAILED = {
  "a bad key": failed("401 invalid x-api-key"),
  "an overload that stays": failed("529 overloaded"),
  "a cut-off answer": CUT_OFF,
  "an empty answer": says(" "),
  "a refusal": says("no", { stopReason: "refusal" }),
  "a thrown error": new Error("socket hang up"),
};

for (const [title, bad] of Object.entries(FAILED)) {
  test(`D69 a compression that fails leaves the original fault: ${title}`, async () => {
    const { error, calls } = await refine(deepShrink(bad, () => CUT_OFF));
    assert.equal(error?.code, "summary_incomplete", `${error}`);
    assert.ok(calls.some(isCompression));
    assert.ok(isCompression(calls[calls.length - 1]), "nothing is sent after it");
  });
}

/** Two chunks; the answer to the first is long, and no compression succeeds. @param {number} tokens */
function swollen(tokens) {
  const messages = [...ONE_CHUNK, ...turns(16, ONE_CHUNK[0].content.length + 8, 16)];
  const rule = (/** @type {any} */ made) => {
    if (isCompression(made)) return failed("400 no");
    const first = marksOf(conversationOf(made.prompt))[0] === 0;
    return `S${made.index} `.padEnd(first ? tokens * CHARS : 0, "s").trim();
  };
  return { messages, rule };
}

for (const [tokens, least] of /** @type {const} */ ([
  [9_500, 2],
  [12_000, 3],
])) {
  test(`D62 D63 a prompt that would be too large is split before it is sent: ${tokens}`, async () => {
    const { messages, rule } = swollen(tokens);
    const { result, error, calls, events } = await refine(rule, prepared(messages));
    assert.equal(error, undefined);
    for (const made of calls)
      assert.ok(sentTokens(made, CHARS) <= maxPromptTokens, "D28 never above the cap");
    const splits = eventsOf(events, "split");
    assert.ok(splits.length >= least - 1, `${splits.length} splits`);
    assert.ok(splits.every(({ cause, index }) => cause === "prompt" && index === 2));
    const depths = new Set(splits.map(({ depth }) => depth));
    assert.ok(depths.size <= 3, "three deep");
    assert.equal(result.details.retrySplits, splits.length);
    assert.equal(recordOf(calls), serializeConversation(messages));
    assert.equal(
      lineage(calls, result.summary).length,
      chunkCalls(calls).length,
      "each answer is carried on",
    );
  });
}

test("D62 three deep and no deeper: what still does not fit goes beside a summary that is cut", async () => {
  const { messages, rule } = swollen(maxPromptTokens * 2);
  const { error, calls, events } = await refine(rule, prepared(messages));
  assert.equal(error, undefined);
  const splits = eventsOf(events, "split");
  assert.ok(splits.length <= 7, `${splits.length}: a chunk has eight pieces at most`);
  for (const made of calls) assert.ok(sentTokens(made, CHARS) <= maxPromptTokens);
  const said = new Set(eventsOf(events, "warning").map(({ message }) => message));
  assert.ok(said.size >= 2, `that no compression succeeded, and that the summary was cut: ${[...said]}`);
  assert.equal(recordOf(calls), serializeConversation(messages));
});

test("D66 both kinds of splits are counted apart", async () => {
  const { messages, rule } = swollen(12_000);
  const stubborn = (/** @type {any} */ made) => {
    const marks = marksOf(conversationOf(made.prompt));
    return !isCompression(made) && marks[0] === 16 && marks.length > 1 ? CUT_OFF : rule(made);
  };
  const { error, calls, events } = await refine(stubborn, prepared(messages));
  assert.equal(error, undefined, "halved twice for the prompt, the first piece still twice for the answer");
  const causes = eventsOf(events, "split").map(({ cause }) => cause);
  assert.ok(causes.includes("prompt") && causes.includes("answer"));
  assert.equal(recordOf(calls), serializeConversation(messages));
});

test("D63 a split is at the turn boundary nearest the middle by size", async () => {
  const share = Math.floor((chunkBudget * CHARS) / 8) - 2;
  for (const [sizes, at] of /** @type {[number[], number][]} */ ([
    [[1, 1, 1, 1, 3.9], 4],
    [[3.9, 1, 1, 1, 1], 1],
    [[1, 4, 2.9], 2],
    [[2.9, 4, 1], 1],
    [[1, 1, 1, 1, 1, 1.9], 3],
  ])) {
    const messages = sizes.map((size, index) => turn(index, Math.floor(size * share)));
    const { calls } = await refine(cutOffAbove(sizes.length - 1), prepared(messages));
    assert.deepEqual(turnsOf(calls).slice(1), [
      upTo(sizes.length).slice(0, at),
      upTo(sizes.length).slice(at),
    ]);
  }
});

/** One turn of call groups. @param {number} groups @param {number} units of each result */
function giantTurn(groups, units) {
  const parts = upTo(groups).map((index) => [
    call(`c${index}`, { path: `call-${index}.ts` }),
    toolResult(`c${index}`, `result-${index} `.padEnd(units, "o")),
  ]);
  return frozen([{ role: "user", content: "go" }, ...parts.flat(), answer("done")]);
}

/** @param {string} word @param {string} text */
const numbersOf = (word, text) =>
  [...text.matchAll(new RegExp(`${word}-(\\d+)`, "g"))].map(([, n]) => Number(n));

test("D41 D71 one giant turn is split between call groups, never between a call and its result", async () => {
  const messages = giantTurn(15, 1_000);
  const rule = (/** @type {any} */ made) =>
    conversationOf(made.prompt).length > 5_000 ? CUT_OFF : `S${made.index}`;
  const { error, calls, events } = await refine(rule, prepared(messages));
  assert.equal(error, undefined);
  assert.ok(eventsOf(events, "split").length >= 3);
  for (const { prompt } of calls) {
    const record = conversationOf(prompt);
    assert.deepEqual(numbersOf("call", record), numbersOf("result", record));
    assert.doesNotMatch(record, /^\[Tool result\]/);
  }
  assert.equal(recordOf(calls), serializeConversation(messages));
});

test("D71 what cannot be split is not: one call group, one message", async () => {
  const group = [call("c", { path: "a.ts" }), toolResult("c", "o".repeat(1_500))];
  for (const messages of [group, [turn(0, 2_000)]]) {
    const { error, calls, events } = await refine(() => CUT_OFF, prepared(messages));
    assert.equal(error?.code, "summary_incomplete");
    assert.equal(calls.length, 1);
    assert.equal(eventsOf(events, "split").length, 0);
  }
});

test("G4 D71 a single message larger than a chunk is cut with a marker, and never sent whole", async () => {
  for (const at of [0, 8, 16]) {
    const giant = { role: "user", content: `HEAD ${"x".repeat(400_000)} TAIL` };
    const messages = frozen(ONE_CHUNK.toSpliced(at, 0, giant));
    const { error, calls } = await refine(({ index }) => `S${index}`, prepared(messages));
    assert.equal(error, undefined);
    const holding = calls.filter(({ prompt }) => prompt.includes("HEAD "));
    assert.equal(holding.length, 1);
    assert.match(holding[0].prompt, /HEAD x+[^x]*\[\.\.\.[^\]]+\][^x]*x+ TAIL/);
    assert.deepEqual(
      chunkCalls(calls).flatMap(({ prompt }) => marksOf(prompt)),
      upTo(16),
    );
    for (const made of calls) assert.ok(sentTokens(made, CHARS) <= maxPromptTokens);
  }
});

test("G6 G11 a window of a few dozen tokens a chunk is refused; where messages are cut, it is said", async () => {
  for (let contextWindow = 1_000; contextWindow < 4_000; contextWindow += 100) {
    const messages = turns(16, 1_400);
    const by = modelOf(({ index }) => `S${index}`, { contextWindow, maxTokens: undefined });
    const { error, calls, events } = await refined(by, prepared(messages));
    if (error !== undefined) {
      assert.equal(error.code, "summary_budget", `${contextWindow}`);
      assert.equal(calls.length, 0, "before any request");
      continue;
    }
    const cut = recordOf(calls) !== serializeConversation(messages);
    assert.equal(
      eventsOf(events, "warning").length > 0,
      cut,
      `${contextWindow}: a cut is said, and nothing else`,
    );
    for (const index of chunkCalls(calls).keys()) {
      assert.ok(
        conversationOf(calls[index].prompt).length > 100,
        `${contextWindow}: a message is left of it`,
      );
    }
  }
});
