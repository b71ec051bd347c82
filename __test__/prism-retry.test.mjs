// Whether and when a turn is tried again.

import assert from "node:assert/strict";
import test from "node:test";
import { applyRetryMiddleware, createDefaultRetryPolicy, waitForRetry } from "../prism.js";
import { random } from "./support/random.mjs";
import { countedSignal } from "./support/signals.mjs";

const busy = Object.freeze({ message: "busy", code: 503 });

/** @param {any} [more] @returns {any} */
const context = (more) => ({ sessionId: "s", runId: "r", attempt: 1, error: busy, ...more });

/** The delays of a policy until it gives up. @param {any} options @param {any} [error] */
function delays(options, error = busy) {
  const policy = createDefaultRetryPolicy(options);
  const found = [];
  for (let attempt = 1; attempt < 50; attempt++) {
    const { retry, delayMs } = policy.decide(context({ attempt, error }));
    if (!retry) break;
    found.push(delayMs);
  }
  return found;
}

test("E23 E24 a policy is a name and a decision, from the same options that an agent takes", () => {
  const policy = createDefaultRetryPolicy();
  assert.deepEqual(Object.keys(policy), ["name", "decide"]);
  assert.equal(policy.name, "default-retry");
  const options = { maxAttempts: 2, secrets: ["s"], metadata: { a: 1 }, jitter: 0, policy: undefined };
  assert.deepEqual(delays(options), [100]);
  assert.equal(createDefaultRetryPolicy({ name: "mine" }).name, "mine");
});

test("E25 E26 E27 E29 E46 by default three attempts, 100 and 200 ms apart, a second at most", () => {
  assert.deepEqual(delays({ jitter: 0 }), [100, 200]);
  assert.deepEqual(delays({ jitter: 0, maxAttempts: 8 }), [100, 200, 400, 800, 1_000, 1_000, 1_000]);
  assert.deepEqual(delays({ jitter: 0, maxAttempts: 1 }), []);
  assert.deepEqual(delays({ jitter: 0, maxAttempts: 3, baseDelayMs: 50 }), [50, 100]);
  assert.deepEqual(delays({ jitter: 0, maxAttempts: 4, baseDelayMs: 7.5, maxDelayMs: 20 }), [7.5, 15, 20]);
  assert.deepEqual(delays({ jitter: 0, baseDelayMs: 0 }), [0, 0]);
  assert.deepEqual(delays({ jitter: 0, maxDelayMs: 0 }), [0, 0]);
  const { retry, delayMs } = createDefaultRetryPolicy({ jitter: 0, maxAttempts: 2 ** 53 - 1 }).decide(
    context({ attempt: 2 ** 52 }),
  );
  assert.deepEqual([retry, delayMs], [true, 1_000], "as far as numbers go");
});

test("E28 E30 E47 jitter spreads a delay by a quarter both ways, as the source draws", () => {
  const at = (/** @type {number} */ drawn, more = {}) =>
    delays({ maxAttempts: 2, random: () => drawn, ...more })[0];
  assert.deepEqual([at(0), at(0.5), at(1)], [75, 100, 125]);
  assert.deepEqual([at(0, { jitter: 1 }), at(1, { jitter: 1 })], [0, 200]);
  const drawn = new Set(Array.from({ length: 50 }, () => delays({ maxAttempts: 2 })[0]));
  assert.ok(drawn.size > 40, "sessions do not retry in step");
});

test("E48 E50 E51 a provider's wish comes before the computed delay, is spread, and is capped", () => {
  const wishes = (/** @type {number} */ retryAfterMs) => ({ ...busy, retryAfterMs });
  assert.deepEqual(delays({ jitter: 0 }, wishes(640)), [640, 640]);
  assert.deepEqual(delays({ jitter: 0 }, wishes(0)), [0, 0]);
  assert.deepEqual(delays({ jitter: 0 }, wishes(3_600_000)), [1_000, 1_000], "F3");
  assert.deepEqual(delays({ random: () => 0 }, wishes(640)), [480, 480], "E50");
  assert.deepEqual(delays({ random: () => 1 }, wishes(900)), [1_000, 1_000], "E51");
  assert.deepEqual(
    delays({ random: () => 1, baseDelayMs: 1_000 }),
    [1_000, 1_000],
    "E51: capped after jitter",
  );
  for (const none of [-1, Number.NaN, Number.POSITIVE_INFINITY, "640", null]) {
    assert.deepEqual(
      delays({ jitter: 0 }, wishes(/** @type {any} */ (none))),
      [100, 200],
      `${none} is no wish`,
    );
  }
});

