// Asks each provider whose model stands in the arguments once, and prints what became of it; nothing ends the process.

import { prepared, run } from "../model.mjs";
import { KEY } from "../provider.mjs";

const preparation = prepared([{ role: "user", content: "go" }]);
const outcomes = [];
for (const model of process.argv.slice(2).map((text) => JSON.parse(text))) {
  const summarizer = { kind: "http", model, apiKey: KEY, idleTimeoutMs: 5_000 };
  const by = /** @type {any} */ ({ summarizer, calls: [] });
  const { result, error } = await run(by, preparation, { retry: { enabled: false } });
  const { code, status, message, retryable } = error ?? {};
  outcomes.push(result ? { summary: result.summary } : { code, status, message, retryable });
}
console.log(JSON.stringify(outcomes));
