// Runs that end in each way; the process has to end by itself afterwards.

import { generateCompaction } from "../../../index.js";
import { client, failed, hangs, prepared, run } from "../model.mjs";

const preparation = prepared([{ role: "user", content: "go" }]);
const endings = [];

await run(client(["S"]), preparation);
endings.push("done");

const controller = new AbortController();
const aborted = run(client([hangs]), preparation, { signal: controller.signal });
setTimeout(() => controller.abort(), 20);
await aborted;
const sleeping = new AbortController();
const asleep = run(client([failed("503")]), preparation, {
  signal: sleeping.signal,
  retry: { enabled: true, maxRetries: 3, baseDelayMs: 60_000 },
});
setTimeout(() => sleeping.abort(), 20);
await asleep;
endings.push("aborted");

await run(client([failed("401")]), preparation);
endings.push("failed");

const budget = { hardLimit: 100_000, requestHeadroom: 28_000 };
await generateCompaction({ preparation, budget, summarizer: { kind: "extractive" } });
endings.push("extractive");

console.log(endings.join(","));
