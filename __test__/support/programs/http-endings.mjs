// Runs that end in each way against the provider in the arguments; the process has to end by itself afterwards, though
// the provider keeps its connections open.

import { prepared, run } from "../model.mjs";
import { KEY } from "../provider.mjs";

const preparation = prepared([{ role: "user", content: "go" }]);
const models = JSON.parse(process.argv[2]);
const ask = (/** @type {any} */ model, more = {}) => {
  const by = /** @type {any} */ ({ summarizer: { kind: "http", model, apiKey: KEY }, calls: [] });
  return run(by, preparation, { retry: { enabled: true, maxRetries: 1, baseDelayMs: 60_000 }, ...more });
};
const aborted = async (/** @type {any} */ model) => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 50);
  await ask(model, { signal: controller.signal });
};

const { result } = await ask(models.answers);
const { error } = await ask(models.refuses);
await aborted(models.silent);
await aborted(models.busy);
console.log(`${result.summary},${error.code},aborted`);
