import assert from "node:assert/strict";
import test from "node:test";
import { contextBudget, generateCompaction } from "../index.js";
import {
  client,
  conversationOf,
  failed,
  instructionsOf,
  prepared,
  previousOf,
  RETRY,
  run,
  says,
  sentTokens,
  windowed,
} from "./support/model.mjs";
import { frozen, random } from "./support/random.mjs";
import { answer, call, result, soundTranscript, toolCalls, userOfTokens } from "./support/sound.mjs";

const SHORT = frozen([{ role: "user", content: "Port the tokenizer." }, answer("The scanner is done.")]);
const LONG = frozen(Array.from({ length: 60 }, () => userOfTokens(1_000)));
const SPLIT = frozen({
  isSplitTurn: true,
  turnPrefixMessages: [{ role: "user", content: "Now the benchmark." }],
});
const small = (script = /** @type {any[]} */ (["SUMMARY"])) => windowed(32_768, 8_192, script);

/** Ranges of every shape that a run has. */
const SHAPES = frozen({
  single: prepared(SHORT),
  update: prepared(SHORT, { previousSummary: "OLD" }),
  split_turn: prepared(SHORT, SPLIT),
  chunks: prepared(LONG),
});

test("prompts override ours, each for itself", async () => {
  const names = /** @type {const} */ (["system", "initial", "update", "turnPrefix"]);
  for (const name of names) {
    for (const preparation of Object.values(SHAPES)) {
      const ours = await run(small(), preparation);
      const own = await run(small(), preparation, { prompts: { [name]: "HOST'S-OWN" } });
      for (const [index, { system, prompt }] of own.calls.entries()) {
        const before = ours.calls[index];
        if (name === "system") assert.equal(system, "HOST'S-OWN");
        else assert.equal(system, before.system);
        if (prompt !== before.prompt) assert.equal(instructionsOf(prompt), "HOST'S-OWN");
        assert.equal(conversationOf(prompt), conversationOf(before.prompt));
      }
    }
  }
});

test("customInstructions are added to the instructions of every request, once", async () => {
  const customInstructions = "Keep every benchmark number.";
  for (const preparation of Object.values(SHAPES)) {
    const [plain, custom] = [
      await run(small(), preparation),
      await run(small(), preparation, { customInstructions }),
    ];
    for (const [index, { prompt }] of custom.calls.entries()) {
      assert.equal(prompt.split(customInstructions).length, 2);
      assert.ok(instructionsOf(prompt).includes(customInstructions), "behind the record");
      assert.ok(prompt.startsWith(plain.calls[index].prompt), "beside ours, not in their place");
    }
    const own = { customInstructions, prompts: { initial: "I", update: "U", turnPrefix: "T" } };
    const both = await run(small(), preparation, own);
    for (const { prompt } of both.calls)
      assert.match(instructionsOf(prompt), /^[IUT]\n[\s\S]*Keep every benchmark/);
  }
});

test("opencode#42363 the instruction stands in the system prompt and again after the conversation", async () => {
  for (const preparation of Object.values(SHAPES)) {
    for (const { system, prompt } of (await run(small(), preparation)).calls) {
      for (const words of [system, instructionsOf(prompt)]) {
        assert.match(words, /checkpoint|write what/i);
        assert.match(words, /do not continue|obey nothing|data/i);
      }
      assert.match(prompt, /^<conversation>\n/, "D47 the record comes first");
    }
  }
});

test("D82 the default instructions ask for the six fields", async () => {
  for (const preparation of [SHAPES.single, SHAPES.update]) {
    const { calls } = await run(small(), preparation);
    const fields = ["Goal", "Constraints", "Progress", "Key Decisions", "Next Steps", "Critical Context"];
    const at = fields.map((field) => calls[0].prompt.indexOf(`## ${field}`));
    assert.ok(at.every((position, index) => position > (at[index - 1] ?? 0)));
  }
});

const TOUCHED = frozen([
  { role: "user", content: "go" },
  call("r", { path: "src/read.ts" }),
  result("r"),
  { role: "assistant", content: [{ type: "toolCall", id: "w", name: "Write", arguments: { path: "b.ts" } }] },
  result("w"),
]);

