"use strict";

// The package by `require`: sizes, a plan and a checkpoint.

const assert = require("node:assert");
const {
  CompactionError,
  contextBudget,
  findCut,
  generateCompaction,
  countTokens,
} = require("pi-compaction-native");

const messages = Array.from({ length: 40 }, (_, index) =>
  index % 2
    ? {
        role: "assistant",
        content: [{ type: "text", text: "Done. ".repeat(50) }],
        stopReason: "stop",
        timestamp: index,
      }
    : { role: "user", content: `Port file ${index}. `.repeat(50), timestamp: index },
);

async function main() {
  const { firstKeptIndex } = findCut(messages, 1000);
  assert.ok(firstKeptIndex > 0 && firstKeptIndex < messages.length);
  assert.throws(() => findCut(messages, -1), CompactionError);
  const { summary } = await generateCompaction({
    preparation: { messagesToSummarize: messages.slice(0, firstKeptIndex) },
    budget: contextBudget({ contextWindow: 64_000, maxTokens: 8_000 }),
    summarizer: { kind: "extractive" },
  });
  assert.match(summary, /Port file 0/);
  assert.strictEqual(await countTokens("hello world", "o200k_base"), 2);
  console.log("required");
}

main();
