// Begins compactions that do not end: one waits for its client, one for a delay, one is being planned.

import { parentPort, workerData } from "node:worker_threads";
import { client, failed, hangs, prepared, run } from "../model.mjs";

const text = "text ".repeat(200);
const messages = Array.from({ length: 2_000 }, () => ({ role: "user", content: text }));
const tell = () => parentPort?.postMessage("under way");

const asked = client([
  (/** @type {any} */ call) => {
    if (workerData.stage === 0) tell();
    return hangs(call);
  },
]);
run(asked, prepared(messages.slice(0, 2)));
run(client([failed("503")]), prepared(messages.slice(0, 2)), {
  retry: { enabled: true, maxRetries: 3, baseDelayMs: 60_000 },
  onEvent: (/** @type {any} */ event) => event.type === "retry" && workerData.stage === 1 && tell(),
});
run(client([hangs], { contextWindow: 64_000, maxTokens: 4_096 }), prepared(messages));
if (workerData.stage === 2) tell();
