// What Prism's names say to bad input: an error that names the field, and no value.

import assert from "node:assert/strict";
import test from "node:test";
import * as prism from "../prism.js";
import { branch, entry, said, talk } from "./support/entries.mjs";

/** @type {Record<string, any>} */
const {
  applyCompactionMiddleware,
  applyRetryMiddleware,
  CompactionError,
  createAttentionTruncationTrigger,
  createDefaultCompactionStrategy,
  createDefaultRetryPolicy,
  errorToErrorInfo,
  httpStatusError,
  rebuildSessionContext,
  redactSecrets,
  resolveInputCap,
  resolveShouldCompact,
  waitForRetry,
} = prism;

/** Fails unless the call ends in an error that begins with the field. @param {() => any} call @param {string} field @param {string} [title] */
async function assertNames(call, field, title = field) {
  try {
    await call();
  } catch (/** @type {any} */ error) {
    assert.ok(error instanceof CompactionError, `${title}: ${error}`);
    assert.equal(error.code, "invalid_argument", title);
    assert.ok(error.message.startsWith(`${field}: expected `), `${title}: ${error.message}`);
    assert.doesNotMatch(error.message, /WRONG/, "no value is told");
    return;
  }
  assert.fail(`${title}: no error`);
}

const NO_COUNTS = [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "WRONG", true, {}, [], 3n];

/** One option after the other, each with values that it does not take. @param {(options: any) => any} make @param {Record<string, any[]>} wrong */
async function assertRefused(make, wrong) {
  for (const [field, values] of Object.entries(wrong)) {
    for (const value of values) {
      await assertNames(() => make({ [field]: value }), `options.${field}`, `${field} = ${String(value)}`);
    }
  }
  for (const options of [1, "WRONG", true]) await assertNames(() => make(options), "options");
  assert.ok(make(undefined) && make(null) && make({}), "absent options are none");
}

test("options of the strategy", async () => {
  await assertRefused(createDefaultCompactionStrategy, {
    name: [1, "", {}],
    keepRecentEntries: NO_COUNTS,
    maxSummaryChars: NO_COUNTS,
    secrets: ["WRONG", [1], {}, [{}], 5],
  });
});

test("options of the policy", async () => {
  const noNumbers = ["WRONG", Number.NaN, Number.POSITIVE_INFINITY, -1, {}, 3n];
  await assertRefused(createDefaultRetryPolicy, {
    name: [1],
    maxAttempts: [0, ...NO_COUNTS],
    baseDelayMs: noNumbers,
    maxDelayMs: noNumbers,
    jitter: [...noNumbers, 1.01],
    random: [0.5, "WRONG"],
    secrets: ["WRONG", [1]],
    metadata: ["WRONG"],
  });
});

test("options of the truncation trigger", async () => {
  await assertRefused(createAttentionTruncationTrigger, { threshold: [0, ...NO_COUNTS] });
  await assertNames(() => createAttentionTruncationTrigger().observe(null), "event");
});

test("what a strategy is told", async () => {
  const compact = (/** @type {any} */ more) =>
    createDefaultCompactionStrategy().compact({ sessionId: "s", entries: talk(3), ...more });
  const wrong = {
    sessionId: [undefined, null, 1],
    entries: [undefined, null, "WRONG", {}, new Set()],
    keepRecentEntries: NO_COUNTS,
    trigger: [1, {}],
    secrets: ["WRONG", [1]],
    metadata: ["WRONG", 1],
    signal: ["WRONG", {}, { aborted: false }],
  };
  for (const [field, values] of Object.entries(wrong)) {
    for (const value of values) await assertNames(() => compact({ [field]: value }), `context.${field}`);
  }
  for (const context of [undefined, null, "WRONG"]) {
    await assertNames(() => createDefaultCompactionStrategy().compact(context), "context");
  }
});

