"use strict";

// Loads the package in workers only, and terminates each in the middle of a compaction.

const { once } = require("node:events");
const { Worker, isMainThread, parentPort } = require("node:worker_threads");

const TIMES = 30;

async function main() {
  for (let i = 0; i < TIMES; i++) {
    const worker = new Worker(__filename);
    await once(worker, "message");
    await worker.terminate();
  }
  console.log(`${TIMES} workers terminated`);
}

function compact() {
  const { contextBudget, generateCompaction } = require("pi-compaction-native");
  const model = { provider: "a", id: "b", contextWindow: 64_000, maxTokens: 8_000 };
  const messages = [{ role: "user", content: "Port it.", timestamp: 0 }];
  const complete = () => {
    parentPort.postMessage("asked");
    return new Promise(() => setInterval(() => {}, 1000));
  };
  generateCompaction({
    preparation: { messagesToSummarize: messages },
    budget: contextBudget(model),
    summarizer: { kind: "callback", model, complete },
  });
}

if (isMainThread) main();
else compact();
