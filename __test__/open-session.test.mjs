// A session file as a transcript: pi 1.6.0's projection of it, and every answer as for pi's own messages.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as library from "../index.js";
import { random } from "./support/random.mjs";
import {
  assertAnswers,
  assertReading,
  changeBoth,
  openSession,
  openUntouched,
  realSessions,
  sessionFolder,
} from "./support/session-open.mjs";
import { asPiReads, told } from "./support/session-oracle.mjs";
import { branchOf, jsonOf, sessionTree, stored } from "./support/session-trees.mjs";
import { soundTranscript } from "./support/sound.mjs";
import { compaction } from "./support/transcript-calls.mjs";

/** @typedef {import("./support/transcripts.mjs").Message} Message */

const { Transcript, contextBudget, estimateContextTokens, findCut, planChunks, serializeConversation } =
  library;
const { file } = sessionFolder("open");
const TREES = 2_000;

/** The newest branch of a file, and each by its leaf. @param {string} content @param {number} seed */
async function assertTree(content, seed) {
  const path = file(content);
  const newest = asPiReads(content);
  assert.ok(newest, "there is a newest entry");
  const session = await openUntouched(path);
  assertReading(session, newest, `seed ${seed}`);
  assertAnswers(session, newest.messages, seed);
  await Promise.all(
    newest.leafIds.map(async (leafId) => {
      const reading = asPiReads(content, leafId);
      assert.ok(reading, "the oracle finds every id");
      const title = `seed ${seed}, leaf ${JSON.stringify(leafId)}`;
      assertReading(await openSession(path, { leafId }), reading, title);
    }),
  );
  return newest;
}

test("contexts of generated trees, by every leaf, are pi's and answer as pi's", async () => {
  const seen = { messages: 0, checkpoints: 0, gaps: 0, linear: 0, leaves: 0, stale: 0, broken: 0 };
  for (let seed = 0; seed < TREES; seed++) {
    const reading = await assertTree(sessionTree(seed), seed);
    seen.messages += reading.messages.length;
    seen.checkpoints += reading.previousCheckpoint ? 1 : 0;
    seen.gaps += reading.gap ? 1 : 0;
    seen.leaves += reading.leafIds.length;
    seen.linear += reading.leafIds.length === 0 ? 1 : 0;
    seen.stale += reading.staleMessages > 1 ? 1 : 0;
    seen.broken += reading.skipped.length;
  }
  const least = {
    messages: 4_000,
    checkpoints: 300,
    gaps: 100,
    linear: 300,
    leaves: 6_000,
    stale: 200,
    broken: 200,
  };
  for (const [what, count] of Object.entries(least))
    assert.ok(/** @type {any} */ (seen)[what] >= count, `${what}: ${JSON.stringify(seen)}`);
});

test("larger trees with compactions among them answer as pi's messages do", async () => {
  for (let seed = 0; seed < 60; seed++) {
    const content = sessionTree(seed + 50_000, 120);
    const [session, reading] = [await openUntouched(file(content)), asPiReads(content)];
    assert.ok(reading);
    assertReading(session, reading, `seed ${seed}`);
    for (let round = 0; round < 3; round++) assertAnswers(session, reading.messages, seed * 3 + round);
  }
});

for (const { name, path, skip } of realSessions()) {
  test(`${name}: context, answers and compaction are those of pi's messages`, { skip }, async () => {
    const reading = asPiReads(readFileSync(path));
    assert.ok(reading && reading.messages.length > 20);
    const session = await openUntouched(path);
    assertReading(session, reading, name);
    for (let round = 0; round < 16; round++) assertAnswers(session, reading.messages, round);
    for (const dialect of /** @type {const} */ (["pi-0.87", "pi-1.6"])) {
      const text = serializeConversation(reading.messages, { dialect });
      assert.ok(serializeConversation(session, { dialect }) === text, `${dialect}: the same text`);
      assert.ok(text.length > 10_000);
    }
    for (let seed = 1; seed <= 4; seed++) {
      const run = compaction(random(seed));
      assert.deepEqual(told(await run(session, session.range(0, 0))), told(await run(reading.messages, [])));
    }
  });
}

