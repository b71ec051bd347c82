// Loads the addon in workers only and terminates each while requests are under way; the arguments say to whom.

import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "node:worker_threads";

const TIMES = 12;
const WORKER = new URL("./http-worker.mjs", import.meta.url);
const models = JSON.parse(process.argv[2]);

for (let i = 0; i < TIMES; i++) {
  const worker = new Worker(WORKER, { workerData: { models } });
  await once(worker, "message");
  await wait(i * 3);
  await worker.terminate();
}
console.log(`${TIMES} workers terminated`);
