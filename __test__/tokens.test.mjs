// Exact tokens against gpt-tokenizer, which the tests alone know.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { countTokens, serializeConversation, summaryFits, Transcript } from "../index.js";
import { budgetOf, encodings, ORACLE, oracleTokens } from "./support/encodings.mjs";
import { frozen, random } from "./support/random.mjs";
import { sessions } from "./support/sessions.mjs";
import { userOfTokens } from "./support/sound.mjs";
import { mixedText } from "./support/token-texts.mjs";
import { wildTranscript } from "./support/transcripts.mjs";

/** What the host asks for, and what it asks of the counter. */
const encoding = "o200k_base";
const options = frozen({ encoding });

/** Where gpt-tokenizer is not as its model: JavaScript's white space, and the folding of the long s. */
const ODD = /[\u0085\ufeffſ]/;
const allOdd = new RegExp(ODD, "g");

/** By tiktoken 1.0.22, `encode_ordinary`. @type {[text: string, o200k: number, cl100k: number][]} */
const TIKTOKEN = [
  ["\ufeff\ufeffconst x", 3, 4],
  ["x \ufeff\n y", 4, 4],
  ["x'ſ'ſ", 5, 7],
  ["\ufeff  a", 3, 3],
  ["\u0085\n\u0085x", 6, 6],
];

for (const name of encodings) {
  test(`${name}: the table is that of its source`, () => {
    const table = readFileSync(new URL(`../tokens/${name}.tokens`, import.meta.url));
    const source = readFileSync(new URL(`gpt-tokenizer/data/${name}.tiktoken`, ORACLE), "utf8");
    let at = 0;
    for (const line of source.split("\n").filter(Boolean)) {
      const token = Buffer.from(line.slice(0, line.indexOf(" ")), "base64");
      assert.equal(table[at], token.length);
      assert.ok(token.equals(table.subarray(at + 1, at + 1 + token.length)), line);
      at += 1 + token.length;
    }
    assert.equal(at, table.length);
  });

  test(`${name}: the real sessions count as gpt-tokenizer counts them`, async () => {
    for (const session of sessions()) {
      const text = serializeConversation(session.messages);
      assert.equal(await countTokens(text, name), oracleTokens(text, name), session.name);
    }
  });

  test(`${name}: generated texts and transcripts count as gpt-tokenizer counts them`, async () => {
    for (let seed = 0; seed < 4_000; seed++) {
      const text = seed % 4 === 0 ? serializeConversation(wildTranscript(seed)) : mixedText(random(seed));
      const common = text.replace(allOdd, "");
      assert.equal(await countTokens(common, name), oracleTokens(common, name), JSON.stringify(common));
    }
  });

  test(`${name}: long runs and a text of many blocks count alike`, async () => {
    const rng = random(5);
    const many = Array.from({ length: 20_000 }, () => mixedText(rng)).join("");
    const runs = ["a", "Z", " ", "\n", "\t", "=", "7", "é", "漢", "😀", "\u0000", "ab ", "\ud800"];
    for (const text of [many, ...runs.map((run) => run.repeat(5_000))]) {
      const common = text.replace(allOdd, "");
      assert.equal(await countTokens(common, name), oracleTokens(common, name), common.slice(0, 20));
    }
  });
}

test("white space and contractions are as OpenAI's own code has them, where gpt-tokenizer differs", async () => {
  for (const [text, o200k, cl100k] of TIKTOKEN) {
    assert.deepEqual(
      [await countTokens(text, "o200k_base"), await countTokens(text, "cl100k_base")],
      [o200k, cl100k],
      JSON.stringify(text),
    );
  }
});

test("special tokens are text, lone surrogates U+FFFD, nothing is nothing", async () => {
  assert.equal(await countTokens("", encoding), 0);
  assert.equal(await countTokens("<|endoftext|>", encoding), oracleTokens("<|endoftext|>", encoding));
  assert.ok((await countTokens("<|endoftext|>", encoding)) > 1);
  assert.equal(await countTokens("a\ud83d b", encoding), await countTokens("a\ufffd b", encoding));
});

test("a megabyte of one letter, of spaces and of line ends is counted", async () => {
  const million = (/** @type {string} */ run) => countTokens(run.repeat(1_000_000), encoding);
  assert.deepEqual(await Promise.all(["a", " ", "1"].map(million)), [125_000, 7_813, 333_334]);
});

test("Node's main thread goes on while it is counted", async () => {
  const counting = countTokens("several words and some more; ".repeat(200_000), encoding);
  let turns = 0;
  let done = false;
  const counted = counting.finally(() => {
    done = true;
  });
  while (!done) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  assert.ok((await counted) > 1_000_000);
  assert.ok(turns > 20, `${turns} turns`);
});