/** @param {string} id @param {string | null} parentId @param {object} [more] */
const said = (id, parentId, more = {}) => ({
  type: "message",
  id,
  parentId,
  message: { role: "user", content: id, ...more },
});
/** @param {string} id @param {string} parentId @param {string} firstKeptEntryId @param {object} [more] */
const compacted = (id, parentId, firstKeptEntryId, more = {}) => ({
  type: "compaction",
  id,
  parentId,
  firstKeptEntryId,
  timestamp: "2025-12-09T00:53:29.825Z",
  summary: `summary ${id}`,
  tokensBefore: 9,
  details: { readFiles: ["a"], modifiedFiles: [] },
  ...more,
});
const jsonl = (/** @type {any[]} */ ...entries) =>
  [{ type: "session", version: 3, id: "s" }, ...entries].map((entry) => `${jsonOf(entry)}\n`).join("");
const contents = (/** @type {any} */ session) =>
  [...session].map((/** @type {Message} */ { content, summary }) => content ?? summary);

test("two compactions: the later one leads, and what it kept may hold the earlier", async () => {
  const lines = [said("a", null), said("b", "a"), compacted("c", "b", "b"), said("d", "c")];
  const content = jsonl(...lines, compacted("e", "d", "b"), said("f", "e"));
  const session = await openUntouched(file(content));
  assertReading(session, /** @type {any} */ (asPiReads(content)), "two");
  assert.deepEqual(contents(session), ["summary e", "b", "d", "f"]);
  assert.deepEqual([session.staleMessages, session.endsInCheckpoint], [3, false]);
  const details = { readFiles: ["a"], modifiedFiles: [] };
  assert.deepEqual(session.previousCheckpoint, { summary: "summary e", details, tokensBefore: 9 });
  const earlier = await openSession(file(content), { leafId: "c" });
  assert.deepEqual([contents(earlier), earlier.endsInCheckpoint], [["summary c", "b"], true]);
});

test("a compaction's system message comes before its summary", async () => {
  const systemMessage = { role: "system", content: "prompt" };
  const content = jsonl(said("a", null), compacted("b", "a", "a", { systemMessage }), said("c", "b"));
  const session = await openSession(file(content));
  const roles = [...session].map(({ role }) => role);
  assert.deepEqual(roles, ["system", "compactionSummary", "user", "user"]);
  assert.deepEqual([session.entryId(0), session.entryId(1), session.entryId(2)], ["b", "b", "a"]);
  assert.equal(session.staleMessages, 3);
});

test("usage reported before the checkpoint is not believed behind staleMessages", async () => {
  const usage = { input: 150_000, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 150_001 };
  const reported = { role: "assistant", content: [], stopReason: "stop", usage };
  const content = jsonl(said("a", null), said("b", "a", reported), compacted("c", "b", "a"), said("d", "c"));
  const session = await openSession(file(content));
  assert.equal(session.staleMessages, 3);
  const afterIndex = session.staleMessages - 1;
  assert.equal(estimateContextTokens(session).lastUsageIndex, 2);
  assert.equal(estimateContextTokens(session, { afterIndex }).lastUsageIndex, null);
});

test("a checkpoint that an edit took out is no checkpoint", async () => {
  const edit = { type: "context_edit", id: "d", parentId: "c", targetId: "b", replacement: null };
  const content = jsonl(said("a", null), compacted("b", "a", "a"), said("c", "b"), edit);
  const session = await openSession(file(content));
  assert.deepEqual([contents(session), session.previousCheckpoint], [["a", "c"], undefined]);
  assert.equal(session.staleMessages, 2);
});