test("E27 E51 property: no numbers and no source make a delay outside of [0, maxDelayMs]", () => {
  const numbers = [0, 5e-324, 0.3, 1, 99.9, 1e3, 1e9, 1e300, Number.MAX_VALUE];
  const hostile = [
    ...[Number.NaN, -1, 2, 1e308, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0.5].map(
      (drawn) => () => drawn,
    ),
    ...[undefined, null, "1", {}, 3n, Symbol("one")].map((drawn) => () => drawn),
    () => {
      throw new Error("no more entropy");
    },
  ];
  for (let seed = 0; seed < 3_000; seed++) {
    const draw = random(seed);
    const options = {
      maxAttempts: draw.pick([2, 3, 100, 2 ** 53 - 1]),
      baseDelayMs: draw.pick([...numbers, draw.next() * 1e4]),
      maxDelayMs: draw.pick([...numbers, draw.next() * 1e4]),
      jitter: draw.pick([0, 0.25, 1, draw.next()]),
      random: /** @type {any} */ (draw.pick([draw.next, ...hostile])),
    };
    const retryAfterMs = draw.pick([undefined, ...numbers, -5, Number.NaN]);
    const error = { ...busy, retryAfterMs };
    const attempt = draw.pick([1, 2, 99, 2 ** 31, 2 ** 53 - 2]);
    const { retry, delayMs } = createDefaultRetryPolicy(options).decide(context({ attempt, error }));
    if (!retry) continue;
    const { maxDelayMs } = options;
    assert.ok(
      Number(delayMs) >= 0 && Number(delayMs) <= maxDelayMs,
      `seed ${seed}: ${delayMs} of ${maxDelayMs}`,
    );
  }
});

test("E106 E127 waiting takes its time, and none where nothing is tried again", async () => {
  let isLater = false;
  setTimeout(() => {
    isLater = true;
  }, 5);
  await waitForRetry({ retry: true, delayMs: 40 });
  assert.ok(isLater);
  await waitForRetry({ retry: false, delayMs: 2 ** 31 });
  await waitForRetry({ retry: true });
  const timers = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const pending = waitForRetry({ retry: false, delayMs: 9 });
  assert.equal(
    process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length,
    timers,
    "E127: no timer",
  );
  await pending;
});

test("E106 an abort ends the wait with its reason, also of a wait longer than Node's timers", async () => {
  for (const delayMs of [60_000, 2 ** 40]) {
    for (const reason of [new Error("stop"), "a text", undefined]) {
      const controller = new AbortController();
      const wait = waitForRetry({ retry: true, delayMs }, controller.signal);
      setImmediate(() => controller.abort(reason));
      await assert.rejects(wait, (error) => error === controller.signal.reason);
    }
  }
  const reason = { my: "own" };
  await assert.rejects(
    waitForRetry({ retry: true, delayMs: 0 }, AbortSignal.abort(reason)),
    (error) => error === reason,
  );
});

test("E106 a wait leaves no listener behind", async () => {
  const { signal, listeners } = countedSignal();
  await waitForRetry({ retry: true, delayMs: 1 }, signal);
  assert.ok(listeners.addEventListener > 0);
  assert.equal(listeners.removeEventListener, listeners.addEventListener);
});

/** @param {any} answer */
const registry = (answer) => ({
  run: (/** @type {string} */ _, /** @type {any} */ payload) =>
    typeof answer === "function" ? answer(payload) : answer,
});

