import assert from "node:assert/strict";
import test from "node:test";
import * as native from "../index.js";
import { DIALECTS } from "./support/oracle.mjs";
import { frozen } from "./support/random.mjs";
import { contextTokens, conversation, cut, promptTokens, tokens } from "./support/reference.mjs";
import { sessions } from "./support/sessions.mjs";
import { wildTranscript } from "./support/transcripts.mjs";

/** @typedef {import("./support/transcripts.mjs").Message} Message */
/** @typedef {import("./support/oracle.mjs").Dialect} Dialect */

const TRANSCRIPTS = 20_000;
/** Cut targets: nothing, one message, some, a session's default, more than there is. */
const KEEP = [0, 1, 7, 60, 1000, 20_000, 10_000_000];

/** Half of the list as history, half as prefix. @param {readonly Message[]} messages @param {number} seed */
function inputOf(messages, seed) {
  const middle = seed % (messages.length + 1);
  return {
    messagesToSummarize: messages.slice(0, middle),
    turnPrefixMessages: messages.slice(middle),
    isSplitTurn: seed % 3 !== 0,
    previousSummary: seed % 4 === 0 ? undefined : "é".repeat(seed % 50),
  };
}

/** Every question, put to both. @type {Record<string, (messages: Message[], dialect: Dialect, seed: number) => [unknown, unknown]>} */
const QUESTIONS = {
  serializeConversation: (messages, dialect) => [
    native.serializeConversation(messages, { dialect }),
    conversation(dialect, messages),
  ],
  estimateTokens: (messages, dialect) => [
    messages.map((message) => native.estimateTokens(message, { dialect })),
    messages.map((message) => tokens(dialect, message)),
  ],
  estimateContextTokens: (messages, dialect) => [
    native.estimateContextTokens(messages, { dialect }),
    contextTokens(dialect, messages),
  ],
  estimateSummaryPromptTokens: (messages, dialect, seed) => [
    native.estimateSummaryPromptTokens(inputOf(messages, seed), { dialect }),
    promptTokens(dialect, inputOf(messages, seed)),
  ],
  findCut: (messages, dialect, seed) => {
    const keep = KEEP[seed % KEEP.length];
    return [native.findCut(messages, keep, { dialect }), cut(dialect, messages, keep)];
  },
};

for (const [question, ask] of Object.entries(QUESTIONS)) {
  for (const dialect of DIALECTS) {
    test(`A35 A37 A41 ${question} equals ${dialect} on the sessions`, () => {
      for (const { name, messages } of sessions()) {
        for (let seed = 0; seed < KEEP.length; seed++) {
          const [ours, theirs] = ask(frozen(messages), dialect, seed);
          assert.deepEqual(ours, theirs, `${name}, seed ${seed}`);
        }
      }
    });

    test(`A35 A37 A41 ${question} equals ${dialect} on ${TRANSCRIPTS} transcripts of every shape`, () => {
      for (let seed = 0; seed < TRANSCRIPTS; seed++) {
        const [ours, theirs] = ask(frozen(wildTranscript(seed)), dialect, seed);
        assert.deepEqual(ours, theirs, `wildTranscript(${seed})`);
      }
    });
  }
}

test("A37 D93 estimateTokens divides by charsPerToken and rounds up", () => {
  for (let seed = 0; seed < 500; seed++) {
    for (const message of wildTranscript(seed)) {
      const units = native.estimateTokens(message, { charsPerToken: 1 });
      assert.equal(native.estimateTokens(message, { charsPerToken: 3 }), Math.ceil(units / 3));
      assert.equal(Math.ceil(units / 4), tokens("pi-0.87", message));
    }
  }
});

test("A35 more strings, blocks and messages than one crossing takes", () => {
  /** @param {number} index */
  const call = (index) => {
    const args = { path: `src/${index}.ts`, text: "é\n".repeat(index % 7), [`key${index}`]: '"' };
    return { type: "toolCall", id: `c${index}`, name: "edit", arguments: args };
  };
  const calls = { role: "assistant", content: Array.from({ length: 6_000 }, (_, index) => call(index)) };
  const blocks = Array.from({ length: 70_000 }, (_, index) => ({ type: "text", text: `${index} ` }));
  const short = Array.from({ length: 60_000 }, (_, index) => ({ role: "user", content: `message ${index}` }));
  const messages = frozen([calls, { role: "user", content: blocks }, ...short, calls]);
  for (const dialect of DIALECTS) {
    assert.ok(
      native.serializeConversation(messages, { dialect }) === conversation(dialect, messages),
      dialect,
    );
    for (const [question, ask] of Object.entries(QUESTIONS)) {
      if (question === "estimateTokens" || question === "serializeConversation") continue;
      const [ours, theirs] = ask(messages, dialect, 4);
      assert.deepEqual(ours, theirs, question);
    }
    assert.equal(native.estimateTokens(calls, { dialect }), tokens(dialect, calls));
  }
});
