import assert from "node:assert/strict";
import test from "node:test";
import {
  buildRetainedTail,
  CompactionError,
  compactionSummaryWouldExceedBudget,
  contextBudget,
  estimateContextTokens,
  estimateSummaryPromptTokens,
  findCut,
  planChunks,
  serializeConversation,
  Transcript,
} from "../index.js";
import { prepared, run, windowed } from "./support/model.mjs";
import { answer, call, result, soundTranscript, userOfTokens } from "./support/sound.mjs";

/** @typedef {import("./support/transcripts.mjs").Message} Message */

/** A message that counts how often anything in it is read. @param {any} value @param {{ reads: number }} meter */
function metered(value, meter) {
  if (value === null || typeof value !== "object") return value;
  /** @type {ProxyHandler<any>} */
  const handler = {
    get(target, key, receiver) {
      meter.reads++;
      return metered(Reflect.get(target, key, receiver), meter);
    },
    ownKeys(target) {
      meter.reads++;
      return Reflect.ownKeys(target);
    },
    has(target, key) {
      meter.reads++;
      return Reflect.has(target, key);
    },
  };
  return new Proxy(value, handler);
}

/** @param {readonly Message[]} messages */
function meters(messages) {
  const all = messages.map(() => ({ reads: 0 }));
  return { all, messages: messages.map((message, index) => metered(message, all[index])) };
}

const TURN = [{ role: "user", content: "go" }, call("c1"), result("c1", "out"), answer("done")];
const BUDGET = contextBudget({ contextWindow: 200_000, maxTokens: 8_192 });

test("appending a message reads that message and no other", () => {
  const { all, messages } = meters(Array.from({ length: 40 }, () => TURN).flat());
  const transcript = new Transcript();
  for (const [index, message] of messages.entries()) {
    const before = all.map(({ reads }) => reads);
    transcript.append(message);
    for (const [other, { reads }] of all.entries()) {
      if (other === index) assert.ok(reads > 0 && reads < 60, `${reads} reads of message ${index}`);
      else assert.equal(reads, before[other], `message ${other} at the append of ${index}`);
    }
  }
});

test("edits read only what they bring", () => {
  const { all, messages } = meters(Array.from({ length: 40 }, () => TURN).flat());
  const transcript = new Transcript(messages);
  for (const meter of all) meter.reads = 0;
  transcript.truncate(100);
  const fresh = { reads: 0 };
  transcript.replace(7, metered(TURN[1], fresh));
  transcript.range(3, 50);
  assert.ok(fresh.reads > 0);
  assert.equal(
    all.reduce((sum, { reads }) => sum + reads, 0),
    0,
  );
});

test("sizes, cuts, texts, plans and runs over a range read no message", async () => {
  const { all, messages } = meters([...soundTranscript(7, 30), ...soundTranscript(8, 30)]);
  const transcript = new Transcript(messages);
  for (const meter of all) meter.reads = 0;
  const reads = () => all.reduce((sum, meter) => sum + meter.reads, 0);
  const given = transcript.range(0, Math.floor(messages.length / 2));
  const turnPrefixMessages = transcript.range(Math.floor(messages.length / 2));
  const preparation = { messagesToSummarize: given, turnPrefixMessages, isSplitTurn: true };
  compactionSummaryWouldExceedBudget(preparation, BUDGET);
  assert.equal(reads(), 0, "guard");
  estimateSummaryPromptTokens(preparation);
  serializeConversation(transcript);
  serializeConversation(given, { dialect: "pi-1.6" });
  estimateContextTokens(transcript);
  findCut(given, 500);
  assert.equal(reads(), 0, "sizes");
  planChunks(preparation, { promptLimit: 60_000 });
  assert.equal(reads(), 0, "a plan without a cut");
  const { error } = await run(windowed(200_000, 8_192), preparation);
  assert.equal(error, undefined);
  assert.equal(reads(), 0, "a run");
});

test("messages come from any iterable, and a transcript and its ranges are iterable", () => {
  function* stream() {
    yield* TURN;
  }
  for (const from of [TURN, new Set(TURN), stream(), new Transcript(TURN), new Transcript(TURN).range()]) {
    const transcript = new Transcript(/** @type {any} */ (from));
    assert.equal(transcript.length, 4);
    assert.deepEqual([...transcript], TURN);
    for (const [index, message] of [...transcript].entries()) assert.ok(message === TURN[index]);
  }
  assert.equal(new Transcript().length, 0);
  assert.deepEqual([...new Transcript()], []);
  assert.equal(serializeConversation(new Transcript()), "");
});

