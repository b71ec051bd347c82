import assert from "node:assert/strict";
import test from "node:test";
import { refineBudgets, serializeConversation } from "../index.js";
import {
  conversationOf,
  instructionsOf,
  prepared,
  previousOf,
  run,
  sentTokens,
  windowed,
} from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import {
  CHARS,
  chunkCalls,
  eventsOf,
  marksOf,
  modelOf,
  numbered,
  recordOf,
  refined,
  turn,
  turns,
  upTo,
  WORDS,
} from "./support/refine.mjs";
import { answer, call, result as toolResult } from "./support/sound.mjs";

const MAIN = frozen({ contextWindow: 200_000 });
const SMALL = frozen({ contextWindow: 32_768, maxTokens: 32_000 });
const small = (rule = /** @type {(call: any) => any} */ (numbered())) => modelOf(rule, SMALL);

/** Budgets of a model beside a main window of 200,000. @param {object} summaryModel @param {object} more */
const budgetsOf = (summaryModel, more = {}) => refineBudgets({ mainModel: MAIN, summaryModel, ...more });

const TURNS = frozen(turns(20, 3_000));

test("D1 D3 D4 D45 G7 a running summary goes from chunk to chunk: initial first, then update", async () => {
  const more = { mainModel: MAIN, prompts: WORDS };
  const { result, error, calls } = await refined(small(), prepared(TURNS), more);
  assert.equal(error, undefined);
  assert.ok(calls.length >= 7, `${calls.length} requests`);
  for (const [index, { prompt, system }] of calls.entries()) {
    assert.equal(system, "SYSTEM-WORDS", "D54 one system prompt");
    assert.equal(previousOf(prompt), index === 0 ? undefined : `S${index - 1}`);
    assert.equal(instructionsOf(prompt), index === 0 ? "INITIAL-WORDS" : "UPDATE-WORDS");
  }
  assert.match(
    result.summary,
    new RegExp(`^\\[[^\\n]*\\]\\n\\nS${calls.length - 1}\\n\\n\\[`),
    "D5 the last",
  );
});

test("D45 G7 a previous summary starts the loop, and the first request updates it", async () => {
  const preparation = prepared(TURNS, { previousSummary: "## Goal\nOf old." });
  const { calls } = await refined(small(), preparation, { mainModel: MAIN, prompts: WORDS });
  assert.equal(previousOf(calls[0].prompt), "## Goal\nOf old.");
  for (const { prompt } of calls) assert.equal(instructionsOf(prompt), "UPDATE-WORDS");
});

test("D47 the record, then the running summary, then the instructions", async () => {
  const { calls } = await refined(small(), prepared(TURNS), { mainModel: MAIN, prompts: WORDS });
  assert.match(calls[0].prompt, /^<conversation>\n[\s\S]*\n<\/conversation>\n+INITIAL-WORDS$/);
  const update =
    /^<conversation>\n[\s\S]*\n<\/conversation>\n+<previous-summary>\nS0\n<\/previous-summary>\n+UPDATE-WORDS$/;
  assert.match(calls[1].prompt, update);
});

test("D36 D37 D43 D44 at least ratio chunks, none above the budget, the record whole and in order", async () => {
  for (const contextWindow of [4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 200_000]) {
    const limits = { contextWindow, maxTokens: 32_000 };
    const { ratio, chunkBudget, maxPromptTokens } = budgetsOf(limits);
    for (const [count, units] of /** @type {const} */ ([
      [60, 400],
      [60, 1_900],
      [49, 90],
    ])) {
      const messages = frozen(turns(count, units));
      const { calls, error } = await refined(modelOf(numbered(), limits), prepared(messages), {
        mainModel: MAIN,
      });
      assert.equal(error, undefined, `${contextWindow}`);
      assert.ok(calls.length >= Math.min(ratio, count), `${contextWindow}: ${calls.length} of ${ratio}`);
      assert.equal(recordOf(calls), serializeConversation(messages));
      for (const made of calls) {
        assert.ok(Math.ceil(conversationOf(made.prompt).length / CHARS) <= chunkBudget);
        assert.ok(sentTokens(made, CHARS) <= maxPromptTokens, "D20");
      }
    }
  }
});

test("D36 fewer messages than ratio: a chunk each", async () => {
  const { calls, error } = await refined(small(), prepared(turns(3, 90)), { mainModel: MAIN });
  assert.equal(error, undefined);
  assert.deepEqual(
    calls.map(({ prompt }) => marksOf(prompt)),
    [[0], [1], [2]],
  );
});