test("parents that are missing or lead in a circle end the branch and are named", async () => {
  const orphan = await openSession(file(jsonl(said("a", null), said("b", "gone"), said("c", "b"))));
  assert.deepEqual([contents(orphan), orphan.gap.line], [["b", "c"], 3]);
  const circle = await openSession(file(jsonl(said("a", "c"), said("b", "a"), said("c", "b"))));
  assert.deepEqual([contents(circle), circle.gap.line], [["a", "b", "c"], 2]);
  const own = await openSession(file(jsonl(said("a", "a"))));
  assert.deepEqual([contents(own), own.gap.line], [["a"], 2]);
  for (const { gap } of [orphan, circle, own]) assert.match(gap.reason, /\w+ \w+/);
  for (const parent of [[], {}, 5, true]) {
    const odd = await openSession(file(jsonl(said("a", null), said("b", /** @type {any} */ (parent)))));
    assert.deepEqual([contents(odd), odd.gap?.line], [["b"], 3], JSON.stringify(parent));
  }
  const sound = await openSession(file(jsonl(said("a", null), said("b", "a"))));
  assert.equal(sound.gap, undefined);
});

test("ids that are numbers link entries as in pi", async () => {
  const entries = /** @type {any[]} */ ([said("1", null), said("2", "1"), said("3", "2")]);
  const numbers = entries.map((entry, i) => ({ ...entry, id: i + 1, parentId: i === 0 ? null : i }));
  const session = await openSession(file(jsonl(...numbers)));
  assert.deepEqual([contents(session), session.gap], [["1", "2", "3"], undefined]);
});

test("an entry that says nothing keeps its place in the tree", async () => {
  for (const silent of [
    {},
    { type: 7 },
    { type: "message" },
    { type: "message", message: null },
    { type: "future" },
  ]) {
    const content = jsonl(said("a", null), { ...silent, id: "b", parentId: "a" }, said("c", "b"));
    const session = await openUntouched(file(content));
    assertReading(session, /** @type {any} */ (asPiReads(content)), JSON.stringify(silent));
    assert.deepEqual([contents(session), session.gap], [["a", "c"], undefined]);
  }
});

test("a circle of a hundred thousand entries ends", { timeout: 60_000 }, async () => {
  const length = 100_000;
  const entries = Array.from({ length }, (_, at) => said(`${at}`, `${(at + length - 1) % length}`));
  const session = await openSession(file(jsonl(...entries)));
  assert.equal(session.length, length);
  assert.equal(session.gap.line, 2);
});

test("it is a transcript: appended, truncated, replaced, looked at through ranges", async () => {
  for (let seed = 0; seed < 150; seed++) {
    const rng = random(seed + 77);
    const plain = soundTranscript(seed, 6).map(stored);
    // Written in another way than pi's, messages are built in JavaScript.
    const otherwise = (/** @type {string} */ text) => text.replaceAll('"message":{', '"message": {');
    const written = branchOf(plain);
    const session = await openSession(file(seed % 2 === 0 ? written : otherwise(written)));
    const before = session.range();
    const kept = plain.slice();
    for (let edits = rng.between(1, 6); edits > 0; edits--) {
      changeBoth(rng, session, plain);
      assert.equal(session.length, plain.length);
      assert.deepEqual([...session], plain, `seed ${seed}`);
      assertAnswers(session, plain, seed * 10 + edits);
    }
    assert.deepEqual([before.length, [...before]], [kept.length, kept], "a range is a snapshot");
    assert.equal(serializeConversation(before), serializeConversation(kept));
  }
});

test("entryId goes with the messages that came from the file", async () => {
  const session = await openSession(file(jsonl(said("a", null), said("b", "a"), said("c", "b"))));
  session.truncate(2);
  session.append({ role: "user", content: "new" });
  assert.deepEqual([session.entryId(0), session.entryId(1), session.entryId(2)], ["a", "b", null]);
  session.replace(0, { role: "user", content: "other" });
  assert.deepEqual([session.entryId(0), session.entryId(1), session.entryId(2)], [null, "b", null]);
  for (const index of [-1, 3, 0.5, "0", Number.NaN])
    assert.throws(() => session.entryId(index), { code: "invalid_argument" }, `${index}`);
});

