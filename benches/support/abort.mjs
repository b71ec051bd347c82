// How long an abort takes until the promise rejects, and until a model's server sees its socket closed, by what the run
// was doing. Prints JSON.

import { once } from "node:events";
import { createServer } from "node:net";

import { loadOurs } from "./sides.mjs";
import { median } from "./timing.mjs";

const RUNS = 30;
const budget = { hardLimit: 12_000, requestHeadroom: 4_000 };
const limits = { contextWindow: 16_000, maxTokens: 4_000 };
/** Some chunks' worth. */
const messagesToSummarize = Array.from({ length: 60 }, () => ({
  role: "user",
  content: "word ".repeat(400),
}));
const answer = { content: [{ type: "text", text: "a summary" }], stopReason: "stop" };
const never = () => new Promise(() => {});
const soon = () => new Promise((resolve) => setTimeout(resolve, 2, answer));

const HEADERS = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
const EVENT = 'data: {"choices":[{"delta":{"content":"a word "}}]}\n\n';

/** @typedef {import("node:net").Socket} Socket */

/** What a host's client does, and how many milliseconds after its first call the abort falls. */
const BY_CALLBACK = {
  "during a request": { complete: never, after: 5 },
  "in a backoff": { complete: () => Promise.reject(new Error("fetch failed")), after: 20 },
  "between two chunks": { complete: soon, after: 3 },
};

/** What a model's server does when the first bytes are there. @type {Record<string, { scheme: string, serve: (socket: Socket) => void }>} */
const BY_HTTP = {
  "while connecting": { scheme: "https", serve: () => {} },
  "before headers": { scheme: "http", serve: () => {} },
  "between two events": {
    scheme: "http",
    serve: (socket) => {
      socket.write(HEADERS);
      const timer = setInterval(() => socket.write(EVENT), 1);
      socket.once("close", () => clearInterval(timer));
    },
  },
  "in a stream's silence": { scheme: "http", serve: (socket) => socket.write(HEADERS + EVENT) },
};
/** Milliseconds after the connection. */
const AFTER = 20;

/** @param {ReturnType<typeof loadOurs>} ours @param {any} summarizer @param {AbortSignal} signal */
function compact(ours, summarizer, signal) {
  const retry = { maxRetries: 3, baseDelayMs: 60_000 };
  const run = ours.generateCompaction({
    preparation: { messagesToSummarize },
    budget,
    summarizer,
    signal,
    retry,
  });
  return run.then(
    () => "done",
    () => "rejected",
  );
}

/** An abort that notes when it fell. */
function aborter() {
  const controller = new AbortController();
  const aborter = {
    signal: controller.signal,
    at: 0,
    abort: () => {
      aborter.at = performance.now();
      controller.abort();
    },
  };
  return aborter;
}

/** @param {ReturnType<typeof loadOurs>} ours @param {{ complete: () => Promise<unknown>, after: number }} stage */
async function callbackLatency(ours, { complete, after }) {
  const aborted = aborter();
  let begun = false;
  const called = () => {
    if (!begun) setTimeout(aborted.abort, after);
    begun = true;
    return complete();
  };
  const model = { provider: "none", id: "none", ...limits };
  const outcome = await compact(ours, { kind: "callback", model, complete: called }, aborted.signal);
  // A run that was done before the abort fell says nothing about it.
  return { rejected: outcome === "rejected" ? performance.now() - aborted.at : undefined };
}

/** @param {ReturnType<typeof loadOurs>} ours @param {(typeof BY_HTTP)[string]} stage */
async function httpLatency(ours, { scheme, serve }) {
  const aborted = aborter();
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const closed = once(server, "connection").then(([socket]) => {
    socket.on("error", () => {}).once("data", () => serve(socket));
    setTimeout(aborted.abort, AFTER);
    return new Promise((resolve) => socket.once("close", () => resolve(performance.now() - aborted.at)));
  });
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const baseUrl = `${scheme}://127.0.0.1:${port}/v1`;
  const model = { api: "openai-completions", provider: "none", id: "none", baseUrl, ...limits };
  await compact(ours, { kind: "http", model }, aborted.signal);
  const rejected = performance.now() - aborted.at;
  const latency = { rejected, closed: await closed };
  server.close();
  return latency;
}

/** @param {string} stage @param {() => Promise<{ rejected?: number, closed?: number }>} sample */
async function figuresOf(stage, sample) {
  const samples = [];
  for (let i = 0; i < RUNS; i++) samples.push(await sample());
  const of = (/** @type {"rejected" | "closed"} */ what) => {
    const known = samples.map((each) => each[what]).filter((ms) => ms !== undefined);
    return known.length === 0 ? undefined : { median: median(known), most: Math.max(...known) };
  };
  return { stage, runs: samples.length, rejected: of("rejected"), closed: of("closed") };
}

const ours = loadOurs();
const figures = [];
for (const [stage, how] of Object.entries(BY_CALLBACK)) {
  figures.push(await figuresOf(stage, () => callbackLatency(ours, how)));
}
for (const [stage, how] of Object.entries(BY_HTTP)) {
  figures.push(await figuresOf(stage, () => httpLatency(ours, how)));
}
console.log(JSON.stringify(figures));