/** One turn of so many call groups. @param {number} groups @param {number} units of each result */
function giantTurn(groups, units) {
  const parts = upTo(groups).map((index) => [
    call(`c${index}`, { path: `call-${index}.ts` }),
    toolResult(`c${index}`, `result-${index} `.padEnd(units, "o")),
  ]);
  return frozen([{ role: "user", content: "go" }, ...parts.flat(), answer("done")]);
}

/** The numbers behind a word in a text. @param {string} word @param {string} text */
const numbersOf = (word, text) =>
  [...text.matchAll(new RegExp(`${word}-(\\d+)`, "g"))].map(([, n]) => Number(n));

test("D39 D41 D44 one turn for all chunks: cut between calls with their results", async () => {
  const messages = giantTurn(40, 500);
  const { calls, error } = await refined(small(), prepared(messages), { mainModel: MAIN });
  assert.equal(error, undefined);
  assert.ok(calls.length >= 7, `${calls.length} of 7`);
  assert.equal(recordOf(calls), serializeConversation(messages));
  for (const { prompt } of calls) {
    assert.deepEqual(numbersOf("call", conversationOf(prompt)), numbersOf("result", conversationOf(prompt)));
  }
});

test("D39 D42 D43 a turn that fits is in one chunk", async () => {
  const messages = upTo(30).flatMap((index) => [turn(index, 900), answer(`did ${index}`.padEnd(900, "a"))]);
  const { calls } = await refined(small(), prepared(messages), { mainModel: MAIN });
  assert.ok(calls.length >= 7);
  for (const { prompt } of calls)
    assert.match(conversationOf(prompt), /^\[User\]: [\s\S]*\[Assistant\]: did \d+a+$/);
});

test("D31 a chunk of 50,000 tokens on a large window is one request", async () => {
  for (const contextWindow of [200_000, 1_000_000]) {
    const limits = { contextWindow, maxTokens: 32_000 };
    const { chunkBudget } = budgetsOf(limits);
    const messages = turns(20, Math.floor((chunkBudget * CHARS) / 20) - 2);
    const { calls, events, result } = await refined(modelOf(numbered(), limits), prepared(messages));
    assert.equal(calls.length, 1);
    assert.equal(eventsOf(events, "split").length, 0);
    assert.deepEqual([result.details.shape, result.details.chunks], ["single", 1]);
    const both = await refined(modelOf(numbered(), limits), prepared(turns(40, messages[0].content.length)));
    assert.equal(both.calls.length, 2);
  }
});

for (const contextWindow of [4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 1_000_000]) {
  test(`D32 G6 ${contextWindow}: a full chunk beside a full running summary is not split`, async () => {
    const limits = { contextWindow, maxTokens: 32_000 };
    const { chunkBudget, summaryCeilingTokens } = budgetsOf(limits);
    const full = numbered(summaryCeilingTokens * CHARS);
    const messages = turns(5, chunkBudget * CHARS);
    const { calls, events, error } = await refined(modelOf(full, limits), prepared(messages));
    assert.equal(error, undefined);
    assert.equal(calls.length, 5, "no compression either");
    assert.deepEqual(eventsOf(events, "split"), []);
    assert.equal(recordOf(calls), serializeConversation(messages));
    for (const made of calls.slice(1)) {
      assert.equal(previousOf(made.prompt)?.length, summaryCeilingTokens * CHARS, "whole");
    }
  });
}

test("D13 A42 the body is history and then the turn prefix, where a turn is split", async () => {
  const prefix = turns(9, 3_000, 20);
  const both = prepared(TURNS, { isSplitTurn: true, turnPrefixMessages: prefix });
  const { calls, result } = await refined(small(), both, { mainModel: MAIN, prompts: WORDS });
  assert.equal(recordOf(calls), serializeConversation([...TURNS, ...prefix]));
  assert.ok(calls.every(({ prompt }) => !prompt.includes("PREFIX-WORDS")));
  assert.equal(result.details.shape, "chunks");
  const whole = await refined(small(), { ...both, isSplitTurn: false }, { mainModel: MAIN });
  assert.equal(recordOf(whole.calls), serializeConversation(TURNS));
  const only = await refined(small(), { ...both, messagesToSummarize: [] }, { mainModel: MAIN });
  assert.equal(recordOf(only.calls), serializeConversation(prefix));
});

test("no_new_history before any request", async () => {
  for (const more of [{}, { previousSummary: "old" }, { isSplitTurn: true }]) {
    const { error, calls, events } = await refined(small(), prepared([], more));
    assert.equal(error?.code, "no_new_history");
    assert.equal(calls.length + events.length, 0);
  }
});

