// An abort at each moment of a request: the reason comes back, the socket is closed, nothing is sent after it.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import test from "node:test";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import { asked, FORMS, inEachForm, inEachFormat, LONG, ofType, SHORT, SMALL } from "./support/http.mjs";
import { prepared, RETRY, run } from "./support/model.mjs";
import { bare, KEY, modelOf, serve, soon, until } from "./support/provider.mjs";
import { sse } from "./support/wire.mjs";
import { eventsOf } from "./support/wire-answers.mjs";

/** Long enough for a request that should not leave to have left. */
const QUIET_MS = 60;

/** A run that goes on, with what stops it. @param {any} provider @param {any} preparation @param {object} more */
function started(provider, preparation = SHORT, more = {}) {
  const controller = new AbortController();
  const outcome = run(provider, preparation, { signal: controller.signal, ...more });
  return { controller, outcome, provider };
}

/** The reason itself comes back, all sockets close that carried a request, nothing is sent after it. */
async function assertAborted(
  /** @type {any} */ { controller, outcome, provider },
  /** @type {string} */ title,
) {
  const sent = provider.requests.length;
  const reason = { title };
  controller.abort(reason);
  const { error, result } = await soon(outcome, `${title}: the rejection`);
  assert.equal(result, undefined, title);
  assert.equal(error, reason, title);
  const last = provider.requests.at(-1);
  if (last) await soon(last.closed, `${title}: the socket's end`);
  await wait(QUIET_MS);
  assert.equal(provider.requests.length, sent, `${title}: nothing is sent afterwards`);
  assert.equal(getEventListeners(controller.signal, "abort").length, 0, title);
}

/** @param {any} form */
const slowly = (form) => {
  const pieces = Array.from({ length: 500 }, (_, index) => `${index} `);
  return form.stream ? { pieces, split: 200, pauseMs: 5 } : { pieces, split: 20, pauseMs: 5 };
};

/** Moments after a request has arrived. @type {[string, (form: any) => any][]} */
const MOMENTS = [
  ["before headers", () => ({ end: "never" })],
  ["before the first byte", () => ({ body: "", at: 0, end: "silent" })],
  ["between two pieces", slowly],
  ["in silence", () => ({ at: 120, end: "silent" })],
  ["in an error's body", () => ({ status: 503, body: '{"error":', at: 5, end: "silent" })],
];

for (const [title, stepOf] of MOMENTS) {
  inEachForm(`abort ${title}`, async (t, form) => {
    const provider = await serve(t, {
      api: form.api,
      steps: [stepOf(form)],
      summarizer: { stream: form.stream },
    });
    const going = started(provider);
    await until(() => provider.requests.length === 1, "the request");
    await wait(25);
    await assertAborted(going, title);
  });
}

inEachForm(
  "A30 A31 openclaw PR#110114 abort in a backoff sleep does not wait for the timer",
  async (t, form) => {
    for (const headers of /** @type {Record<string, string>[]} */ ([{}, { "retry-after": "50" }])) {
      const steps = [{ status: 503, body: "", headers }];
      const provider = await serve(t, { api: form.api, steps, summarizer: { stream: form.stream } });
      /** @type {any[]} */
      const events = [];
      const onEvent = (/** @type {any} */ event) => events.push(event);
      const going = started(provider, SHORT, { retry: { ...RETRY, baseDelayMs: 50_000 }, onEvent });
      await until(() => ofType(events, "retry").length === 1, "the retry");
      going.controller.abort("stop");
      assert.equal((await soon(going.outcome)).error, "stop");
      await wait(QUIET_MS);
      assert.equal(provider.requests.length, 1);
    }
  },
);

/** A provider at a bare server. @param {any} api @param {string} origin */
const at = (api, origin) => ({
  requests: /** @type {any[]} */ ([]),
  calls: [],
  summarizer: { kind: "http", model: modelOf(api, origin), apiKey: KEY },
});

inEachFormat("abort while connecting: in a handshake that does not end", async (t, api) => {
  const { sockets, port } = await bare(t, (socket) => socket.resume());
  const going = started(at(api, `https://127.0.0.1:${port}`));
  await until(() => sockets.length === 1, "the connection");
  await wait(10);
  await assertAborted(going, "connecting");
  await until(() => sockets.every((socket) => socket.closed || socket.readableEnded), "the socket's end");
  assert.equal(sockets.length, 1);
});

inEachFormat("abort while the request is sent to one who does not read", async (t, api) => {
  const { sockets, port } = await bare(t, (socket) => socket.pause());
  const provider = /** @type {any} */ (at(api, `http://127.0.0.1:${port}`));
  Object.assign(provider.summarizer.model, { contextWindow: 20_000_000, maxTokens: 1_000 });
  const big = prepared([{ role: "user", content: "x ".repeat(8_000_000) }]);
  const going = started(provider, big);
  await until(() => sockets.length === 1, "the connection");
  await wait(50);
  going.controller.abort("stop");
  assert.equal((await soon(going.outcome)).error, "stop");
  sockets[0].resume();
  await until(
    () => sockets[0].closed || sockets[0].readableEnded || sockets[0].destroyed,
    "the socket's end",
  );
});

inEachFormat("abort right after the call and at turns after it: nothing is left behind", async (t, api) => {
  for (const turns of [0, 1, 2, 5]) {
    const provider = await serve(t, { api, steps: [{ end: "never" }] });
    const going = started(provider, LONG);
    for (let i = 0; i < turns; i++) await turn();
    going.controller.abort("early");
    assert.equal((await soon(going.outcome)).error, "early");
    await wait(QUIET_MS);
    await until(() => provider.requests.every(({ isClosed }) => isClosed), "the sockets' end");
    assert.ok(provider.requests.length <= 1);
  }
});

