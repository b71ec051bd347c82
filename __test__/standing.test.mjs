// What earlier decision records wanted, held against what stands now: faults that were reported, decisions that were
// overruled or kept.

import assert from "node:assert/strict";
import test from "node:test";
import {
  buildRetainedTail,
  compactionSummaryWouldExceedBudget,
  contextBudget,
  estimateTokens,
  planChunks,
  Transcript,
} from "../index.js";
import {
  conversationOf,
  failed,
  prepared,
  previousOf,
  run,
  says,
  sentTokens,
  windowed,
} from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import { answer, call, result, toolCalls, userOfTokens } from "./support/sound.mjs";

/** @typedef {import("./support/transcripts.mjs").Message} Message */

const WINDOW = 32_768;
const OUTPUT = 8_192;
const small = (script = /** @type {any[]} */ (["SUMMARY"])) => windowed(WINDOW, OUTPUT, script);

/** @param {readonly Message[]} messages */
const raw = (messages) => messages.reduce((sum, message) => sum + estimateTokens(message), 0);

/** Nearly all of it output of tools. @param {number} tokens raw */
function talkative(tokens) {
  const group = toolCalls(1, "line of output\n".repeat(1_333));
  const groups = Math.round(tokens / raw(group));
  return frozen([{ role: "user", content: "go" }, ...toolCalls(groups, "line of output\n".repeat(1_333))]);
}

/** Raw tokens of ten compactions, as they were reported. */
const REPORTED = [200, 225, 250, 275, 300, 330, 400, 500, 700, 885].map((thousands) => thousands * 1_000);