test("D22 D25 each request asks for maxOutputTokens; sizes are units by charsPerToken", async () => {
  for (const [more, charsPerToken] of /** @type {[any, number][]} */ ([
    [{}, 3],
    [{ charsPerToken: 4 }, 4],
    [{ charsPerToken: 4, refine: { charsPerToken: 1.5 } }, 1.5],
  ])) {
    const { calls, events, result } = await refined(small(), prepared(TURNS), { mainModel: MAIN, ...more });
    const { maxOutputTokens, maxPromptTokens } = result.details.budgets;
    const requests = eventsOf(events, "request");
    for (const [index, made] of calls.entries()) {
      assert.equal(made.options.maxTokens, maxOutputTokens);
      const { promptTokens } = requests[index];
      assert.ok(promptTokens >= Math.ceil(made.prompt.length / charsPerToken), `${promptTokens}`);
      assert.ok(promptTokens <= sentTokens(made, charsPerToken), `${promptTokens}`);
      assert.ok(sentTokens(made, charsPerToken) <= maxPromptTokens);
    }
  }
});

test("D89 D90 D118 details say how the checkpoint was written", async () => {
  const { result, calls, events } = await refined(small(), prepared(TURNS), { mainModel: MAIN });
  const { tokensBefore, tokensAfter, budgets, ...rest } = result.details;
  assert.deepEqual(rest, {
    readFiles: [],
    modifiedFiles: [],
    summarizer: "callback",
    strategy: "refine",
    shape: "chunks",
    chunks: calls.length,
    reduced: false,
    requests: calls.length,
    cacheHits: 0,
    refineCompactModel: "test/scripted",
    retrySplits: 0,
    shrinkCount: 0,
  });
  assert.deepEqual(budgets, budgetsOf(SMALL));
  assert.ok(tokensBefore > 0 && tokensAfter > 0 && tokensAfter < tokensBefore);
  assert.deepEqual(JSON.parse(JSON.stringify(result.details)), result.details, "pi's JsonValue");
  assert.equal(events.at(-1).type, "done");
  assert.equal(events[0].type, "plan");
  assert.equal(events[0].requests, calls.length);
  assert.deepEqual(
    eventsOf(events, "chunk").map(({ index, of, cached }) => [index, of, cached]),
    calls.map((_, index) => [index + 1, calls.length, false]),
  );
});

const NOW = Date.UTC(2026, 1, 3, 4, 5, 59);
const MARKED =
  /^\[Checkpoint of 2026-02-03 04:05 UTC\. [^\n]{20,}\]\n\nTHE SUMMARY\n\n\[End of the checkpoint\.\]$/;

test("D86 D87 the summary stands between two lines that say when it was written and what it covers", async () => {
  const { result } = await refined(
    small(() => " THE SUMMARY\n"),
    prepared(TURNS),
    { now: NOW },
  );
  assert.match(result.summary, MARKED);
  const timeless = await refined(
    small(() => "THE SUMMARY"),
    prepared(TURNS),
  );
  assert.match(timeless.result.summary, /^\[[^\n]{20,}\]\n\nTHE SUMMARY\n\n\[End of the checkpoint\.\]$/);
  assert.doesNotMatch(timeless.result.summary, /\d|UTC/, "no clock of our own");
});

test("D86 the two lines and the file lists are taken off when the summary is carried on", async () => {
  const touched = [call("r", { path: "src/a.ts" }), toolResult("r"), ...TURNS];
  for (const now of [NOW, undefined]) {
    const first = await refined(
      small(() => "THE SUMMARY"),
      prepared(touched),
      { now },
    );
    const preparation = prepared(TURNS, { previousSummary: first.result.summary });
    for (const strategy of ["refine", "chain"]) {
      const second = await refined(small(), preparation, { strategy, now });
      assert.equal(previousOf(second.calls[0].prompt), "THE SUMMARY", strategy);
      assert.deepEqual(second.result.details.readFiles, ["src/a.ts"]);
      assert.equal(second.result.summary.split("[Checkpoint").length, strategy === "refine" ? 2 : 1);
    }
  }
});

const NOTICE = "[automatic context recovery: older context was omitted after summary generation failed]";
const PLACEHOLDER = "No previous context checkpoint is available.";

