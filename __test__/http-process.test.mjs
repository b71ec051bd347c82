// What the process notices of requests: its turns go on, it ends by itself, workers may die in the middle.

import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import test from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { generateCompaction, Transcript } from "../index.js";
import { inEachFormat, ofType } from "./support/http.mjs";
import { prepared, run } from "./support/model.mjs";
import { outputOf } from "./support/process.mjs";
import { KEY, serve, soon, until } from "./support/provider.mjs";
import { APIS } from "./support/wire.mjs";

/** A provider outside of this process. @param {any} t @param {string} api @param {number} delayMs before each answer */
async function outside(t, api, delayMs) {
  const program = new URL("./support/programs/provider-process.mjs", import.meta.url);
  const child = fork(program, [api, String(delayMs)]);
  t.after(() => child.kill());
  const [model] = await once(child, "message");
  return model;
}

const MESSAGE_UNITS = 20_000;
const MESSAGES = 525;
const DELAY_MS = 20;

// One after the other: they work more than they wait.
for (const api of APIS)
  test(`turns go on while 10 MB in 12 chunks are summarized: ${api}`, async (t) => {
    const text = "0123456789 text ".repeat(MESSAGE_UNITS / 16);
    const messages = Array.from({ length: MESSAGES }, () => ({ role: "user", content: text }));
    const model = await outside(t, api, DELAY_MS);
    Object.assign(model, { contextWindow: 275_000, maxTokens: 8_192 });
    for (const source of [messages, new Transcript(messages)]) {
      let turns = 0;
      let running = true;
      const count = () => {
        turns++;
        if (running) setImmediate(count);
      };
      /** @type {any[]} */
      const events = [];
      const onEvent = (/** @type {any} */ event) => events.push({ ...event, turns });
      const request = {
        preparation: prepared(/** @type {any} */ (source)),
        budget: { hardLimit: 200_000, requestHeadroom: 75_000 },
        summarizer: { kind: "http", model, apiKey: KEY },
        onEvent,
      };
      count();
      await soon(generateCompaction(/** @type {any} */ (request)), "the checkpoint");
      running = false;
      const chunks = ofType(events, "chunk");
      assert.equal(chunks.length, 12);
      const requests = ofType(events, "request");
      const turnsOf = chunks.map((chunk, index) => chunk.turns - requests[index].turns);
      // A main thread that waits for an answer turns once at most; a busy machine may give it none now and then.
      const going = turnsOf.filter((count) => count >= 5).length;
      assert.ok(going >= chunks.length / 2, `turns while each chunk was under way: ${turnsOf}`);
    }
  });

inEachFormat("the process ends by itself, however its runs ended", async (t, api) => {
  const [answers, refuses, silent, busy] = await Promise.all([
    serve(t, { api }),
    serve(t, { api, steps: [{ status: 401, body: "" }] }),
    serve(t, { api, steps: [{ end: "never" }] }),
    serve(t, { api, steps: [{ status: 503, body: "" }] }),
  ]);
  const models = { answers: answers.model, refuses: refuses.model, silent: silent.model, busy: busy.model };
  const { code, stdout, stderr } = await outputOf("http-endings.mjs", [], { args: [JSON.stringify(models)] });
  assert.equal(code, 0, stderr);
  assert.equal(stdout.trim(), "SUMMARY,summary_provider,aborted");
  await until(() => answers.sockets.size === 0, "the end of the connections");
});

test("a request keeps its process alive until it is answered", async (t) => {
  const slow = await serve(t, { api: "openai-completions", steps: [{ beforeMs: 400, text: "SLOW" }] });
  const { code, stdout, stderr } = await outputOf("asks-by-http.mjs", [], {
    args: [JSON.stringify(slow.model)],
  });
  assert.equal(code, 0, stderr);
  assert.deepEqual(JSON.parse(stdout), [{ summary: "SLOW" }]);
});

test("workers may be terminated in the middle of requests: no crash, all sockets close", async (t) => {
  const api = /** @type {const} */ ("anthropic-messages");
  const [silent, dripping, busy] = await Promise.all([
    serve(t, { api, steps: [{ end: "never" }] }),
    serve(t, { api, steps: [{ pieces: Array(5_000).fill("x "), split: 60, pauseMs: 1 }] }),
    serve(t, { api, steps: [{ status: 503, body: "" }] }),
  ]);
  const models = [silent.model, dripping.model, busy.model];
  const { code, stdout, stderr } = await outputOf("http-workers.mjs", [], { args: [JSON.stringify(models)] });
  assert.equal(code, 0, stderr);
  assert.equal(stdout.trim(), "12 workers terminated");
  await until(() => silent.sockets.size + dripping.sockets.size === 0, "the end of the connections");
});

test("a worker that ends closes its connections while its process lives on", async (t) => {
  const { Worker } = await import("node:worker_threads");
  const silent = await serve(t, { api: "openai-responses", steps: [{ end: "never" }] });
  const program = new URL("./support/programs/http-worker.mjs", import.meta.url);
  const worker = new Worker(program, { workerData: { models: [silent.model] } });
  await until(() => silent.requests.length === 1, "the request");
  await worker.terminate();
  await soon(silent.requests[0].closed, "the socket's end");
  await wait(50);
  assert.equal(silent.requests.length, 1);
});

inEachFormat("forty runs at once do not mix their answers", async (t, api) => {
  const echo = (/** @type {any} */ { prompt }) => /number-\d+-/.exec(prompt)?.[0] ?? "none";
  const provider = await serve(t, { api, steps: [echo] });
  const runs = Array.from({ length: 40 }, (_, index) =>
    run(/** @type {any} */ (provider), prepared([{ role: "user", content: `number-${index}-` }])),
  );
  for (const [index, { result }] of (await soon(Promise.all(runs))).entries()) {
    assert.equal(result?.summary, `number-${index}-`);
  }
});
