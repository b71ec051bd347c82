// Begins requests that do not end, in a worker that will be terminated.

import { parentPort, workerData } from "node:worker_threads";
import { prepared, run } from "../model.mjs";
import { KEY } from "../provider.mjs";

const messages = [{ role: "user", content: "text ".repeat(100_000) }];
for (const model of workerData.models) {
  const by = /** @type {any} */ ({ summarizer: { kind: "http", model, apiKey: KEY }, calls: [] });
  const onEvent = (/** @type {any} */ { type }) => type === "request" && parentPort?.postMessage("under way");
  run(by, prepared(messages), { onEvent, retry: { enabled: true, maxRetries: 3, baseDelayMs: 60_000 } });
}
