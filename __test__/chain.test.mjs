import assert from "node:assert/strict";
import test from "node:test";
import { compactionSummaryWouldExceedBudget, contextBudget } from "../index.js";
import {
  conversationOf,
  failed,
  instructionsOf,
  prepared,
  previousOf,
  RETRY,
  run,
  says,
  sentTokens,
  usage,
  windowed,
} from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import { answer, call, exchange, result, toolCalls, userOfTokens } from "./support/sound.mjs";

const WINDOW = 32_768;
const OUTPUT = 8_192;
const PROMPTS = frozen({
  system: "SYSTEM-WORDS",
  initial: "INITIAL-WORDS",
  update: "UPDATE-WORDS",
  turnPrefix: "PREFIX-WORDS",
});
const SHORT = frozen([{ role: "user", content: "Port the tokenizer." }, answer("The scanner is done.")]);
const PREFIX = frozen([{ role: "user", content: "Now the benchmark." }, call("c1"), result("c1", "42 ms")]);
/** Turns that need several requests and hold nothing that could be reduced. */
const LONG = frozen(Array.from({ length: 60 }, () => userOfTokens(1_000)));

/** Answers that name their request: `S1`, `S2` and so on. */
const NUMBERED = [(/** @type {any} */ { index }) => says(`S${index + 1}`)];

/** @param {any[]} script */
const small = (script = NUMBERED) => windowed(WINDOW, OUTPUT, script);

test("G7 a range that fits is one request with the initial instructions", async () => {
  const { result: checkpoint, events, calls } = await run(small(), prepared(SHORT), { prompts: PROMPTS });
  assert.equal(calls.length, 1);
  assert.match(
    conversationOf(calls[0].prompt),
    /^\[User\]: Port the tokenizer\.\n\n\[Assistant\]: The scanner/,
  );
  assert.equal(previousOf(calls[0].prompt), undefined);
  assert.equal(instructionsOf(calls[0].prompt), "INITIAL-WORDS");
  assert.equal(calls[0].system, "SYSTEM-WORDS");
  assert.equal(checkpoint.summary, "S1");
  assert.deepEqual(
    events.map(({ type }) => type),
    ["plan", "request", "chunk", "warning", "done"].filter(
      (type) => type !== "warning" || events.length === 5,
    ),
  );
});

test("G7 with a previous summary the first request updates it", async () => {
  const previousSummary = "## Goal\nThe goal of old.";
  const { calls } = await run(small(), prepared(SHORT, { previousSummary }), { prompts: PROMPTS });
  assert.equal(previousOf(calls[0].prompt), previousSummary);
  assert.equal(instructionsOf(calls[0].prompt), "UPDATE-WORDS");
});

test("E54 the request is pi-ai's context and options, and carries no tools", async () => {
  const { calls } = await run(small(), prepared(SHORT));
  const [{ context, options }] = calls;
  assert.deepEqual(Object.keys(context).sort(), ["messages", "systemPrompt"]);
  assert.equal(context.messages.length, 1);
  const [{ role, content, timestamp }] = context.messages;
  assert.equal(role, "user");
  assert.deepEqual(
    content.map((/** @type {any} */ { type }) => type),
    ["text"],
  );
  assert.ok(Number.isFinite(timestamp));
  assert.ok(options.signal instanceof AbortSignal && !options.signal.aborted);
  assert.equal(options.maxRetries, 0);
  assert.equal(options.cacheRetention, "none");
  assert.equal(options.maxTokens, OUTPUT, "A40: 0.8 of the headroom, no more than the model writes");
});

test("A40 an output beyond the model's maximum is never asked for", async () => {
  for (const [window, output, expected] of [
    [8_192, 8_192, 3_276],
    [32_768, 32_000, 13_107],
    [200_000, 32_000, 25_600],
    [200_000, 1_000, 1_000],
  ]) {
    const { calls } = await run(windowed(window, output), prepared(SHORT));
    assert.equal(calls[0].options.maxTokens, expected, `${window}/${output}`);
  }
});

