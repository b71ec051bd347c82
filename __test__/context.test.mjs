import assert from "node:assert/strict";
import test from "node:test";
import { estimateContextTokens, estimateTokens } from "../index.js";
import { DIALECTS } from "./support/oracle.mjs";
import { frozen } from "./support/random.mjs";
import { contextTokens } from "./support/reference.mjs";
import { wildTranscript } from "./support/transcripts.mjs";

/** @param {number} totalTokens @param {object} more */
function report(totalTokens, more = {}) {
  const usage = { input: totalTokens, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens };
  return {
    role: "assistant",
    content: [{ type: "text", text: "answer" }],
    stopReason: "stop",
    usage,
    ...more,
  };
}

const user = { role: "user", content: "question" };
const summary = { role: "compactionSummary", summary: "what was", tokensBefore: 190_000 };

test("pi#1860 usage from before the boundary is ignored", () => {
  const messages = frozen([summary, user, report(190_000), user]);
  const stale = estimateContextTokens(messages);
  assert.equal(stale.usageTokens, 190_000);
  const fresh = estimateContextTokens(messages, { afterIndex: 2 });
  const estimated = messages.reduce((sum, message) => sum + estimateTokens(message), 0);
  assert.deepEqual(fresh, {
    tokens: estimated,
    usageTokens: 0,
    trailingTokens: estimated,
    lastUsageIndex: null,
  });
});

test("a report after the boundary counts", () => {
  const messages = frozen([report(190_000), summary, user, report(21_000), user]);
  const trailingTokens = estimateTokens(user);
  for (const afterIndex of [-1, 0, 1, 2]) {
    assert.deepEqual(estimateContextTokens(messages, { afterIndex }), {
      tokens: 21_000 + trailingTokens,
      usageTokens: 21_000,
      trailingTokens,
      lastUsageIndex: 3,
    });
  }
  assert.equal(estimateContextTokens(messages, { afterIndex: 3 }).lastUsageIndex, null);
});

test("an aborted, failed or empty report is passed over", () => {
  for (const odd of [
    report(50_000, { stopReason: "aborted" }),
    report(50_000, { stopReason: "error" }),
    report(0),
    report(50_000, { usage: null }),
    report(50_000, { usage: undefined }),
    report(-3),
  ]) {
    assert.equal(estimateContextTokens(frozen([report(900), odd])).lastUsageIndex, 0);
  }
});

test("afterIndex: as pi answers when the reports up to it are gone", () => {
  for (let seed = 0; seed < 2_000; seed++) {
    const messages = frozen(wildTranscript(seed, 10));
    const afterIndex = (seed % (messages.length + 2)) - 1;
    const without = messages.map((message, index) => {
      const { usage, ...rest } = message;
      return index <= afterIndex ? rest : message;
    });
    for (const dialect of DIALECTS) {
      const ours = estimateContextTokens(messages, { dialect, afterIndex });
      assert.deepEqual(ours, contextTokens(dialect, without), `wildTranscript(${seed}, 10), ${afterIndex}`);
    }
  }
});
