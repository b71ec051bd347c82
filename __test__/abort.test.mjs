import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import test from "node:test";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import { generateCompaction } from "../index.js";
import {
  after,
  client,
  failed,
  hangs,
  holds,
  prepared,
  RETRY,
  run,
  says,
  windowed,
} from "./support/model.mjs";
import { outputOf } from "./support/process.mjs";
import { frozen } from "./support/random.mjs";
import { userOfTokens } from "./support/sound.mjs";

const SHORT = frozen(prepared([userOfTokens(20)]));
const LONG = frozen(prepared(Array.from({ length: 60 }, () => userOfTokens(1_000))));
const SPLIT = frozen(
  prepared([userOfTokens(20)], { isSplitTurn: true, turnPrefixMessages: [userOfTokens(9)] }),
);
/** Long enough for a request that should not leave to have left. */
const QUIET = 100;

const small = (script = /** @type {any[]} */ (["SUMMARY"])) => windowed(32_768, 8_192, script);

/** What reasons may be; each must come back as it is. @type {[string, unknown][]} */
const REASONS = [
  ["an Error", new Error("stopped")],
  ["a DOMException", new DOMException("stop", "AbortError")],
  ["a string", "stop"],
  ["an empty string", ""],
  ["an object", { odd: true }],
  ["null", null],
  ["zero", 0],
  ["false", false],
  ["a symbol", Symbol("stop")],
  ["undefined, for which the signal has its own", undefined],
];

/** A run with a controller, its client and a promise of its outcome. */
function started(/** @type {any} */ by, /** @type {any} */ preparation, /** @type {object} */ more = {}) {
  const controller = new AbortController();
  const outcome = run(by, preparation, { signal: controller.signal, ...more });
  return { controller, outcome, calls: by.calls };
}

/** Turns until something holds; fails after a generous limit. @param {() => boolean} holdsNow */
async function until(holdsNow) {
  for (let turns = 0; turns < 5_000; turns++) {
    if (holdsNow()) return;
    await (turns < 100 ? turn() : wait(1));
  }
  assert.fail("never came");
}

/** The rejection is the reason itself, and nothing leaves afterwards. */
async function assertAborted(/** @type {any} */ { outcome, controller, calls }, /** @type {number} */ sent) {
  const { error, result } = await outcome;
  assert.equal(result, undefined);
  assert.equal(error, controller.signal.reason);
  assert.equal(calls.length, sent);
  await wait(QUIET);
  assert.equal(calls.length, sent, "nothing is sent afterwards");
  assert.equal(getEventListeners(controller.signal, "abort").length, 0);
}

test("already aborted: nothing is sent, and the reason comes back as it is", async () => {
  for (const [title, reason] of REASONS) {
    for (const preparation of [SHORT, LONG, prepared([])]) {
      const signal = AbortSignal.abort(reason);
      const { error, calls, events } = await run(small(), preparation, { signal });
      assert.equal(error, signal.reason, title);
      assert.equal(calls.length + events.length, 0);
    }
  }
});

for (const [title, reason] of REASONS) {
  test(`abort during the callback, the reason ${title}`, async () => {
    for (const step of [holds, hangs, after(30, "LATE")]) {
      const going = started(small([step]), SHORT);
      await until(() => going.calls.length === 1);
      going.controller.abort(reason);
      await assertAborted(going, 1);
    }
  });
}

test("the callback's own signal fires with the reason, and it is not the user's", async () => {
  const going = started(small([holds]), SHORT);
  await until(() => going.calls.length === 1);
  const { signal } = going.calls[0].options;
  assert.ok(!signal.aborted);
  const reason = { mine: true };
  going.controller.abort(reason);
  assert.ok(signal.aborted, "at once");
  assert.equal(signal.reason, reason);
  await assertAborted(going, 1);
});

