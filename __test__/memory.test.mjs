import assert from "node:assert/strict";
import test from "node:test";
import { buildRetainedTail, planChunks, reduceSummaryInput, serializeConversation } from "../index.js";
import { call, result } from "./support/sound.mjs";

const TEXT = "x".repeat(10_000_000);
const SPOKEN = [{ role: "user", content: TEXT }];
const PRINTED = [call("a"), result("a", TEXT)];

/** @type {Record<string, () => unknown>} */
const CALLS = {
  serializeConversation: () => serializeConversation(SPOKEN),
  reduceSummaryInput: () => reduceSummaryInput({ messagesToSummarize: PRINTED }),
  buildRetainedTail: () => buildRetainedTail(PRINTED, 100),
  planChunks: () => planChunks({ messagesToSummarize: SPOKEN }, { promptLimit: 800 }),
};

for (const [name, run] of Object.entries(CALLS)) {
  test(`${name} gives back what it read of a text before the next call, whatever the collector does`, async () => {
    run();
    const before = process.memoryUsage.rss();
    for (let calls = 0; calls < 40; calls++) {
      run();
      await new Promise(setImmediate);
    }
    const grown = process.memoryUsage.rss() - before;
    assert.ok(grown < 20 * TEXT.length, `${grown} bytes after 40 calls`);
  });
}