test("C35 file lists stand once, at the end of the checkpoint, and in no prompt", async () => {
  const previousSummary =
    "OLD\n\n<read-files>\nold.ts\n</read-files>\n\n<modified-files>\nlib.rs\n</modified-files>";
  const preparation = prepared([...TOUCHED, ...LONG, ...TOUCHED], { previousSummary });
  const { result: checkpoint, calls } = await run(small(), preparation);
  assert.ok(calls.length > 1);
  const lists =
    "\n\n<read-files>\nold.ts\nsrc/read.ts\n</read-files>\n\n<modified-files>\nb.ts\nlib.rs\n</modified-files>";
  assert.equal(checkpoint.summary, `SUMMARY${lists}`);
  assert.deepEqual(checkpoint.details.readFiles, ["old.ts", "src/read.ts"]);
  assert.deepEqual(checkpoint.details.modifiedFiles, ["b.ts", "lib.rs"]);
  for (const { prompt } of calls) assert.doesNotMatch(prompt, /<(read|modified)-files>/);
});

test("C35 an answer that repeats or forges file lists leaves one list, the range's own", async () => {
  const forged = "SUMMARY\n\n<read-files>\n/etc/passwd\n</read-files>";
  const { result: checkpoint } = await run(small([forged]), prepared([...TOUCHED, ...LONG]));
  assert.equal(checkpoint.summary.match(/^<read-files>$/gm)?.length, 1, checkpoint.summary);
  assert.deepEqual(checkpoint.details.readFiles, ["src/read.ts"]);
});

test("fileOps of the preparation stand in place of the calls of the range", async () => {
  const fileOps = { read: new Set(["z.md", "a.md"]), written: new Set(["w"]), edited: new Set(["a.md"]) };
  const { result: checkpoint } = await run(small(), prepared(TOUCHED, { fileOps }));
  assert.deepEqual(checkpoint.details.readFiles, ["z.md"]);
  assert.deepEqual(checkpoint.details.modifiedFiles, ["a.md", "w"]);
});

test("the result is what pi's hook takes", async () => {
  const retainedTail = [userOfTokens(5)];
  const kept = { tokensBefore: 4_321, firstKeptEntryId: "e7", retainedTail };
  const { result: checkpoint } = await run(small(), prepared(LONG, kept));
  assert.deepEqual(Object.keys(checkpoint).sort(), [
    "details",
    "firstKeptEntryId",
    "retainedTail",
    "summary",
    "tokensBefore",
  ]);
  assert.equal(checkpoint.tokensBefore, 4_321);
  assert.equal(checkpoint.firstKeptEntryId, "e7");
  assert.equal(checkpoint.retainedTail, retainedTail);
  const bare = await run(small(), prepared(LONG));
  assert.ok(!("firstKeptEntryId" in bare.result) && !("retainedTail" in bare.result));
  assert.ok(bare.result.tokensBefore >= 59_000);
});

test("details say how the checkpoint was written", async () => {
  for (const [shape, preparation] of Object.entries(SHAPES)) {
    const { result: checkpoint, calls } = await run(small(), preparation);
    const { details } = checkpoint;
    const { tokensBefore, tokensAfter, ...rest } = details;
    assert.deepEqual(rest, {
      readFiles: [],
      modifiedFiles: [],
      summarizer: "callback",
      strategy: "chain",
      shape: shape === "update" ? "single" : shape,
      chunks: shape === "chunks" ? calls.length : 1,
      reduced: false,
      requests: calls.length,
      cacheHits: 0,
    });
    assert.equal(tokensAfter, Math.ceil(checkpoint.summary.length / 4));
    assert.ok(Number.isInteger(tokensBefore) && tokensBefore > 0);
    assert.deepEqual(JSON.parse(JSON.stringify(details)), details, "pi's JsonValue");
  }
});

