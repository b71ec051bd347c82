// Many runs on one long-lived signal, some by a client and some without; prints what they left behind.

import { getEventListeners } from "node:events";
import { generateCompaction } from "../../../index.js";
import { client } from "../model.mjs";

const { signal } = new AbortController();
const preparation = { messagesToSummarize: [{ role: "user", content: "text ".repeat(200) }] };
const budget = { hardLimit: 100_000, requestHeadroom: 28_000 };
const by = client(["SUMMARY"]);

/** @param {number} count */
async function runs(count) {
  for (let i = 0; i < count; i++) {
    by.calls.length = 0;
    const summarizer = i % 2 === 0 ? by.summarizer : /** @type {const} */ ({ kind: "extractive" });
    await generateCompaction({ preparation, budget, summarizer, signal });
  }
}

function held() {
  for (let i = 0; i < 5; i++) globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { js: heapUsed + external, rss };
}

await runs(2_000);
const before = held();
await runs(10_000);
const now = held();
const listeners = getEventListeners(signal, "abort").length;
const grown = now.js - before.js;
console.log(JSON.stringify({ listeners, grown, resident: now.rss - before.rss }));