test("E114 E115 middleware sees context and decision, and may shorten or stop", async () => {
  const payload = { context: context(), decision: { retry: true, delayMs: 400, metadata: { a: 1 } } };
  const seen = [];
  const spy = {
    run: (/** @type {string} */ name, /** @type {any} */ given) => void seen.push([name, given]),
  };
  assert.deepEqual(await applyRetryMiddleware(payload, spy), payload.decision);
  assert.deepEqual(seen, [["retry", payload]]);
  assert.deepEqual(await applyRetryMiddleware(payload), payload.decision);
  /** @type {[any, any][]} */
  const cases = [
    [
      { retry: true, delayMs: 10 },
      { retry: true, delayMs: 10 },
    ],
    [
      { retry: true, delayMs: 0 },
      { retry: true, delayMs: 0 },
    ],
    [
      { retry: true, delayMs: 9_999 },
      { retry: true, delayMs: 400 },
    ],
    [
      { retry: true, delayMs: Number.POSITIVE_INFINITY },
      { retry: true, delayMs: 400 },
    ],
    [
      { retry: true, delayMs: Number.NaN },
      { retry: true, delayMs: 400 },
    ],
    [
      { retry: true, delayMs: -1 },
      { retry: true, delayMs: 400 },
    ],
    [{ delayMs: "1" }, { retry: true, delayMs: 400 }],
    [{ retry: false, delayMs: 1 }, { retry: false }],
  ];
  for (const [decision, expected] of cases) {
    const decided = await applyRetryMiddleware(
      payload,
      registry(async () => ({ ...payload, decision })),
    );
    assert.deepEqual(decided, { ...expected, metadata: { a: 1 } }, JSON.stringify(decision));
  }
  const stopped = { context: context(), decision: { retry: false } };
  const revives = registry({ decision: { retry: true, delayMs: 5 } });
  assert.deepEqual(await applyRetryMiddleware(stopped, revives), { retry: false }, "it begins none");
  await assert.rejects(
    applyRetryMiddleware(
      payload,
      registry(() => Promise.reject(new Error("mine"))),
    ),
    /mine/,
  );
});

test("E115 middleware that changes the decision where it stands neither lengthens nor begins one", async () => {
  const changes = (/** @type {any} */ changed) => ({
    run: (/** @type {string} */ _, /** @type {any} */ payload) =>
      void Object.assign(payload.decision, changed),
  });
  const decided = (/** @type {any} */ decision, /** @type {any} */ changed) =>
    applyRetryMiddleware({ context: context(), decision }, changes(changed));
  const long = await decided({ retry: true, delayMs: 400 }, { delayMs: 9_999 });
  assert.deepEqual(long, { retry: true, delayMs: 400 });
  const short = await decided({ retry: true, delayMs: 400 }, { delayMs: 10 });
  assert.deepEqual(short, { retry: true, delayMs: 10 });
  assert.deepEqual(await decided({ retry: false }, { retry: true, delayMs: 5 }), { retry: false });
  assert.deepEqual(await decided({ retry: true, delayMs: 400 }, { retry: false }), { retry: false });
});

test("E115 only a decision to retry goes on, once middleware has said anything of it", async () => {
  const payload = { context: context(), decision: { retry: true, delayMs: 400 } };
  for (const decision of [null, { retry: null }, { retry: 0 }, { retry: "true" }]) {
    assert.deepEqual(await applyRetryMiddleware(payload, registry({ decision })), { retry: false });
  }
  assert.deepEqual(await applyRetryMiddleware(payload, registry({})), payload.decision);
});

test("E117 a finer classifier of a provider stands before the default policy", () => {
  const classify = (/** @type {any} */ { code }) =>
    code === 529 ? { message: "overloaded", code: 503 } : undefined;
  const inner = createDefaultRetryPolicy({ jitter: 0 });
  const policy = {
    name: "of a provider",
    decide: (/** @type {any} */ given) =>
      inner.decide({ ...given, error: classify(given.error) ?? given.error }),
  };
  const error = { message: "x", code: 529 };
  assert.deepEqual(inner.decide(context({ error })), { retry: false });
  assert.deepEqual(policy.decide(context({ error })), { retry: true, delayMs: 100 });
});

test("E127 of its context the policy reads attempt, error and signal", () => {
  const read = new Set();
  const given = new Proxy(context({ messages: [], provider: {}, credentials: {} }), {
    get(target, key) {
      read.add(key);
      return target[key];
    },
  });
  createDefaultRetryPolicy().decide(given);
  assert.deepEqual([...read].sort(), ["attempt", "error", "signal"]);
});