/** @type {[any[], string][]} */
const FOREIGN = [
  [[null], "[0]"],
  [[undefined], "[0]"],
  [["WRONG"], "[0]"],
  [new Array(2), "[0]"],
  [[...talk(2), {}], "[2].id"],
  [[{ id: "", kind: "message" }], "[0].id"],
  [[{ id: 1, kind: "message" }], "[0].id"],
  [[{ id: "a" }], "[0].kind"],
  [[{ id: "a", kind: 5 }], "[0].kind"],
  [[{ id: "a", kind: "message", parentId: 5 }], "[0].parentId"],
  [[entry("a", undefined, { kind: "message" })], "[0].message"],
  [[entry("a", undefined, { kind: "message", message: {} })], "[0].message.role"],
  [[entry("a", undefined, { kind: "message", message: { role: "user" } })], "[0].message.content"],
  [
    [entry("a", undefined, { kind: "message", message: { role: "user", content: {} } })],
    "[0].message.content",
  ],
  [[entry("a", undefined, { kind: "summary" })], "[0].summary"],
  [[...talk(2), entry("e0", "e1", said("user", "x"))], "[2].id"],
  [[...talk(2), entry("e2", "WRONG", said("user", "x"))], "[2].parentId"],
  [[entry("a", "a", said("user", "x"))], "[0].parentId"],
  [
    [
      entry("a", "c", said("user", "x")),
      entry("b", "a", said("user", "x")),
      entry("c", "b", said("user", "x")),
    ],
    "[0].parentId",
  ],
];

test("entries of foreign shape, twice the same id, a parent that is missing or descends from its child", async () => {
  const strategy = createDefaultCompactionStrategy({ keepRecentEntries: 0 });
  for (const [entries, field] of FOREIGN) {
    await assertNames(() => strategy.compact({ sessionId: "s", entries }), `context.entries${field}`);
    await assertNames(() => rebuildSessionContext(entries), `entries${field}`);
  }
  await assertNames(() => rebuildSessionContext(talk(2), { leafId: "WRONG" }), "options.leafId");
  await assertNames(() => rebuildSessionContext(talk(2), { leafId: 1 }), "options.leafId");
  await assertNames(() => rebuildSessionContext(talk(2), "WRONG"), "options");
  await assertNames(() => rebuildSessionContext("WRONG"), "entries");
});

test("odd but readable entries do no harm", async () => {
  const bare = Object.assign(Object.create(null), entry("a", undefined, said("user", "bare")));
  const odd = [
    bare,
    entry("b", "a", { kind: "message", message: { role: "user", content: "a text" } }),
    entry("c", "b", {
      kind: "message",
      message: { role: "user", content: [null, 5, "x", {}, { type: "text" }, { type: "text", text: 7 }] },
    }),
    entry("d", "c", {
      kind: "message",
      message: { role: "assistant", content: [{ type: "tool_call" }, { type: "tool_result" }] },
    }),
    entry("e", "d", { kind: "label" }),
    entry("f", "e", { kind: "model_change" }),
    entry("g", "f", { kind: "model_change", model: { provider: 1 } }),
    entry("h", "g", {
      kind: "message",
      message: { role: "user", content: [{ type: "text", text: "\ud800 \udc00 \0 end" }] },
    }),
  ];
  const { summary } = await createDefaultCompactionStrategy({ keepRecentEntries: 0 }).compact({
    sessionId: "",
    entries: odd,
  });
  assert.deepEqual(summary.split("\n"), [
    "user: bare",
    "user: a text",
    "user: 7",
    "user: \ufffd \ufffd \0 end",
  ]);
});

test("what refuses to be read is an argument that cannot be read", async () => {
  const refuses = (/** @type {string} */ field) =>
    Object.defineProperty(entry("a", undefined, said("user", "x")), field, {
      get() {
        throw new RangeError("WRONG");
      },
    });
  for (const field of ["id", "parentId", "kind", "message"]) {
    const calls = [
      () => rebuildSessionContext([refuses(field)]),
      () =>
        createDefaultCompactionStrategy({ keepRecentEntries: 0 }).compact({
          sessionId: "s",
          entries: [refuses(field)],
        }),
    ];
    for (const call of calls) {
      await assert.rejects(
        async () => call(),
        (/** @type {any} */ error) => {
          assert.equal(error.code, "invalid_argument");
          assert.ok(error.cause instanceof RangeError, field);
          return !error.message.includes("WRONG");
        },
      );
    }
  }
});