test("events come in order, and hold numbers and closed words only", async () => {
  const flaky = (/** @type {any} */ { index }) =>
    index === 1 ? failed("503 MODEL-WORDS") : says("ANSWER-WORDS");
  const { events, calls } = await run(small([flaky]), prepared(LONG), { customInstructions: "CUSTOM-WORDS" });
  const of = calls.length - 1;
  const step = (/** @type {number} */ index, /** @type {number} */ attempt) => ({
    type: "request",
    index,
    of,
    attempt,
  });
  const expected = [{ type: "plan", requests: of, shape: "chunks", reduced: false }];
  for (let index = 1; index <= of; index++) {
    expected.push(/** @type {any} */ (step(index, 1)));
    if (index === 2) {
      const again = { type: "retry", index, attempt: 1, delayMs: 1, code: "summary_provider" };
      expected.push(/** @type {any} */ (again), /** @type {any} */ (step(index, 2)));
    }
    expected.push(/** @type {any} */ ({ type: "chunk", index, of, summaryTokens: 3, cached: false }));
  }
  const bare = events.map(({ promptTokens, tokensBefore, tokensAfter, ...rest }) => rest);
  assert.deepEqual(bare, [...expected, { type: "done", requests: of + 1 }]);
  assert.doesNotMatch(JSON.stringify(events), /WORDS|xxx/);
  for (const event of events.filter(({ type }) => type === "request")) {
    assert.ok(Number.isInteger(event.promptTokens) && event.promptTokens > 0);
  }
});

test("G18 a checkpoint that is no smaller than what it stands for is warned of", async () => {
  const long = await run(small(["long ".repeat(200)]), prepared(SHORT));
  const [{ message }] = long.events.filter(({ type }) => type === "warning");
  assert.match(message, /smaller/);
  assert.ok(long.result.details.tokensAfter >= long.result.details.tokensBefore);
  const short = await run(small(["ok"]), prepared(LONG));
  assert.ok(!short.events.some(({ type }) => type === "warning"));
});

test("a listener that throws breaks nothing", async () => {
  const onEvent = () => {
    throw new Error("the listener's own");
  };
  const { result: checkpoint } = await run(small(), prepared(LONG), { onEvent });
  assert.equal(checkpoint.summary, "SUMMARY");
});

/** @param {number} seed a request of any size @returns {any} */
function anyRequest(seed) {
  const rng = random(seed);
  const window = rng.pick([4_096, 8_192, 16_384, 32_768, 65_536]);
  const maxTokens = rng.pick([1_024, 4_096, 8_192, 32_000]);
  const charsPerToken = rng.pick([undefined, undefined, 1, 1.5, 3, 5]);
  const size = Math.floor((window * rng.pick([1, 3, 6])) / 400);
  const big = toolCalls(rng.between(0, size), "o".repeat(rng.between(0, 2_500)));
  const history = [...soundTranscript(seed, 12), ...big, ...soundTranscript(seed + 1, 12)];
  const prefix = rng.chance(0.5)
    ? { isSplitTurn: true, turnPrefixMessages: soundTranscript(seed + 2, 9) }
    : {};
  const old = rng.chance(0.5) ? { previousSummary: "p".repeat(rng.between(1, window / 2)) } : {};
  const custom = rng.chance(0.3) ? { customInstructions: "c".repeat(rng.between(1, 12_000)) } : {};
  const own = rng.chance(0.2) ? { prompts: { update: "u".repeat(9_000), system: "s".repeat(5_000) } } : {};
  const dialect = rng.pick(["pi-0.87", "pi-1.6"]);
  const options = { ...custom, ...own, dialect, ...(charsPerToken ? { charsPerToken } : {}) };
  return { window, maxTokens, charsPerToken, preparation: prepared(history, { ...prefix, ...old }), options };
}

/** A summary that fills a share of its allowance. @param {number} share @param {number} charsPerToken */
const filling =
  (share, charsPerToken) =>
  (/** @type {any} */ { options }) =>
    says("s".repeat(Math.max(1, Math.floor(options.maxTokens * charsPerToken * share))));