test("B19 G19 what a fallback added to a checkpoint never reaches the model", async () => {
  const { result } = await refined(
    small(() => "THE SUMMARY"),
    prepared(TURNS),
    { now: NOW },
  );
  const lists = "\n\n<read-files>\nsrc/a.ts\n</read-files>";
  for (const [previousSummary, carried] of /** @type {[string, string | undefined][]} */ ([
    [`${PLACEHOLDER}\n\n${NOTICE}`, undefined],
    [NOTICE, undefined],
    [`${result.summary}\n\n${NOTICE}`, "THE SUMMARY"],
    [`${result.summary}${lists}\n\n${NOTICE}`, "THE SUMMARY"],
  ])) {
    const { calls, result: next } = await refined(small(), prepared(TURNS, { previousSummary }), {
      prompts: WORDS,
    });
    assert.equal(previousOf(calls[0].prompt), carried, previousSummary);
    assert.equal(instructionsOf(calls[0].prompt), carried ? "UPDATE-WORDS" : "INITIAL-WORDS");
    assert.deepEqual(next.details.readFiles, previousSummary.includes("src/a.ts") ? ["src/a.ts"] : []);
  }
});

test("D88 file lists stand once, behind the end of the checkpoint, and in no prompt", async () => {
  const write = { type: "toolCall", id: "w", name: "Write", arguments: { path: "b.ts" } };
  const touched = [
    call("r", { path: "src/read.ts" }),
    toolResult("r"),
    { role: "assistant", content: [write], stopReason: "toolUse" },
    toolResult("w"),
  ];
  const previousSummary = "OLD\n\n<read-files>\nold.ts\n</read-files>";
  const preparation = prepared([...TURNS, ...touched], { previousSummary });
  const { result, calls } = await refined(
    small(() => "S\n\n<read-files>\n/etc/passwd\n</read-files>"),
    preparation,
  );
  const lists =
    "<read-files>\nold.ts\nsrc/read.ts\n</read-files>\n\n<modified-files>\nb.ts\n</modified-files>";
  assert.ok(result.summary.endsWith(`\n\n[End of the checkpoint.]\n\n${lists}`), result.summary);
  assert.equal(result.summary.match(/^<read-files>$/gm)?.length, 1);
  assert.deepEqual(result.details.modifiedFiles, ["b.ts"]);
  for (const { prompt } of calls) assert.doesNotMatch(prompt, /<(read|modified)-files>/);
});

test("D54 D82 D91 our own words: English, six headings, custom instructions behind the record", async () => {
  const customInstructions = "Keep every benchmark number.";
  const { calls } = await refined(small(), prepared(TURNS), { mainModel: MAIN, customInstructions });
  const headings = ["Goal", "Constraints", "Progress", "Key Decisions", "Next Steps", "Critical Context"];
  for (const { prompt, system } of calls) {
    assert.match(system, /English/);
    assert.ok(headings.every((heading) => instructionsOf(prompt).includes(`## ${heading}`)));
    assert.equal(prompt.split(customInstructions).length, 2);
    assert.ok(instructionsOf(prompt).includes(customInstructions));
  }
});

test("the result is what pi's hook takes, and the input is untouched", async () => {
  const retainedTail = frozen([turn(99, 50)]);
  const kept = frozen(prepared(TURNS, { tokensBefore: 4_321, firstKeptEntryId: "e7", retainedTail }));
  const { result } = await refined(small(), kept);
  assert.equal(result.tokensBefore, 4_321);
  assert.equal(result.firstKeptEntryId, "e7");
  assert.equal(result.retainedTail, retainedTail);
});

test("the same request twice gives the same summary, details and prompts", async () => {
  const preparation = frozen(prepared(giantTurn(30, 1_500), { previousSummary: "OLD" }));
  const [one, two] = [await refined(small(), preparation), await refined(small(), preparation)];
  assert.deepEqual(one.result, two.result);
  assert.deepEqual(
    one.calls.map(({ prompt }) => prompt),
    two.calls.map(({ prompt }) => prompt),
  );
});

test("chain is the default, and knows nothing of refine's details", async () => {
  const { result } = await run(windowed(32_768, 8_192), prepared(TURNS), { refine: { maxOutputTokens: 9 } });
  assert.equal(result.details.strategy, "chain");
  assert.equal(result.summary, "SUMMARY");
  for (const key of ["budgets", "retrySplits", "shrinkCount", "refineCompactModel"]) {
    assert.ok(!(key in result.details), key);
  }
  const bad = await refined(small(), prepared(TURNS), { strategy: "other" });
  assert.equal(bad.error?.code, "invalid_argument");
  assert.ok(bad.error.message.includes("strategy"));
  assert.equal(chunkCalls(bad.calls).length, 0);
});
