// The guard in JavaScript alone that the bench sets beside the addon has to be a guard: it answers what pi answers.

import assert from "node:assert/strict";
import test from "node:test";

import { conversationUnits, promptTokens, wouldExceed } from "../benches/support/pure-guard.mjs";
import * as reference from "./support/reference.mjs";
import { sessions } from "./support/sessions.mjs";
import { wildTranscript } from "./support/transcripts.mjs";

const TRANSCRIPTS = 20_000;

/** @param {readonly any[]} messages @param {string} name */
function assertEqual(messages, name) {
  assert.equal(conversationUnits(messages), reference.conversation("pi-0.87", messages).length, name);
  const [front, back] = [messages.slice(0, messages.length >> 1), messages.slice(messages.length >> 1)];
  const inputs = [
    { messagesToSummarize: messages, previousSummary: "a summary \u{1f980}" },
    { messagesToSummarize: front, turnPrefixMessages: back, isSplitTurn: true },
    { messagesToSummarize: front, turnPrefixMessages: back, isSplitTurn: false },
  ];
  for (const input of inputs) {
    const tokens = reference.promptTokens("pi-0.87", input);
    assert.equal(promptTokens(input), tokens, name);
    assert.deepEqual(
      [tokens - 1, tokens, tokens + 1].map((limit) => wouldExceed(input, limit)),
      [true, true, false],
      name,
    );
  }
}

test("the bench's guard in JavaScript equals pi-0.87 on the sessions", () => {
  for (const { name, messages } of sessions()) assertEqual(messages, name);
});

test(`the bench's guard in JavaScript equals pi-0.87 on ${TRANSCRIPTS} transcripts of every shape`, () => {
  for (let seed = 0; seed < TRANSCRIPTS; seed++) assertEqual(wildTranscript(seed), `wildTranscript(${seed})`);
});

test("the bench's guard in JavaScript counts escapes as JSON does, in short and long strings", () => {
  const texts = ["", '"', "\\", "\u0000\u001f\b\f\n\r\t\v", "\ud83d", "\ude00", "\ud83d\ude00", "é\u2028漢"];
  for (const text of texts.flatMap((part) => [
    part,
    part.repeat(60),
    "x".repeat(47) + part,
    part.repeat(9_000),
  ])) {
    const messages = [
      { role: "assistant", content: [{ type: "toolCall", name: "write", arguments: { text } }] },
    ];
    assert.equal(conversationUnits(messages), reference.conversation("pi-0.87", messages).length);
  }
});