test("A4 A6 A9 PI-Desktop#543 ten compactions of the reported shape, each with a fault, are ten summaries", async () => {
  const model = { contextWindow: 200_000, maxTokens: 32_000 };
  const faults = [failed("503 Service Unavailable"), new Error("terminated"), failed("529 overloaded_error")];
  for (const [index, tokens] of REPORTED.entries()) {
    const messages = talkative(tokens);
    assert.ok(Math.abs(raw(messages) - tokens) < tokens / 20, `${raw(messages)} of ${tokens}`);
    const preparation = prepared(messages);
    assert.equal(compactionSummaryWouldExceedBudget(preparation, contextBudget(model), model), false);
    const by = windowed(200_000, 32_000, [faults[index % faults.length], says("## Goal\ngo")]);
    const { result: checkpoint, error, calls } = await run(by, preparation);
    assert.equal(error, undefined);
    assert.match(checkpoint.summary, /^## Goal\ngo\n/);
    assert.deepEqual([checkpoint.details.shape, checkpoint.details.reduced], ["single", false]);
    assert.equal(calls.length, 2);
  }
});

/** Turns that stay too large when their tool output is thinned; each has its number. */
const WORK = frozen(
  Array.from({ length: 80 }, (_, turn) => [
    { role: "user", content: `⟦${turn}⟧ ${"word ".repeat(300)}` },
    call(`c${turn}`),
    result(`c${turn}`, "x".repeat(2_000)),
    answer(`did ${turn}`),
  ]).flat(),
);

test("B13 C1 C5 what one request cannot hold, reduced or not, is sent in chunks and costs nothing of the range", async () => {
  const { result: checkpoint, error, calls, events } = await run(small(), prepared(WORK));
  assert.equal(error, undefined);
  assert.deepEqual(
    [events[0].shape, events[0].reduced],
    ["chunks", true],
    "the reduced pass was not the last",
  );
  assert.equal(calls.length, events[0].requests, "no request beside the chunks");
  for (const made of calls) assert.ok(sentTokens(made) < WINDOW - made.options.maxTokens, "none is doomed");
  const sent = calls.map(({ prompt }) => conversationOf(prompt)).join("\n");
  assert.deepEqual(
    sent.match(/⟦\d+⟧/g),
    Array.from({ length: 80 }, (_, turn) => `⟦${turn}⟧`),
  );
  assert.match(checkpoint.summary, /^SUMMARY/);
});

test("A14 a failure is retried as it was; only size leads to the reduction, and then to chunks", async () => {
  const faulty = [(/** @type {any} */ { index }) => (index % 2 ? says("S") : failed("503"))];
  for (const [messages, shape, reduced] of /** @type {const} */ ([
    [toolCalls(20, "x".repeat(2_000)), "single", false],
    [toolCalls(60, "x".repeat(2_000)), "single", true],
    [WORK, "chunks", true],
  ])) {
    const { error, calls, events } = await run(small(faulty), prepared(messages));
    assert.equal(error, undefined);
    assert.deepEqual([events[0].shape, events[0].reduced], [shape, reduced]);
    assert.equal(events.filter(({ type }) => type === "plan" || type === "replan").length, 1);
    const prompts = calls.map(({ prompt }) => prompt);
    for (let sent = 0; sent < prompts.length; sent += 2) assert.equal(prompts[sent], prompts[sent + 1]);
  }
});

test("C1 the tail is the recent window, not one message of the user", () => {
  for (const retentionMode of /** @type {const} */ (["active_turn", "completed_turn", undefined])) {
    const tail = buildRetainedTail(WORK, 4_000, { retentionMode });
    assert.deepEqual(tail, WORK.slice(-tail.length));
    assert.deepEqual([...new Set(tail.map(({ role }) => role))].sort(), ["assistant", "toolResult", "user"]);
    assert.ok(tail.filter(({ role }) => role === "user").length > 1);
  }
});

test("A3 there is no summary only where the planner cannot split the range", async () => {
  const budget = contextBudget({ contextWindow: WINDOW, maxTokens: OUTPUT });
  const options = { promptLimit: budget.summaryInputLimit, reserve: budget.summaryOutput };
  for (const turns of [0, 1, 2, 5, 16, 17, 20]) {
    const preparation = prepared(Array.from({ length: turns }, () => userOfTokens(12_000)));
    const chunks = planChunks(preparation, options);
    const { result: checkpoint, error, calls } = await run(small(), preparation);
    assert.equal(checkpoint === undefined, chunks === undefined, `${turns} turns`);
    if (chunks !== undefined) continue;
    assert.equal(error.code, turns === 0 ? "no_new_history" : "summary_budget");
    assert.equal(calls.length, 0);
  }
});

test("B30 B31 B40 the transcript is what it was, however its compaction ends", async () => {
  const controller = new AbortController();
  const aborts = () => controller.abort("stop");
  for (const script of [["S"], [failed("401")], [failed("503")], [says(" ")], [aborts]]) {
    const messages = structuredClone([...WORK]);
    const transcript = new Transcript(messages);
    const more = { signal: controller.signal };
    const listed = await run(small(script), prepared(messages), script[0] === aborts ? more : {});
    const resident = await run(small(script), { messagesToSummarize: transcript.range() });
    for (const { error } of [listed, resident]) assert.equal(error === undefined, script[0] === "S");
    assert.deepEqual(messages, WORK);
    assert.equal(transcript.length, WORK.length);
    assert.ok([...transcript.range()].every((message, index) => message === messages[index]));
  }
});

/** What has to come through letter by letter. */
const VERBATIM = frozen([
  "src/lexer/[id]/Größe ß.test.ts",
  "cargo test --features 'a,b' -- --nocapture 2>&1 | tail -n +3",
  'Decision: "arena_v2" over Rc<RefCell<Node>>, because drop order matters.',
  "error[E0502]: cannot borrow `*self` as mutable (os error 0x80070005)",
]);

test("D83 D84 D85 D92 paths, commands, decisions and errors go in and come out letter by letter", async () => {
  const [path, command, decision, error] = VERBATIM;
  const failing = { ...result("c2", error), isError: true };
  const record = [
    { role: "user", content: decision },
    call("c1", { path }),
    result("c1"),
    { role: "bashExecution", command, output: error, exitCode: 101, cancelled: false, truncated: false },
    call("c2", { command }),
    failing,
  ];
  const written = `## Key Decisions\n${VERBATIM.join("\n")}`;
  const { result: checkpoint, calls } = await run(small([written]), prepared([...record, ...WORK]));
  for (const words of VERBATIM) assert.ok(conversationOf(calls[0].prompt).includes(words), words);
  assert.ok(calls.length > 1);
  for (const { prompt } of calls.slice(1)) assert.equal(previousOf(prompt), written);
  assert.ok(checkpoint.summary.startsWith(`${written}\n\n<read-files>`), checkpoint.summary);
});

test("D54 D83 D84 D92 one system prompt asks every request for English, and for names as they stand", async () => {
  const split = { isSplitTurn: true, turnPrefixMessages: [{ role: "user", content: "next" }] };
  const systems = new Set();
  for (const preparation of [prepared(WORK), prepared(WORK.slice(0, 4), split)]) {
    for (const { system } of (await run(small(), preparation)).calls) systems.add(system);
  }
  assert.equal(systems.size, 1);
  const [system] = systems;
  assert.match(system, /English/);
  assert.match(system, /copy file paths, commands, identifiers and error messages letter by letter/);
});