test("a very long list goes in at once", () => {
  const transcript = new Transcript(Array.from({ length: 300_000 }, () => ({ role: "user", content: "x" })));
  assert.equal(transcript.length, 300_000);
  transcript.append({ role: "user", content: "y" });
  assert.equal(serializeConversation(transcript.range(299_999)), "[User]: x\n\n[User]: y");
});

test("range takes what slice takes, within the length", () => {
  const transcript = new Transcript(TURN);
  for (const [start, end] of /** @type {any[]} */ ([
    [],
    [1],
    [1, 3],
    [0, 4],
    [4],
    [4, 4],
    [0, 0],
    [undefined, 2],
  ])) {
    const range = transcript.range(start, end);
    assert.deepEqual([...range], TURN.slice(start, end));
    assert.equal(range.length, TURN.slice(start, end).length);
  }
});

/** @param {() => unknown} call @param {string} title */
function assertInvalid(call, title) {
  assert.throws(
    call,
    (error) => error instanceof CompactionError && error.code === "invalid_argument",
    title,
  );
}

test("indices that are not there are invalid_argument, and change nothing", () => {
  const transcript = new Transcript(TURN);
  for (const at of [5, 1e9, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "1", null, {}, 1n]) {
    const title = String(at);
    assertInvalid(() => transcript.truncate(/** @type {any} */ (at)), title);
    assertInvalid(() => transcript.replace(/** @type {any} */ (at), TURN[0]), title);
    assertInvalid(() => transcript.range(0, /** @type {any} */ (at)), title);
    if (at !== null) assertInvalid(() => transcript.range(/** @type {any} */ (at)), title);
  }
  assertInvalid(() => transcript.replace(4, TURN[0]), "the length is no index");
  assertInvalid(() => transcript.replace(-1, TURN[0]), "negative");
  assertInvalid(() => transcript.truncate(-1), "negative");
  assertInvalid(() => transcript.truncate(/** @type {any} */ (undefined)), "missing");
  assert.deepEqual([...transcript], TURN);
});

test("a message that is no object is invalid_argument, and then nothing was appended", () => {
  const transcript = new Transcript(TURN);
  const before = serializeConversation(transcript);
  for (const bad of [null, undefined, 5, "text", true, Symbol("s"), 1n]) {
    assertInvalid(() => transcript.append(TURN[0], /** @type {any} */ (bad), TURN[1]), String(bad));
    assertInvalid(() => transcript.replace(0, /** @type {any} */ (bad)), String(bad));
    assertInvalid(() => new Transcript(/** @type {any} */ ([bad])), String(bad));
    assert.equal(transcript.length, 4);
    assert.equal(serializeConversation(transcript), before);
  }
  for (const bad of [5, {}, null, true])
    assertInvalid(() => new Transcript(/** @type {any} */ (bad)), String(bad));
});

test("a message whose getter throws goes in as it does in a list", () => {
  const thrower = {
    role: "user",
    get content() {
      throw new Error("the getter's own");
    },
  };
  const transcript = new Transcript(TURN);
  const listed = [...TURN, TURN[0], thrower];
  transcript.append(TURN[0], thrower);
  assert.equal(serializeConversation(transcript), serializeConversation(listed));
  assert.deepEqual(findCut(transcript, 1), findCut(listed, 1));
});

test("C22 C28 a result belongs to its own call, however the messages came in", () => {
  const said = (/** @type {Message[]} */ ...messages) => [TURN[0], ...messages, answer("done")];
  for (const plain of [
    said(call("x"), call("y"), result("x"), result("y")),
    said(call("x"), result("orphan"), result("x")),
    said(result("gone"), call("x"), result("x"), answer("ok"), result("gone")),
    said(call("x"), result("x"), call("x"), result("x")),
  ]) {
    const [one, all] = [new Transcript(), new Transcript(plain)];
    for (const message of plain) one.append(message);
    for (const tokens of [1, 20, 60, 1_000]) {
      const expected = buildRetainedTail(plain, tokens);
      assert.deepEqual(buildRetainedTail(one, tokens), expected);
      assert.deepEqual(buildRetainedTail(all, tokens), expected);
    }
  }
  const replaced = new Transcript(TURN);
  replaced.replace(1, call("other"));
  assert.deepEqual(buildRetainedTail(replaced, 1_000), buildRetainedTail([...replaced], 1_000));
});

