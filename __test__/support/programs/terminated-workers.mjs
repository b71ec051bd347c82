// Loads the addon in workers only and terminates each of them while its client is being asked.

import { once } from "node:events";
import { Worker } from "node:worker_threads";

const TIMES = 30;
const WORKER = new URL("./asking-worker.mjs", import.meta.url);

for (let i = 0; i < TIMES; i++) {
  const worker = new Worker(WORKER, { workerData: { stage: i % 3 } });
  const [message] = await once(worker, "message");
  if (message !== "under way") throw new Error(`unexpected ${message}`);
  await worker.terminate();
}
console.log(`${TIMES} workers terminated`);