test("abort between chunks: the chunk that was asked is the last", async () => {
  for (const at of [1, 2, 4]) {
    const controller = new AbortController();
    const abortsAt = (/** @type {any} */ { index }) => {
      if (index === at - 1) controller.abort();
      return says("S");
    };
    const by = small([abortsAt]);
    const { error, calls } = await run(by, LONG, { signal: controller.signal });
    assert.equal(error, controller.signal.reason);
    await wait(QUIET);
    assert.equal(calls.length, at);
  }
});

test("abort in a listener: nothing is sent after it", async () => {
  for (const type of ["plan", "request", "chunk", "retry"]) {
    const controller = new AbortController();
    const onEvent = (/** @type {any} */ event) => event.type === type && controller.abort(type);
    const by = small([failed("503"), "S1", "S2"]);
    const { error, calls } = await run(by, SPLIT, { signal: controller.signal, onEvent });
    assert.equal(error, type);
    const sent = calls.length;
    await wait(QUIET);
    assert.equal(calls.length, sent);
    assert.ok(sent <= (type === "chunk" ? 2 : 1), `${type}: ${sent}`);
  }
});

test("abort by isRetryable: no retry", async () => {
  const controller = new AbortController();
  const isRetryable = () => {
    controller.abort("enough");
    return true;
  };
  const { error, calls } = await run(small([failed("503")]), SHORT, {
    signal: controller.signal,
    isRetryable,
  });
  assert.equal(error, "enough");
  await wait(QUIET);
  assert.equal(calls.length, 1);
});

test("A30 A31 openclaw PR#110114 abort in a backoff sleep rejects at once, without waiting for the timer", async () => {
  for (const preparation of [SHORT, LONG, SPLIT]) {
    const retry = { ...RETRY, baseDelayMs: 50_000 };
    const going = started(small([failed("503")]), preparation, { retry });
    await until(() => going.calls.length === 1);
    await wait(20);
    going.controller.abort(new Error("stop"));
    await assertAborted(going, 1);
  }
});

test("prime-agent PR#2045 an abort after a provider's error is the abort's own reason", async () => {
  const reason = new Error("mine");
  for (const step of [
    failed("401"),
    new Error("401"),
    new DOMException("theirs", "AbortError"),
    says("  "),
  ]) {
    const controller = new AbortController();
    const both = () => {
      controller.abort(reason);
      if (step instanceof Error) throw step;
      return step;
    };
    const { error } = await run(small([both]), SHORT, { signal: controller.signal });
    assert.equal(error, reason);
  }
});

test("abort while the messages are read still aborts", async () => {
  const controller = new AbortController();
  const message = {
    role: "user",
    get content() {
      controller.abort("while reading");
      return "text";
    },
  };
  const { error, calls } = await run(small(), prepared([message]), { signal: controller.signal });
  assert.equal(error, "while reading");
  assert.equal(calls.length, 0);
});

test("abort right after the call, before anything was sent", async () => {
  for (const turns of [0, 1, 2, 5]) {
    const going = started(small([holds]), LONG);
    for (let i = 0; i < turns; i++) await turn();
    going.controller.abort("early");
    const { error } = await going.outcome;
    assert.equal(error, "early");
    const sent = going.calls.length;
    await wait(QUIET / 4);
    assert.equal(going.calls.length, sent);
  }
});

test("abort twice and abort after the end are nothing", async () => {
  const going = started(small([holds]), SHORT);
  await until(() => going.calls.length === 1);
  going.controller.abort("first");
  going.controller.abort("second");
  assert.equal((await going.outcome).error, "first");
  const done = started(small(), SHORT);
  const { result } = await done.outcome;
  done.controller.abort("late");
  assert.equal(result.summary, "SUMMARY");
  assert.ok(!done.calls[0].options.signal.aborted, "a request that is answered is not aborted afterwards");
});