test("decisions", async () => {
  const decide = (/** @type {any} */ options, /** @type {any} */ input) =>
    resolveShouldCompact(options, { sessionId: "s", entryCount: 1, ...input });
  await assertNames(() => resolveShouldCompact(), "options");
  await assertNames(() => resolveShouldCompact({}), "input");
  for (const value of NO_COUNTS) {
    await assertNames(() => decide({ thresholdEntries: value }), "options.thresholdEntries");
    await assertNames(() => decide({ compactAfterTokens: value }), "options.compactAfterTokens");
    await assertNames(() => decide({}, { entryCount: value }), "input.entryCount");
    await assertNames(() => resolveInputCap({ maxInputTokens: value }), "options.maxInputTokens");
    await assertNames(() => resolveInputCap({ reserveTokens: value }), "options.reserveTokens");
    await assertNames(
      () => resolveInputCap({}, { limits: { contextWindow: value } }),
      "model.limits.contextWindow",
    );
    const limits = { contextWindow: 9_000, maxOutputTokens: value };
    await assertNames(() => resolveInputCap({}, { limits }), "model.limits.maxOutputTokens");
  }
  await assertNames(() => resolveInputCap({ maxInputTokens: 0 }), "options.maxInputTokens");
  await assertNames(() => resolveInputCap({}, "WRONG"), "model");
  await assertNames(() => decide({}, { sessionId: 1 }), "input.sessionId");
  await assertNames(() => decide({}, { entries: "WRONG" }), "input.entries");
  assert.equal(await decide({}, { entries: null }), false, "absent entries are none");
  await assertNames(() => decide({}, { metadata: 1 }), "input.metadata");
  await assertNames(() => decide({}, { onError: 1 }), "input.onError");
  await assertNames(() => decide({}, { signal: {} }), "input.signal");
  const trigger = { type: "input_ratio", ratio: 0.5 };
  const cap = { resolveInputCapTokens: () => 1 };
  await assertNames(() => decide({ trigger }), "input.estimateInputTokens");
  await assertNames(
    () => decide({ trigger }, { ...cap, estimateInputTokens: () => Number.NaN }),
    "input.estimateInputTokens()",
  );
  const estimate = { estimateInputTokens: () => 1 };
  await assertNames(() => decide({ trigger }, estimate), "input.resolveInputCapTokens");
  await assertNames(
    () => decide({ trigger }, { ...estimate, resolveInputCapTokens: () => 0 }),
    "input.resolveInputCapTokens()",
  );
});