test("ranges outlive it, and it answers nothing once it is disposed", async () => {
  const messages = soundTranscript(3, 4).map(stored);
  const session = await openSession(file(branchOf(messages)));
  const range = session.range(1);
  session.dispose();
  assert.deepEqual([...range], messages.slice(1));
  assert.equal(serializeConversation(range), serializeConversation(messages.slice(1)));
  for (const use of [
    () => session.length,
    () => [...session],
    () => session.range(),
    () => session.append(),
    () => serializeConversation(session),
  ])
    assert.throws(use, { code: "invalid_argument" });
});

test("chunks, cut and tail of a long session, with an array beside it", async () => {
  const messages = Array.from({ length: 40 }, (_, seed) => soundTranscript(seed, 8))
    .flat()
    .map(stored);
  const session = await openSession(file(branchOf(messages)));
  const cut = findCut(messages, 4_000);
  assert.deepEqual(findCut(session, 4_000), cut);
  const prefix = soundTranscript(99, 3).map(stored);
  for (const promptLimit of [4_000, 9_000, 30_000]) {
    const input = (/** @type {any} */ given) => ({
      messagesToSummarize: given,
      turnPrefixMessages: prefix,
      isSplitTurn: true,
      previousSummary: "before",
    });
    const chunks = (/** @type {any} */ given) =>
      planChunks(input(given), { promptLimit, maxChunks: 64 })?.map((chunk) => [...chunk]);
    const expected = chunks(messages);
    assert.ok(expected && expected.length > 1);
    assert.deepEqual(chunks(session), expected, `${promptLimit}`);
  }
});

test("a recovery of a session is that of its messages", async () => {
  const messages = soundTranscript(11, 20).map(stored);
  const session = await openSession(file(branchOf(messages)));
  const outcome = (/** @type {any} */ given) =>
    library.compactWithRecovery(
      /** @type {any} */ ({
        preparation: given,
        budget: contextBudget({ contextWindow: 32_768, maxTokens: 4_096 }),
        summarizer: { kind: "extractive" },
        transcript: given.all,
        reason: "threshold",
      }),
    );
  const at = messages.length - 6;
  const parts = (/** @type {any} */ all, /** @type {any} */ cut) => [
    { all, messagesToSummarize: all },
    { all, messagesToSummarize: cut(0, at), retainedTail: cut(at) },
  ];
  const [ours, plain] = [
    parts(session, (/** @type {any} */ ...ends) => session.range(...ends)),
    parts(messages, (/** @type {any} */ ...ends) => messages.slice(...ends)),
  ];
  for (const [i, given] of ours.entries())
    assert.deepEqual(await outcome(given), await outcome(plain[i]), `${i}`);
});

test("it is exported, and wrong arguments are refused before the file is looked at", async () => {
  const session = await openSession(file(jsonl(said("a", null))));
  assert.ok(session instanceof Transcript);
  assert.ok(session instanceof /** @type {any} */ (library).SessionTranscript);
  const path = file(jsonl(said("a", null)));
  const absent = { leafId: undefined, signal: undefined, onProgress: undefined };
  for (const options of [undefined, {}, absent]) assert.equal((await openSession(path, options)).length, 1);
  for (const wrong of [undefined, null, 7, {}, [path]])
    await assert.rejects(openSession(wrong), { code: "invalid_argument" }, `${wrong}`);
  for (const options of [7, "x", { leafId: 7 }, { leafId: {} }, { signal: {} }, { onProgress: "x" }])
    await assert.rejects(openSession(path, options), { code: "invalid_argument" }, JSON.stringify(options));
});