/** The smallest limit below which it does not fit: its tokens. @param {any} preparation @param {number} tokens @param {any} [more] */
async function assertTokens(preparation, tokens, more = {}) {
  for (const [limit, fits] of /** @type {const} */ ([
    [tokens, false],
    [tokens + 1, true],
  ])) {
    const verdict = await summaryFits(preparation, budgetOf(limit), undefined, { ...options, ...more });
    assert.equal(verdict, fits, `${tokens} tokens, limit ${limit}`);
  }
}

test("A41 G15 real sessions fit from the limit that their exact tokens stay below", async () => {
  for (const { name, messages } of sessions()) {
    const tokens = oracleTokens(serializeConversation(messages), encoding);
    await assertTokens({ messagesToSummarize: messages }, tokens);
    const transcript = new Transcript(messages);
    const previousSummary = "an earlier checkpoint\n".repeat(40);
    const both = tokens + oracleTokens(previousSummary, encoding);
    await assertTokens({ messagesToSummarize: transcript.range(), previousSummary }, both);
    assert.ok(tokens > 0, name);
  }
});

test("A41 A42 generated transcripts, split turns and dialects", async () => {
  for (let seed = 0; seed < 150; seed++) {
    const [messagesToSummarize, turnPrefixMessages] = [wildTranscript(seed), wildTranscript(seed + 5_000)];
    const dialect = seed % 2 ? "pi-1.6" : "pi-0.87";
    const of = (/** @type {any[]} */ list) =>
      oracleTokens(serializeConversation(list, { dialect }), encoding);
    const isSplitTurn = seed % 3 > 0;
    const [history, prefix] = [of(messagesToSummarize), isSplitTurn ? of(turnPrefixMessages) : 0];
    const tokens = Math.max(history, prefix);
    // A limit is at least 1; and see above for what gpt-tokenizer counts otherwise.
    const texts = serializeConversation([...messagesToSummarize, ...turnPrefixMessages], { dialect });
    if (tokens < 1 || ODD.test(texts)) continue;
    await assertTokens(frozen({ messagesToSummarize, turnPrefixMessages, isSplitTurn }), tokens, { dialect });
  }
});

test("A40 the limit is the guard's: window, answer and margin", async () => {
  const budget = frozen({ hardLimit: 168_000, requestHeadroom: 32_000 });
  const model = frozen({ contextWindow: 200_000, maxTokens: 32_000 });
  const limit = 200_000 - 25_600 - 2_048;
  const words = (/** @type {number} */ tokens) => {
    const content = `word${" word".repeat(tokens - oracleTokens("[User]: word", encoding))}`;
    return { messagesToSummarize: [{ role: "user", content }] };
  };
  assert.equal(await summaryFits(words(limit - 1), budget, model, options), true);
  assert.equal(await summaryFits(words(limit), budget, model, options), false);
  assert.equal(await summaryFits(words(100), budget, { maxInputTokens: 2_100 }, options), false);
});

test("G16 words around the text count beyond the margin, each with its own request", async () => {
  const messagesToSummarize = [{ role: "user", content: "hi" }];
  const text = oracleTokens("[User]: hi", encoding);
  const prompts = { system: "Summarize.", initial: "Now. ".repeat(2_000), update: "Go on. ".repeat(2_000) };
  const tokens = (/** @type {string} */ around, /** @type {string} */ own) =>
    oracleTokens(prompts.system, encoding) + oracleTokens(around + own, encoding) - 2_048;
  const tags = "<conversation>\n\n</conversation>\n\n";
  await assertTokens({ messagesToSummarize }, text + tokens(tags, prompts.initial), { prompts });
  const carried = `${tags}<previous-summary>\n\n</previous-summary>\n\n`;
  const withSummary = text + 1 + tokens(carried, prompts.update);
  await assertTokens({ messagesToSummarize, previousSummary: "s" }, withSummary, { prompts });
  await assertTokens({ messagesToSummarize }, text, { customInstructions: "Keep the paths." });
  const asked = { customInstructions: "Keep the paths. ".repeat(3_000) };
  assert.equal(
    await summaryFits({ messagesToSummarize }, budgetOf(9_000), undefined, { ...options, ...asked }),
    false,
  );
});

test("exact tokens and characters disagree where text is not English", async () => {
  const preparation = frozen({ messagesToSummarize: [userOfTokens(1_000)] });
  assert.equal(await summaryFits(preparation, budgetOf(900), undefined, options), true);
  const han = frozen({ messagesToSummarize: [{ role: "user", content: "会话记录".repeat(1_000) }] });
  assert.equal(await summaryFits(han, budgetOf(1_010), undefined, options), false);
});
