// Leaves while one client is being asked, one delay is slept and one large plan is made; a worker is there too.

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { client, failed, hangs, prepared, run } from "../model.mjs";

const messages = Array.from({ length: 5_000 }, () => ({ role: "user", content: "text ".repeat(200) }));
const worker = new Worker(new URL("./asking-worker.mjs", import.meta.url), { workerData: { stage: 0 } });
await once(worker, "message");
run(client([failed("503")]), prepared(messages.slice(0, 2)), {
  retry: { enabled: true, maxRetries: 3, baseDelayMs: 60_000 },
});
const leave = () => {
  run(client([hangs], { contextWindow: 128_000, maxTokens: 8_192 }), prepared(messages));
  console.log("leaving");
  process.exit(0);
};
await run(client([leave]), prepared(messages.slice(0, 2)));
