// How long an abort takes until the promise rejects, by what the run was doing. Prints JSON.

import { loadOurs } from "./sides.mjs";
import { median } from "./timing.mjs";

const RUNS = 30;
const budget = { hardLimit: 12_000, requestHeadroom: 4_000 };
const model = { provider: "none", id: "none", contextWindow: 16_000, maxTokens: 4_000 };
/** Some chunks' worth. */
const messagesToSummarize = Array.from({ length: 60 }, () => ({
  role: "user",
  content: "word ".repeat(400),
}));
const answer = { content: [{ type: "text", text: "a summary" }], stopReason: "stop" };
const never = () => new Promise(() => {});
const soon = () => new Promise((resolve) => setTimeout(resolve, 2, answer));

/** What the client does, and how many milliseconds after its first call the abort falls. */
const STAGES = {
  "during a request": { complete: never, after: 5 },
  "in a backoff": { complete: () => Promise.reject(new Error("fetch failed")), after: 20 },
  "between two chunks": { complete: soon, after: 3 },
};

/** @param {ReturnType<typeof loadOurs>} ours @param {{ complete: () => Promise<unknown>, after: number }} stage */
async function latency(ours, { complete, after }) {
  const controller = new AbortController();
  let aborted = 0;
  let begun = false;
  const abort = () => {
    aborted = performance.now();
    controller.abort();
  };
  const called = () => {
    if (!begun) setTimeout(abort, after);
    begun = true;
    return complete();
  };
  const run = ours.generateCompaction({
    preparation: { messagesToSummarize },
    budget,
    summarizer: { kind: "callback", model, complete: called },
    signal: controller.signal,
    retry: { maxRetries: 3, baseDelayMs: 60_000 },
  });
  const outcome = await run.then(
    () => "done",
    () => "rejected",
  );
  // A run that was done before the abort fell says nothing about it.
  return outcome === "rejected" ? performance.now() - aborted : undefined;
}

const ours = loadOurs();
const figures = [];
for (const [stage, how] of Object.entries(STAGES)) {
  const samples = [];
  for (let i = 0; i < RUNS; i++) samples.push(await latency(ours, how));
  const known = samples.filter((ms) => ms !== undefined);
  figures.push({ stage, runs: known.length, median: median(known), most: Math.max(...known) });
}
console.log(JSON.stringify(figures));