test("pairs and halves at the cap of a tool result: sizes of a range are those of its text", () => {
  for (const inset of ["😀", "\ud83d", "\ude00", "x😀"]) {
    for (let at = 1_997; at <= 2_001; at++) {
      const content = `${"a".repeat(at)}${inset}${"b".repeat(50)}`;
      const messages = [{ role: "toolResult", toolCallId: "c", toolName: "read", isError: false, content }];
      const transcript = new Transcript(messages);
      for (const dialect of /** @type {const} */ (["pi-0.87", "pi-1.6"])) {
        const options = { dialect, charsPerToken: 1 };
        const { length } = serializeConversation(messages, options);
        const title = `${dialect} ${JSON.stringify(inset)} at ${at}`;
        assert.equal(serializeConversation(transcript, options).length, length, title);
        assert.equal(estimateSummaryPromptTokens({ messagesToSummarize: messages }, options), length, title);
        assert.equal(
          estimateSummaryPromptTokens({ messagesToSummarize: transcript }, options),
          length,
          title,
        );
      }
    }
  }
});

test("an edit while a message is read loses nothing", () => {
  const transcript = new Transcript(TURN);
  const nested = {
    role: "user",
    get content() {
      transcript.truncate(2);
      return "nested";
    },
  };
  try {
    transcript.append(nested);
  } catch (error) {
    assert.equal(/** @type {any} */ (error).code, "invalid_argument");
  }
  assert.equal([...transcript].length, transcript.length);
  const text = serializeConversation(transcript);
  assert.ok(text === serializeConversation([...transcript]), "text and messages are of one transcript");
  assert.ok(transcript.length === 2 || [...transcript].at(-1) === nested, "what was appended is there");
});

test("after dispose every call is invalid_argument; ranges stay", async () => {
  const transcript = new Transcript(TURN);
  const range = transcript.range(0, 3);
  transcript.dispose();
  for (const use of [
    () => transcript.append(TURN[0]),
    () => transcript.append(),
    () => transcript.truncate(0),
    () => transcript.replace(0, TURN[0]),
    () => transcript.range(),
    () => transcript.length,
    () => transcript.memoryUsage,
    () => [...transcript],
    () => serializeConversation(transcript),
    () => findCut(transcript, 5),
    () => compactionSummaryWouldExceedBudget({ messagesToSummarize: transcript }, BUDGET),
  ]) {
    assertInvalid(use, String(use));
  }
  const { error } = await run(windowed(200_000, 8_192), prepared(/** @type {any} */ (transcript)));
  assert.equal(error.code, "invalid_argument");
  assert.deepEqual([...range], TURN.slice(0, 3));
  assert.equal(serializeConversation(range), serializeConversation(TURN.slice(0, 3)));
  const kept = await run(
    windowed(200_000, 8_192),
    prepared(/** @type {any} */ (range), { turnPrefixMessages: range }),
  );
  assert.equal(kept.result.summary.startsWith("SUMMARY"), true);
});

test("a list beside a range, and what only looks like a range", async () => {
  const transcript = new Transcript(TURN);
  const mixed = { messagesToSummarize: TURN, turnPrefixMessages: transcript.range(1), isSplitTurn: true };
  const plain = { ...mixed, turnPrefixMessages: TURN.slice(1) };
  assert.equal(estimateSummaryPromptTokens(/** @type {any} */ (mixed)), estimateSummaryPromptTokens(plain));
  const [ours, theirs] = [
    await run(windowed(200_000, 8_192), mixed),
    await run(windowed(200_000, 8_192), plain),
  ];
  assert.deepEqual(
    ours.calls.map(({ prompt }) => prompt),
    theirs.calls.map(({ prompt }) => prompt),
  );
  const fakes = [
    { length: 1, [Symbol.iterator]: () => TURN[Symbol.iterator]() },
    Object.create(Transcript.prototype),
    new Set(TURN),
  ];
  for (const fake of fakes) assertInvalid(() => serializeConversation(/** @type {any} */ (fake)), "a fake");
});

test("a message changed in place is measured anew by replace, and only then", () => {
  const message = { role: "user", content: "short" };
  const transcript = new Transcript([message]);
  message.content = "a good deal longer";
  assert.equal(serializeConversation(transcript), "[User]: short");
  transcript.replace(0, message);
  assert.equal(serializeConversation(transcript), "[User]: a good deal longer");
});

test("the same message twice is two messages", () => {
  const message = userOfTokens(5);
  const transcript = new Transcript([message, message]);
  transcript.append(message);
  assert.equal(transcript.length, 3);
  assert.equal(serializeConversation(transcript), serializeConversation([message, message, message]));
  transcript.replace(1, TURN[0]);
  assert.deepEqual([...transcript], [message, TURN[0], message]);
});