test("retries", async () => {
  const policy = createDefaultRetryPolicy();
  const error = { message: "x" };
  await assertNames(() => policy.decide(), "context");
  for (const attempt of [0, undefined, ...NO_COUNTS])
    await assertNames(() => policy.decide({ attempt, error }), "context.attempt");
  await assertNames(() => policy.decide({ attempt: 1 }), "context.error");
  await assertNames(() => policy.decide({ attempt: 1, error, signal: 5 }), "context.signal");
  await assertNames(() => waitForRetry(), "decision");
  for (const delayMs of ["WRONG", -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    await assertNames(() => waitForRetry({ retry: true, delayMs }), "decision.delayMs");
  }
  await assertNames(() => waitForRetry({ retry: true }, {}), "signal");
});

test("errors and secrets", async () => {
  for (const status of [undefined, "503", 0, 99, 600, 503.5, Number.NaN]) {
    await assertNames(() => httpStatusError({ status }), "response.status");
  }
  await assertNames(() => httpStatusError(), "response");
  await assertNames(() => httpStatusError({ status: 500, headers: "WRONG" }), "response.headers");
  await assertNames(() => httpStatusError({ status: 500 }, { message: 5 }), "options.message");
  await assertNames(() => httpStatusError({ status: 500 }, { secrets: "WRONG" }), "options.secrets");
  await assertNames(() => errorToErrorInfo(new Error("x"), "WRONG"), "secrets");
  await assertNames(() => redactSecrets({}, [5]), "secrets");
  /** @type {any} */
  const circle = {};
  circle.self = circle;
  assert.throws(() => redactSecrets(circle, []), { code: "invalid_argument" });
});

test("middleware", async () => {
  const result = { summary: "four", entries: [] };
  const context = { sessionId: "s", entries: [] };
  const answers = (/** @type {any} */ answer) => ({ run: async () => answer });
  for (const middleware of [{}, { run: 5 }]) {
    await assertNames(() => applyRetryMiddleware({ context, decision: {} }, middleware), "middleware.run");
    await assertNames(() => applyCompactionMiddleware({ context, result }, middleware), "middleware.run");
  }
  await assertNames(() => applyRetryMiddleware(), "payload");
  await assertNames(() => applyRetryMiddleware({ context }), "payload.decision");
  for (const delayMs of [-1, Number.NaN, Number.POSITIVE_INFINITY, "WRONG"]) {
    const decision = { retry: true, delayMs };
    await assertNames(() => applyRetryMiddleware({ context, decision }), "payload.decision.delayMs");
  }
  await assertNames(
    () => applyRetryMiddleware({ context, decision: { retry: true } }, answers({ decision: 5 })),
    'what the middleware "retry" answers.decision',
  );
  await assertNames(() => applyCompactionMiddleware({ context }), "payload.result");
  for (const value of [undefined, null, "WRONG"])
    await assertNames(() => applyCompactionMiddleware({ context: value, result }), "payload.context");
  await assertNames(
    () =>
      applyCompactionMiddleware({ context: { ...context, secrets: "WRONG" }, result }, { run: assert.fail }),
    "payload.context.secrets",
  );
  const refuses = {
    get context() {
      throw new RangeError("WRONG");
    },
  };
  for (const apply of [applyRetryMiddleware, applyCompactionMiddleware])
    await assertNames(() => apply(refuses), "arguments");
  /** @type {[any, string][]} */
  const wrong = [
    [{ summary: 5 }, "summary"],
    [{}, "summary"],
    [{ summary: "x", entries: "WRONG" }, "entries"],
    [{ summary: "x", entries: [null] }, "entries[0]"],
    [{ summary: "x", entries: new Array(2) }, "entries[0]"],
    [{ summary: "x", entries: [{ id: "WRONG" }] }, "entries[0].summary"],
  ];
  for (const [answered, field] of wrong) {
    const calls = [
      () => applyCompactionMiddleware({ context, result }, answers({ context, result: answered })),
      () => applyCompactionMiddleware({ context, result: answered }),
    ];
    for (const call of calls) await assertNames(call, `payload.result.${field}`);
  }
  await assertNames(
    () => applyCompactionMiddleware({ context, result }, answers(5)),
    'what the middleware "compaction" answers',
  );
  for (const stopped of [null, undefined, false]) {
    assert.equal(
      await applyCompactionMiddleware({ context, result }, answers({ context, result: stopped })),
      undefined,
    );
  }
  assert.deepEqual(await applyCompactionMiddleware({ context, result }, answers(undefined)), result);
});

test("a signal that has fired rejects with its reason, whatever else is wrong", async () => {
  const reason = { my: "reason" };
  const signal = AbortSignal.abort(reason);
  const isReason = (/** @type {unknown} */ error) => error === reason;
  const strategy = createDefaultCompactionStrategy();
  await assert.rejects(strategy.compact({ sessionId: "s", entries: talk(9), signal }), isReason);
  await assert.rejects(strategy.compact({ entries: "WRONG", signal }), isReason);
  await assert.rejects(resolveShouldCompact({ trigger: "WRONG" }, { signal }), isReason);
  await assert.rejects(waitForRetry({ retry: true, delayMs: -1 }, signal), isReason);
});

test("a hundred thousand entries are compacted and rebuilt", async () => {
  const entries = branch(Array.from({ length: 100_000 }, () => said("user", "x")));
  const { entries: made } = await createDefaultCompactionStrategy().compact({ sessionId: "s", entries });
  entries.push(...made);
  assert.equal(rebuildSessionContext(entries).messages.length, 8);
  const again = await createDefaultCompactionStrategy().compact({ sessionId: "s", entries });
  assert.equal(again.entries[0].data.keepEntryIds.length, 8);
});