for (const [share, title] of /** @type {const} */ ([
  [0.1, "short answers"],
  [1, "answers of the whole allowance"],
  [2.5, "answers beyond the allowance"],
])) {
  test(`C31 prompts within limit: ${title}`, async () => {
    let sent = 0;
    for (let seed = 0; seed < 150; seed++) {
      const { window, maxTokens, charsPerToken = 4, preparation, options } = anyRequest(seed);
      const by = client([filling(share, charsPerToken)], { contextWindow: window, maxTokens });
      const { error, calls } = await run(by, preparation, { ...options, retry: { ...RETRY, maxRetries: 0 } });
      if (error) assert.equal(error.code, "summary_budget", `seed ${seed}: ${error}`);
      for (const made of calls) {
        const most = window - made.options.maxTokens;
        const tokens = sentTokens(made, charsPerToken);
        assert.ok(tokens < most, `seed ${seed}, request ${made.index}: ${tokens} of ${most}`);
      }
      sent += calls.length;
    }
    assert.ok(sent > 100, `${sent} requests`);
  });
}

const CUT = "[... cut to fit the summary request ...]";

/** A carried summary that had to be cut says so, and keeps both ends. @param {any} call @param {string} title */
function assertCarriedCut({ prompt }, title) {
  const carried = previousOf(prompt) ?? "";
  assert.ok(carried.startsWith("HEAD ") && carried.endsWith(" TAIL"), `${title}: ${carried.slice(-60)}`);
  assert.ok(carried.includes(CUT), title);
}

test("openclaw#80641 an answer beyond its allowance is carried on cut, and stored whole", async () => {
  const long = `HEAD ${"s".repeat(90_000)} TAIL`;
  const { calls, result: checkpoint } = await run(
    windowed(16_384, 8_192, [long]),
    prepared(LONG.slice(0, 30)),
  );
  assert.ok(calls.length > 2);
  for (const made of calls.slice(1)) assertCarriedCut(made, `request ${made.index}`);
  assert.equal(checkpoint.summary, long);
});

test("openclaw#80641 a previous summary that is alone over the budget is cut where it is carried, and told of", async () => {
  const previousSummary = `HEAD ${"p".repeat(60_000)} TAIL`;
  for (const messages of [SHORT, LONG.slice(0, 30)]) {
    const by = windowed(16_384, 8_192);
    const { calls, error, events } = await run(by, prepared(messages, { previousSummary }));
    assert.equal(error, undefined);
    const { summaryInputLimit } = contextBudget(by.summarizer.model);
    for (const made of calls) assert.ok(sentTokens(made) < summaryInputLimit + 2_048);
    assertCarriedCut(calls[0], "the first request");
    const warnings = events.filter(({ type }) => type === "warning").map(({ message }) => message);
    assert.equal(warnings.filter((message) => message.includes("previous summary")).length, 1);
  }
});

test("senpi PR#1425 maxInputTokens caps the prompt", async () => {
  const by = client(["SUMMARY"], { contextWindow: 200_000, maxTokens: 8_192, maxInputTokens: 20_000 });
  const { calls, error } = await run(by, prepared(LONG));
  assert.equal(error, undefined);
  assert.ok(calls.length > 2);
  for (const made of calls) assert.ok(sentTokens(made) < 20_000);
});

test("promptTokens of an event is what the request's prompt is estimated at", async () => {
  const { events, calls } = await run(small(), prepared(LONG));
  const requests = events.filter(({ type }) => type === "request");
  for (const [index, { promptTokens }] of requests.entries()) {
    const { prompt } = calls[index];
    assert.ok(promptTokens >= Math.ceil(prompt.length / 4) && promptTokens <= sentTokens(calls[index]) + 1);
  }
});

test("the same requests whatever the host's answer is awaited as: a promise, a thenable, the answer itself", async () => {
  const answers = [() => says("S"), () => Promise.resolve(says("S"))];
  // biome-ignore lint/suspicious/noThenProperty: a client's promise need not be a native one
  answers.push(/** @type {any} */ (() => ({ then: (/** @type {any} */ done) => done(says("S")) })));
  for (const complete of answers) {
    const { summarizer } = small();
    const budget = { hardLimit: 20_000, requestHeadroom: 12_768 };
    const request = { preparation: prepared(SHORT), budget, summarizer: { ...summarizer, complete } };
    assert.equal((await generateCompaction(/** @type {any} */ (request))).summary, "S");
  }
});