test("settles exactly once, whatever comes late", async () => {
  /** @type {any} */
  let answerLate;
  const late = () => new Promise((resolve) => (answerLate = resolve));
  const by = small([late]);
  const controller = new AbortController();
  let settled = 0;
  const request = {
    preparation: SHORT,
    budget: { hardLimit: 20_000, requestHeadroom: 12_768 },
    summarizer: by.summarizer,
  };
  const count = () => settled++;
  const promise = generateCompaction(/** @type {any} */ ({ ...request, signal: controller.signal })).then(
    count,
    count,
  );
  await until(() => by.calls.length === 1);
  controller.abort("stop");
  answerLate(says("LATE"));
  await promise;
  await wait(QUIET);
  assert.equal(settled, 1);
});

test("AbortSignal.timeout and AbortSignal.any abort too", async () => {
  const timed = await run(small([holds]), SHORT, { signal: AbortSignal.timeout(15) });
  assert.equal(timed.error.name, "TimeoutError");
  const controller = new AbortController();
  const signal = AbortSignal.any([controller.signal, new AbortController().signal]);
  const joined = run(small([holds]), SHORT, { signal });
  await wait(10);
  controller.abort("joined");
  assert.equal((await joined).error, "joined");
});

test("the user's onabort stays and is called, set before or during the run", async () => {
  for (const early of [true, false]) {
    const going = started(small([holds]), SHORT);
    const { signal } = going.controller;
    let called = 0;
    const mine = () => called++;
    if (early) signal.onabort = mine;
    await until(() => going.calls.length === 1);
    if (!early) signal.onabort = mine;
    going.controller.abort();
    await going.outcome;
    assert.equal(called, 1);
    assert.equal(signal.onabort, mine);
  }
});

test("no listener is left on the signal, however a run ends", async () => {
  const { signal } = new AbortController();
  const scripts = [["S"], [failed("401")], [says("")], [failed("503"), "S"], [new Error("reset")], [null]];
  for (const script of scripts) {
    for (const preparation of [SHORT, LONG, SPLIT, prepared([])]) {
      await run(small(script), preparation, { signal, maxRequests: 40 });
      assert.equal(getEventListeners(signal, "abort").length, 0);
    }
  }
  await run(small(), SHORT, { signal, budget: { hardLimit: -1, requestHeadroom: 0 } });
  await run(small(), SHORT, { signal, retry: { maxRetries: -1 } });
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("one signal for many runs at once: all reject with the reason, none leaves a listener", async () => {
  const controller = new AbortController();
  const by = client([holds]);
  const runs = Array.from({ length: 40 }, () => run(by, SHORT, { signal: controller.signal }));
  const done = await run(client(["S"]), SHORT, { signal: controller.signal });
  assert.equal(done.result.summary, "S");
  await until(() => by.calls.length === 40);
  controller.abort("all of you");
  for (const { error } of await Promise.all(runs)) assert.equal(error, "all of you");
  assert.equal(getEventListeners(controller.signal, "abort").length, 0);
});

test("a signal that is none is invalid_argument, and nothing is sent", async () => {
  const halves = [
    { aborted: false },
    { aborted: false, addEventListener() {} },
    { aborted: false, onabort: null },
  ];
  for (const signal of [5, "signal", true, {}, [], () => {}, new AbortController(), ...halves]) {
    const { error, calls } = await run(small(), SHORT, { signal });
    assert.equal(error?.code, "invalid_argument", String(signal));
    assert.equal(calls.length, 0);
  }
  for (const signal of [null, undefined])
    assert.equal((await run(small(), SHORT, { signal })).result?.summary, "SUMMARY");
});

test("10,000 runs on one signal keep no memory and no listener", { timeout: 120_000 }, async () => {
  const { code, stdout, stderr } = await outputOf("runs-on-one-signal.mjs", ["--expose-gc"]);
  assert.equal(code, 0, stderr);
  const { listeners, grown, resident } = JSON.parse(stdout);
  assert.equal(listeners, 0);
  assert.ok(grown < 12 * 2 ** 20, `${grown} bytes`);
  assert.ok(resident < 100 * 2 ** 20, `${resident} bytes natively`);
});
