import assert from "node:assert/strict";
import test from "node:test";
import { estimateSummaryPromptTokens, reduceSummaryInput } from "../index.js";
import { DIALECTS } from "./support/oracle.mjs";
import { frozen } from "./support/random.mjs";
import { conversation } from "./support/reference.mjs";
import { answer, call, result, soundTranscript } from "./support/sound.mjs";
import { hasLoneSurrogate } from "./support/texts.mjs";
import { wildTranscript } from "./support/transcripts.mjs";

/** @typedef {import("./support/transcripts.mjs").Message} Message */

const PREFIX = 500;
const MARKER = "[... tool output truncated for the summary request]";

/** @param {readonly Message[]} messagesToSummarize @param {object} more @returns {any} */
function input(messagesToSummarize, more = {}) {
  return frozen({ messagesToSummarize, turnPrefixMessages: [], isSplitTurn: false, ...more });
}

/** @param {Message} message */
function reducedOne(message) {
  return reduceSummaryInput(input([message]))?.messagesToSummarize[0];
}

/** @param {any} message @returns {string} */
function textOf(message) {
  const { content } = message;
  if (typeof content === "string") return content;
  return content.map((/** @type {any} */ block) => (block?.type === "text" ? block.text : "")).join("");
}

/** @param {number} seed */
function generated(seed) {
  const messages = seed % 2 === 0 ? soundTranscript(seed) : wildTranscript(seed, 8);
  const middle = seed % (messages.length + 1);
  return input(messages.slice(0, middle), {
    turnPrefixMessages: messages.slice(middle),
    isSplitTurn: seed % 3 !== 0,
    previousSummary: "before",
    firstKeptEntryId: "e9",
  });
}

/** @param {any} input @returns {Message[]} */
function messagesOf({ messagesToSummarize, turnPrefixMessages }) {
  return [...messagesToSummarize, ...turnPrefixMessages];
}

test("A44 A45 each tool result is cut to 500 units and a visible marker after a blank line", () => {
  const output = "0123456789".repeat(500);
  const expected = `${output.slice(0, PREFIX)}\n\n${MARKER}`;
  assert.equal(textOf(reducedOne(result("c", output))), expected);
  assert.equal(textOf(reducedOne({ ...result("c"), content: output })), expected);
});

test("A44 a result in several text blocks is cut as one", () => {
  const parts = ["a".repeat(300), "b".repeat(300), "c".repeat(3_000)];
  const content = parts.map((text) => ({ type: "text", text }));
  const reduced = reducedOne({ ...result("c"), content });
  assert.ok(textOf(reduced).startsWith("a".repeat(300) + "b".repeat(200)), "the first 500 units stand");
  assert.ok(textOf(reduced).includes(MARKER));
  assert.ok(!textOf(reduced).includes("b".repeat(201)) && !textOf(reduced).includes("c".repeat(50)));
});

test("A44 the cut never splits a surrogate pair", () => {
  for (let at = PREFIX - 3; at <= PREFIX + 1; at++) {
    const cut = textOf(reducedOne(result("c", `${"a".repeat(at)}${"😀".repeat(400)}`)));
    assert.equal(hasLoneSurrogate(cut), false, `pair at ${at}`);
    assert.ok(cut.indexOf("\n\n[") >= PREFIX - 1 && cut.indexOf("\n\n[") <= PREFIX);
  }
});

test("A44 A54 a text of 500 units stays; no reduced text is longer than it was", () => {
  for (let units = PREFIX - 2; units <= PREFIX + 120; units++) {
    const message = result("c", "x".repeat(units));
    const reduced = reducedOne(frozen(message));
    if (units <= PREFIX) assert.equal(reduced, undefined, `${units}`);
    else if (reduced !== undefined) assert.ok(textOf(reduced).length < units, `${units}`);
  }
  assert.ok(reducedOne(result("c", "x".repeat(600))) !== undefined);
});

test("A46 thinking is dropped, also where nothing else remains", () => {
  const thinking = { type: "thinking", thinking: "long thoughts" };
  const words = { type: "text", text: "said" };
  const reduced = reducedOne({ role: "assistant", content: [thinking, words, thinking], stopReason: "stop" });
  assert.deepEqual(reduced?.content, [words]);
  assert.equal(reduced?.content[0], words, "the kept block is the same object");
  const only = reduceSummaryInput(
    input([
      { role: "user", content: "a" },
      { role: "assistant", content: [thinking] },
    ]),
  );
  assert.equal(only?.messagesToSummarize.length, 2, "A50");
  assert.deepEqual(only?.messagesToSummarize[1].content, []);
});