test("G13 a split turn is two requests, history then prefix, joined under a heading", async () => {
  const preparation = prepared(SHORT, {
    isSplitTurn: true,
    turnPrefixMessages: PREFIX,
    previousSummary: "OLD",
  });
  const { result: checkpoint, events, calls } = await run(small(), preparation, { prompts: PROMPTS });
  assert.equal(calls.length, 2);
  assert.match(conversationOf(calls[0].prompt), /Port the tokenizer/);
  assert.doesNotMatch(conversationOf(calls[0].prompt), /benchmark/);
  assert.equal(previousOf(calls[0].prompt), "OLD");
  assert.equal(instructionsOf(calls[0].prompt), "UPDATE-WORDS");
  assert.match(conversationOf(calls[1].prompt), /Now the benchmark[\s\S]*42 ms/);
  assert.doesNotMatch(conversationOf(calls[1].prompt), /tokenizer/);
  assert.equal(previousOf(calls[1].prompt), undefined);
  assert.equal(instructionsOf(calls[1].prompt), "PREFIX-WORDS");
  assert.match(checkpoint.summary, /^S1\n[\s\S]*\n#+ [^\n]+\n[\s\S]*\nS2\n\n<read-files>/);
  assert.equal(checkpoint.details.shape, "split_turn");
  assert.equal(events[0].requests, 2);
});

test("G14 a split turn without history keeps the previous summary", async () => {
  const preparation = prepared([], {
    isSplitTurn: true,
    turnPrefixMessages: PREFIX,
    previousSummary: "THE-OLD-ONE",
  });
  const { result: checkpoint, calls, events } = await run(small(), preparation, { prompts: PROMPTS });
  assert.equal(calls.length, 1, "nothing to ask about no history");
  assert.equal(events[0].requests, 1);
  assert.match(checkpoint.summary, /^THE-OLD-ONE\n[\s\S]*\n#+ [^\n]+\n[\s\S]*\nS1\n/);
});

test("G14 file lists of a kept previous summary are not doubled", async () => {
  const previousSummary = "THE-OLD-ONE\n\n<read-files>\nsrc/old.ts\n</read-files>";
  const preparation = prepared([], { isSplitTurn: true, turnPrefixMessages: PREFIX, previousSummary });
  const { result: checkpoint } = await run(small(), preparation);
  assert.equal(checkpoint.summary.match(/<read-files>/g)?.length, 1, checkpoint.summary);
  assert.deepEqual(checkpoint.details.readFiles, ["src/a.ts", "src/old.ts"]);
});

test("A42 a prefix that belongs to no split turn is not sent", async () => {
  for (const isSplitTurn of [false, undefined]) {
    const { calls } = await run(small(), prepared(SHORT, { isSplitTurn, turnPrefixMessages: PREFIX }));
    assert.equal(calls.length, 1);
    assert.doesNotMatch(calls[0].prompt, /benchmark/);
  }
});

test("C34 C46 each chunk's request carries the summary before it and updates it", async () => {
  const preparation = prepared(LONG, { previousSummary: "S0" });
  const { result: checkpoint, calls, events } = await run(small(), preparation, { prompts: PROMPTS });
  assert.ok(calls.length > 3, `${calls.length} requests`);
  for (const [index, { prompt }] of calls.entries()) {
    assert.equal(previousOf(prompt), `S${index}`);
    assert.equal(instructionsOf(prompt), "UPDATE-WORDS");
  }
  assert.equal(checkpoint.summary, `S${calls.length}`, "one summary, the last");
  assert.equal(checkpoint.details.shape, "chunks");
  assert.equal(checkpoint.details.chunks, calls.length);
  assert.equal(events[0].requests, calls.length);
});

test("C34 without a previous summary the first chunk begins one, the others update it", async () => {
  const { calls } = await run(small(), prepared(LONG), { prompts: PROMPTS });
  assert.equal(previousOf(calls[0].prompt), undefined);
  assert.deepEqual(
    calls.map(({ prompt }) => instructionsOf(prompt)),
    ["INITIAL-WORDS", ...calls.slice(1).map(() => "UPDATE-WORDS")],
  );
});

test("C34 D47 blank space around an answer is not carried, what is inside it is", async () => {
  const script = ["\n\n  ## Goal\n\n- line one\n\n\n  - line two \n\n"];
  const { result: checkpoint, calls } = await run(small(script), prepared(LONG));
  assert.equal(previousOf(calls[1].prompt), "## Goal\n\n- line one\n\n\n  - line two");
  assert.equal(checkpoint.summary, "## Goal\n\n- line one\n\n\n  - line two");
});

test("G13 when either part must be chunked, both are one chain and one summary", async () => {
  for (const [history, prefix] of [
    [LONG, PREFIX],
    [SHORT, [...LONG, ...PREFIX]],
  ]) {
    const preparation = prepared(history, { isSplitTurn: true, turnPrefixMessages: prefix });
    const { result: checkpoint, calls, events } = await run(small(), preparation, { prompts: PROMPTS });
    assert.equal(events[0].shape, "chunks");
    assert.equal(checkpoint.details.shape, "chunks");
    assert.ok(!calls.some(({ prompt }) => prompt.includes("PREFIX-WORDS")));
    const sent = calls.map(({ prompt }) => conversationOf(prompt)).join("\n\n");
    assert.match(sent, /42 ms$/);
    assert.match(checkpoint.summary, new RegExp(`^S${calls.length}\n\n<read-files>`));
  }
});

/** Tool output of 60 calls fits only when it is reduced. */
const TALKATIVE = frozen(toolCalls(60, "x".repeat(2_000)));

test("A43 A51 G15 the guard comes first, then one reduction, then chunks", async () => {
  const whole = await run(small(), prepared(TALKATIVE.slice(0, 60)));
  assert.deepEqual(
    [whole.calls.length, whole.events[0].reduced, whole.result.details.reduced],
    [1, false, false],
  );
  assert.ok(whole.calls[0].prompt.includes("x".repeat(2_000)), "nothing is thinned that fits");
  const reduced = await run(small(), prepared(TALKATIVE));
  assert.deepEqual(
    [reduced.calls.length, reduced.events[0].shape, reduced.events[0].reduced],
    [1, "single", true],
  );
  assert.ok(!reduced.calls[0].prompt.includes("x".repeat(501)), "A44");
  assert.match(reduced.calls[0].prompt, /\[\.\.\. tool output truncated for the summary request\]/, "A45");
  const chunked = await run(small(), prepared(toolCalls(300, "x".repeat(2_000))));
  assert.ok(chunked.calls.length > 1);
  assert.deepEqual([chunked.events[0].shape, chunked.events[0].reduced], ["chunks", true]);
  assert.ok(
    !chunked.calls.some(({ prompt }) => prompt.includes("x".repeat(501))),
    "C39 planning runs on the reduced",
  );
});

test("A34 B14 the guard's verdict is the run's: one request of the whole below its limit, none at it", async () => {
  const model = { contextWindow: WINDOW, maxTokens: OUTPUT };
  const budget = contextBudget(model);
  for (const [below, shape] of /** @type {const} */ ([
    [1, "single"],
    [0, "chunks"],
  ])) {
    const preparation = prepared(exchange(4, (budget.summaryInputLimit - below) * 4));
    const exceeds = compactionSummaryWouldExceedBudget(preparation, budget, model);
    const { events, calls } = await run(small(), preparation);
    assert.deepEqual([exceeds, events[0].shape, calls.length > 1], [below === 0, shape, below === 0]);
  }
});

test("D2 a summarizer other than the session's model: its own window and output hold", async () => {
  const budget = contextBudget({ contextWindow: 1_000_000, maxTokens: 64_000 });
  const { error, calls } = await run(small(), prepared(LONG), { budget });
  assert.equal(error, undefined);
  assert.ok(calls.length > 1, "the session's model would have taken it whole");
  for (const made of calls) {
    assert.ok(made.options.maxTokens <= OUTPUT);
    assert.ok(sentTokens(made) < WINDOW - made.options.maxTokens);
  }
});

test("A52 nothing reducible: chunks at once, and no mark of a reduction", async () => {
  const { events, result: checkpoint } = await run(small(), prepared(LONG));
  assert.deepEqual(
    [events[0].shape, events[0].reduced, checkpoint.details.reduced],
    ["chunks", false, false],
  );
});

test("A46 thinking is dropped by the reduction, user and assistant text stay", async () => {
  const thinking = { type: "thinking", thinking: "THOUGHT ".repeat(9_000) };
  const spoken = {
    role: "assistant",
    content: [thinking, { type: "text", text: "SPOKEN" }],
    stopReason: "stop",
  };
  const { calls, events } = await run(small(), prepared([SHORT[0], spoken, ...TALKATIVE.slice(0, 30)]));
  assert.deepEqual([calls.length, events[0].reduced], [1, true]);
  assert.ok(!calls[0].prompt.includes("THOUGHT") && calls[0].prompt.includes("SPOKEN"));
});

test("A53 the input is not touched, whatever is sent", async () => {
  for (const messages of [SHORT, LONG, TALKATIVE, toolCalls(300, "y".repeat(2_000))]) {
    const { error } = await run(small(), frozen(prepared(messages, { previousSummary: "OLD" })));
    assert.equal(error, undefined);
  }
});

test("C40 the first failing step ends the chain and is what is reported", async () => {
  const script = ["S1", failed("401 invalid x-api-key"), "S3"];
  const { result: checkpoint, error, calls, events } = await run(small(script), prepared(LONG));
  assert.equal(checkpoint, undefined);
  assert.equal(error.code, "summary_provider");
  assert.equal(calls.length, 2);
  assert.equal(events.filter(({ type }) => type === "chunk").length, 1);
  assert.ok(!events.some(({ type }) => type === "done"));
});

test("C40 every route retries alike: whole, history, prefix, each chunk", async () => {
  const flaky = () => [(/** @type {any} */ { index }) => (index % 2 ? says("S") : failed("503"))];
  const split = prepared(SHORT, { isSplitTurn: true, turnPrefixMessages: PREFIX });
  for (const [preparation, requests] of /** @type {const} */ ([
    [prepared(SHORT), 1],
    [split, 2],
    [prepared(LONG), (await run(small(), prepared(LONG))).calls.length],
  ])) {
    const { calls, result: checkpoint, error } = await run(small(flaky()), preparation);
    assert.equal(error, undefined);
    assert.equal(calls.length, 2 * requests);
    assert.equal(checkpoint.details.requests, 2 * requests);
    for (let i = 0; i < calls.length; i += 2)
      assert.equal(calls[i].prompt, calls[i + 1].prompt, "the same request");
  }
});

test("C37 usage is the sum over all requests, failed tries included", async () => {
  const script = [
    failed("503", { usage: usage(100) }),
    says("S1", { usage: usage(200, { reasoning: 7 }) }),
    says("S2", { usage: usage(400, { cacheWrite1h: 5 }) }),
    says("S3"),
    new Error("socket hang up"),
    says("S4", { usage: usage(800, { reasoning: 1 }) }),
    says("S5"),
  ];
  const { result: checkpoint } = await run(small(script), prepared(LONG));
  const sum = usage(1_500);
  const counted = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"];
  const tokens = Object.fromEntries(counted.map((key) => [key, /** @type {any} */ (sum)[key]]));
  for (const [index, key] of counted.entries()) tokens[key] = 1_500 + 4 * (index + 1);
  assert.deepEqual(checkpoint.usage, { ...tokens, cost: sum.cost, reasoning: 8, cacheWrite1h: 5 });
});

test("C37 optional fields are there only when some request reported them", async () => {
  const plain = await run(small([says("S", { usage: usage(10) })]), prepared(SHORT));
  assert.deepEqual(plain.result.usage, usage(10));
  const none = await run(small(), prepared(SHORT));
  assert.ok(!("usage" in none.result));
  const zero = await run(small([says("S", { usage: usage(10, { reasoning: 0 }) })]), prepared(SHORT));
  assert.deepEqual(zero.result.usage, usage(10, { reasoning: 0 }));
});

test("maxRequests: a plan that needs more is refused before the first request", async () => {
  const needed = (await run(small(), prepared(LONG))).calls.length;
  const split = prepared(SHORT, { isSplitTurn: true, turnPrefixMessages: PREFIX });
  for (const [preparation, maxRequests] of /** @type {const} */ ([
    [prepared(LONG), needed - 1],
    [split, 1],
    [prepared(SHORT), 0],
  ])) {
    const { error, calls, events } = await run(small(), preparation, { maxRequests });
    assert.equal(error?.code, "summary_budget");
    assert.equal(calls.length, 0);
    assert.ok(!events.some(({ type }) => type === "request"));
  }
  assert.equal((await run(small(), prepared(LONG), { maxRequests: needed })).error, undefined);
});

test("maxRequests: a run that reaches it ends, and announces no retry that never comes", async () => {
  const retry = { ...RETRY, maxRetries: 50 };
  const { error, calls, events } = await run(small([failed("503")]), prepared(SHORT), {
    maxRequests: 5,
    retry,
  });
  assert.equal(error.code, "summary_budget");
  assert.equal(calls.length, 5);
  assert.equal(events.filter(({ type }) => type === "request").length, 5);
  assert.equal(events.filter(({ type }) => type === "retry").length, 4);
});

test("A1 A33 B41 rule 7 the default bound is 64 requests, first tries and retries alike", async () => {
  const retry = { ...RETRY, baseDelayMs: 0, maxRetries: 1_000 };
  const { error, calls } = await run(small([failed("503")]), prepared(SHORT), { retry });
  assert.equal(error.code, "summary_budget");
  assert.equal(calls.length, 64);
});

test("C32 C38 more than 16 chunks is summary_budget before the first request", async () => {
  const { error, calls } = await run(
    small(),
    prepared(Array.from({ length: 30 }, () => userOfTokens(12_000))),
  );
  assert.equal(error.code, "summary_budget");
  assert.equal(calls.length, 0);
});

test("no_new_history before any request", async () => {
  for (const more of [{}, { previousSummary: "old" }, { isSplitTurn: true }]) {
    const { error, calls, events } = await run(small(), prepared([], more));
    assert.equal(error.code, "no_new_history");
    assert.equal(calls.length + events.length, 0);
  }
});
