// How long Node's main thread is held while a model compacts 10 MB in 12 chunks: for reading the messages, and at most
// in one go afterwards. Prints JSON. The model's server runs on a thread of its own.

import { once } from "node:events";
import { createServer } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

import { loadOurs } from "./sides.mjs";
import { median } from "./timing.mjs";

const RUNS = 5;
const SETTLED = 200;
const MESSAGES = 2_500;
/** Units a message: 10 MB in all. */
const UNITS = 4_000;
const ANSWER = [
  { choices: [{ delta: { content: "a summary" }, finish_reason: "stop" }] },
  { choices: [], usage: { prompt_tokens: 200_000, completion_tokens: 3 } },
];

if (isMainThread) console.log(JSON.stringify(await measured()));
else await answerAll();

/** The server's side. */
async function answerAll() {
  const stream = ANSWER.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(`${stream}data: [DONE]\n\n`);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  parentPort?.postMessage(port);
}

async function measured() {
  const server = new Worker(new URL(import.meta.url));
  const [port] = await once(server, "message");
  const ours = loadOurs();
  const samples = [];
  const messages = transcript();
  for (let i = 0; i < RUNS; i++) samples.push(await sample(ours, port, messages));
  await server.terminate();
  const of = (/** @type {"chunks" | "read" | "held" | "wall"} */ what) =>
    median(samples.map((each) => each[what]));
  return { chunks: of("chunks"), read: of("read"), held: of("held"), wall: of("wall") };
}

/** A transcript as a session file gives it. */
function transcript() {
  const content = "lorem ipsum ".repeat(UNITS).slice(0, UNITS);
  const messages = Array.from({ length: MESSAGES }, (_, i) => ({ role: "user", content: `${i} ${content}` }));
  return JSON.parse(JSON.stringify(messages));
}

/** @param {ReturnType<typeof loadOurs>} ours @param {number} port @param {any[]} messagesToSummarize */
async function sample(ours, port, messagesToSummarize) {
  const contextWindow = 262_000;
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const limits = { contextWindow, maxTokens: 8_192 };
  const model = { api: "openai-completions", provider: "none", id: "none", baseUrl, ...limits };
  // The collector is to be done with what came before.
  await setTimeout(SETTLED);
  const start = performance.now();
  const run = ours.generateCompaction({
    preparation: { messagesToSummarize },
    budget: ours.contextBudget(model),
    summarizer: { kind: "http", model },
  });
  const read = performance.now() - start;
  const late = monitorEventLoopDelay({ resolution: 1 });
  late.enable();
  const { details } = await run;
  late.disable();
  return { chunks: details.chunks ?? 0, read, held: late.max / 1e6, wall: performance.now() - start };
}