test("A47 A48 A49 user text, assistant text and call arguments are never touched", () => {
  const long = "w".repeat(5_000);
  const messages = [
    { role: "user", content: long },
    answer(long),
    call("c", { path: long, nested: { long } }),
  ];
  assert.equal(reduceSummaryInput(input(messages)), undefined);
  const reduced = reduceSummaryInput(input([...messages, result("c", long)]));
  for (const [index, message] of messages.entries()) {
    assert.equal(reduced?.messagesToSummarize[index], message, "A54: the same object");
  }
});

test("A52 nothing to reduce: undefined", () => {
  assert.equal(reduceSummaryInput(input([])), undefined);
  assert.equal(reduceSummaryInput(input([answer("short"), result("c", "short")])), undefined);
});

test("A53 what is not messages is passed on; the originals stay as they were", () => {
  const long = result("c", "x".repeat(3_000));
  const settings = { reserveTokens: 1 };
  const given = input([long], {
    previousSummary: "before",
    firstKeptEntryId: "e7",
    retainedTail: [long],
    settings,
  });
  const reduced = reduceSummaryInput(given);
  assert.equal(given.messagesToSummarize[0], long);
  assert.equal(reduced?.retainedTail, given.retainedTail);
  assert.equal(reduced?.settings, settings);
  assert.deepEqual([reduced?.previousSummary, reduced?.firstKeptEntryId], ["before", "e7"]);
  assert.deepEqual(Object.keys(reduced ?? {}).sort(), Object.keys(given).sort());
});

test("A54 the turn prefix is reduced too; images of results are kept", () => {
  const image = { type: "image", data: "aGk=", mimeType: "image/png" };
  const content = [{ type: "text", text: "x".repeat(3_000) }, image];
  const prefix = [{ ...result("c"), content }];
  const reduced = reduceSummaryInput(input([], { turnPrefixMessages: prefix, isSplitTurn: true }));
  assert.ok(textOf(reduced?.turnPrefixMessages[0]).length < 600);
  assert.ok(reduced?.turnPrefixMessages[0].content.includes(image));
});

test("A50 A54 order, count, identity and size, on transcripts of every shape", () => {
  for (let seed = 0; seed < 4_000; seed++) {
    const given = generated(seed);
    const reduced = reduceSummaryInput(given);
    if (reduced === undefined) continue;
    const [before, after] = [messagesOf(given), messagesOf(reduced)];
    assert.equal(after.length, before.length, `seed ${seed}`);
    for (const [index, message] of before.entries()) {
      if (after[index] === message) continue;
      assert.ok(["toolResult", "assistant"].includes(message.role), `seed ${seed}: ${message.role}`);
      const { content: cut, ...rest } = after[index];
      const { content: whole, ...kept } = message;
      assert.deepEqual(rest, kept, `seed ${seed}`);
      if (message.role === "toolResult") {
        assert.ok(textOf(after[index]).length <= PREFIX + 2 + MARKER.length, `seed ${seed}`);
      }
    }
    for (const dialect of DIALECTS) {
      const longer = conversation(dialect, after).length > conversation(dialect, before).length;
      assert.equal(longer, false, `seed ${seed}, ${dialect}`);
      assert.ok(
        estimateSummaryPromptTokens(reduced, { dialect }) <= estimateSummaryPromptTokens(given, { dialect }),
      );
    }
  }
});

test("A43 A54 reducing twice changes nothing; undefined only where nothing can be reduced", () => {
  for (let seed = 0; seed < 4_000; seed++) {
    const given = generated(seed);
    const reduced = reduceSummaryInput(given);
    if (reduced !== undefined) assert.equal(reduceSummaryInput(frozen(reduced)), undefined, `seed ${seed}`);
    const settled = reduced ?? given;
    const thinks = messagesOf(settled).some(
      ({ role, content }) =>
        role === "assistant" && Array.isArray(content) && content.some((block) => block?.type === "thinking"),
    );
    // A turn prefix that is no part of the input may stay as it is.
    if (given.isSplitTurn || given.turnPrefixMessages.length === 0)
      assert.equal(thinks, false, `seed ${seed}`);
  }
});