inEachForm("an abort in a listener stops at that event", async (t, form) => {
  for (const type of ["plan", "request", "retry", "first_token", "chunk"]) {
    const controller = new AbortController();
    let answered = 0;
    let before = 0;
    const step = (/** @type {any} */ { index }) => {
      answered++;
      return index === 0 ? { status: 503, body: "" } : "S";
    };
    const onEvent = (/** @type {any} */ event) => {
      if (event.type !== type || controller.signal.aborted) return;
      before = answered;
      controller.abort(type);
    };
    const more = { signal: controller.signal, onEvent, preparation: LONG, model: SMALL };
    const { error, requests } = await asked(t, form, [step], more);
    assert.equal(error, type);
    await wait(QUIET_MS);
    // An event is heard a moment after it happened: one request may have been on its way.
    assert.ok(requests.length <= before + 1, `${type}: ${requests.length} after ${before}`);
  }
});

inEachFormat("prime-agent PR#2045 an abort after a failure is the abort's own reason", async (t, api) => {
  const steps = [{ status: 503, body: "" }, { end: /** @type {const} */ ("never") }];
  const provider = await serve(t, { api, steps });
  const going = started(provider);
  await until(() => provider.requests.length === 2, "the second request");
  await assertAborted(going, "after a failure");
});

inEachFormat("an abort when all is done is nothing, and leaves the connection usable", async (t, api) => {
  const provider = await serve(t, { api });
  const done = started(provider);
  assert.equal((await soon(done.outcome)).result?.summary, "SUMMARY");
  done.controller.abort();
  const again = started(provider);
  assert.equal((await soon(again.outcome)).result?.summary, "SUMMARY");
});

inEachFormat("an abort of one run leaves the others alone", async (t, api) => {
  const held = /** @type {(() => void)[]} */ ([]);
  const step = () => new Promise((resolve) => held.push(() => resolve("KEPT")));
  const provider = await serve(t, { api, steps: [/** @type {any} */ (step)] });
  const runs = Array.from({ length: 8 }, () => started(provider));
  await until(() => held.length === 8, "the requests");
  runs[3].controller.abort("only me");
  assert.equal((await soon(runs[3].outcome)).error, "only me");
  for (const release of held) release();
  for (const [index, { outcome }] of runs.entries()) {
    if (index !== 3) assert.equal((await soon(outcome)).result?.summary, "KEPT");
  }
});

test("one signal for forty runs: all reject with the reason, all sockets close", async (t) => {
  const provider = await serve(t, { api: FORMS[0].api, steps: [{ end: "never" }] });
  const controller = new AbortController();
  const runs = Array.from({ length: 40 }, () =>
    run(/** @type {any} */ (provider), SHORT, { signal: controller.signal }),
  );
  await until(() => provider.requests.length === 40, "the requests");
  controller.abort("all of you");
  for (const { error } of await soon(Promise.all(runs))) assert.equal(error, "all of you");
  await soon(Promise.all(provider.requests.map(({ closed }) => closed)));
  assert.equal(getEventListeners(controller.signal, "abort").length, 0);
});

inEachForm("idleTimeoutMs: silence is a failure that passes, its socket is closed", async (t, form) => {
  for (const step of [
    { end: /** @type {const} */ ("never") },
    { body: "", at: 0, end: /** @type {const} */ ("silent") },
    { at: 120, end: /** @type {const} */ ("silent") },
  ]) {
    const retry = { ...RETRY, maxRetries: 1 };
    const outcome = await asked(t, form, [step], { summarizer: { idleTimeoutMs: 80 }, retry });
    const { error, requests } = outcome;
    assert.equal(error?.code, "summary_provider");
    assert.equal(error.retryable, true);
    assert.match(error.message, /idleTimeoutMs/);
    assert.equal(requests.length, 2);
    await soon(Promise.all(requests.map(({ closed }) => closed)), "the sockets' end");
    const recovered = await asked(t, form, [step, "LATER"], { summarizer: { idleTimeoutMs: 80 } });
    assert.equal(recovered.result?.summary, "LATER");
  }
});

inEachFormat("idleTimeoutMs: a handshake that does not end is silence too", async (t, api) => {
  const { port, sockets } = await bare(t, (socket) => socket.resume());
  const provider = /** @type {any} */ (at(api, `https://127.0.0.1:${port}`));
  provider.summarizer.idleTimeoutMs = 80;
  const { error } = await soon(run(provider, SHORT, { retry: { ...RETRY, maxRetries: 1 } }));
  assert.equal(error?.code, "summary_provider", error?.message);
  assert.equal(error.retryable, true);
  assert.match(error.message, /idleTimeoutMs/);
  assert.equal(sockets.length, 2);
});

inEachFormat(
  "openclaw#92043 idleTimeoutMs: bytes of any kind are no silence, and there is no limit in all",
  async (t, api) => {
    const events = eventsOf(api).map((event) => sse([event]));
    const body = [events[0], ": keep-alive\n\n".repeat(20), ...events.slice(1)].join("");
    const step = {
      body,
      as: /** @type {const} */ ("stream"),
      split: Math.ceil(body.length / 30),
      pauseMs: 50,
    };
    const { result, requests, error } = await asked(t, { api }, [step], {
      summarizer: { idleTimeoutMs: 1_000 },
    });
    assert.equal(error, undefined, error?.message);
    assert.equal(result.summary, "SUMMARY");
    assert.equal(requests.length, 1);
  },
);
