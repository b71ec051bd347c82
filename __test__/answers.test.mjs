import assert from "node:assert/strict";
import test from "node:test";
import { COMPACTION_SUMMARY_RETRY_POLICY, CompactionError } from "../index.js";
import { failed, prepared, RETRY, run, windowed } from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import { answer, userOfTokens } from "./support/sound.mjs";

const SHORT = frozen(prepared([{ role: "user", content: "Port the tokenizer." }, answer("Done.")]));
const LONG = frozen(prepared(Array.from({ length: 60 }, () => userOfTokens(1_000))));
const ONCE = frozen({ ...RETRY, maxRetries: 0 });

/** @param {any[]} script @param {object} more */
const asked = (script, more = {}) => run(windowed(32_768, 8_192, script), SHORT, more);

const TEXT = { type: "text", text: "A summary that looks whole" };
const THINKING = { type: "thinking", thinking: "Let me see" };
const CALL = { type: "toolCall", id: "c", name: "read", arguments: { path: "a" } };

/** @param {any[]} content @param {string} stopReason */
const spoken = (content, stopReason = "stop") => ({ role: "assistant", content, stopReason });

const BAD = /** @type {[string, any, string][]} */ ([
  ["G17 pi#7048 length, text ends mid-word", spoken([TEXT], "length"), "summary_incomplete"],
  ["G17 length comes first: a tool call too", spoken([TEXT, CALL], "length"), "summary_incomplete"],
  ["G17 length comes first: no text", spoken([], "length"), "summary_incomplete"],
  ["pi#9075 thinking used up the output", spoken([THINKING], "length"), "summary_incomplete"],
  ["G17 no block", spoken([]), "summary_empty"],
  ["G17 empty text", spoken([{ type: "text", text: "" }]), "summary_empty"],
  ["G17 blank text", spoken([{ type: "text", text: " \n\t\u00a0\u3000\ufeff\u2028" }]), "summary_empty"],
  [
    "G17 several blank texts",
    spoken([
      { type: "text", text: " " },
      { type: "text", text: "\n" },
    ]),
    "summary_empty",
  ],
  ["G17 stavrobot#28 thinking only", spoken([THINKING]), "summary_empty"],
  ["G17 thinking and blank text", spoken([THINKING, { type: "text", text: "\n" }]), "summary_empty"],
  ["G17 senpi#1067 a tool call and no text", spoken([CALL], "toolUse"), "summary_refused"],
  ["G17 a tool call beside text", spoken([TEXT, CALL], "toolUse"), "summary_refused"],
  ["G17 a tool call in an answer that ended normally", spoken([TEXT, CALL]), "summary_refused"],
  ["G17 toolUse whatever the blocks", spoken([TEXT], "toolUse"), "summary_refused"],
]);

for (const [title, given, code] of BAD) {
  test(`${title}: ${code}, never a summary, not sent again`, async () => {
    const { error, result, calls } = await asked([given, "A GOOD ONE"]);
    assert.equal(result, undefined);
    assert.ok(error instanceof CompactionError);
    assert.equal(error.code, code);
    assert.equal(calls.length, 1, "permanent in this preset");
    assert.equal(error.attempts, 1);
  });
}

test("G17 a refusal and a content filter are summary_refused", async () => {
  for (const stopReason of ["refusal", "content_filter", "sensitive"]) {
    const { error, calls } = await asked([spoken([TEXT], stopReason), "A GOOD ONE"]);
    assert.equal(error?.code, "summary_refused", stopReason);
    assert.equal(calls.length, 1);
  }
});

test("a stop reason that no summary has never makes one", async () => {
  for (const stopReason of ["pending", "deferred", "whatever", ""]) {
    const { error, result } = await asked([spoken([TEXT], stopReason)]);
    assert.equal(result, undefined, stopReason);
    assert.ok(error instanceof CompactionError);
  }
});

test("langchain#38867 error text is never summary text", async () => {
  const loud = { ...failed("fetch failed"), content: [{ type: "text", text: "fetch failed" }] };
  const { error, result } = await asked([loud], { retry: ONCE });
  assert.equal(result, undefined);
  assert.equal(error.code, "summary_provider");
  assert.equal(error.retryable, true);
});

test("G3 D61 partial text of a foreign abort is no summary; it passes and is asked again", async () => {
  const ghost = spoken([TEXT], "aborted");
  const { result, calls } = await asked([ghost, ghost, "WHOLE"]);
  assert.equal(result.summary, "WHOLE");
  assert.equal(calls.length, 3);
  const always = await asked([ghost]);
  assert.equal(always.error.code, "summary_provider");
  assert.equal(always.calls.length, 4);
  assert.equal(always.error.retryable, true);
  const rejected = await asked([new DOMException("someone else's", "AbortError"), "WHOLE"]);
  assert.equal(rejected.result?.summary, "WHOLE");
});

test("a bad chunk summary ends the chain", async () => {
  for (const [, given, code] of BAD) {
    const { error, calls } = await run(windowed(32_768, 8_192, ["S1", given, "S3"]), LONG);
    assert.equal(error?.code, code);
    assert.equal(calls.length, 2);
  }
});

test("several text blocks of an answer are all of it", async () => {
  const { result } = await asked([
    spoken([THINKING, { type: "text", text: "ONE" }, { type: "text", text: "TWO" }]),
  ]);
  assert.match(result.summary, /^ONE\s*TWO$/);
  assert.doesNotMatch(result.summary, /Let me see/);
});

test("A16 pi-extensions PR#1330 three retries when none is stated: at most four requests", async () => {
  for (const retry of [
    { baseDelayMs: 1 },
    { enabled: true, baseDelayMs: 1 },
    { maxRetries: 3, baseDelayMs: 0 },
  ]) {
    const { error, calls, events } = await asked([failed("503")], { retry });
    assert.equal(calls.length, 4);
    assert.equal(error.attempts, 4);
    assert.equal(events.filter(({ type }) => type === "retry").length, 3);
  }
});

test("A17 F3 G10 delays double and are capped", async () => {
  const delays = async (/** @type {object} */ retry) => {
    const { events } = await asked([failed("503")], { retry });
    return events.filter(({ type }) => type === "retry").map(({ delayMs }) => delayMs);
  };
  assert.deepEqual(await delays({ baseDelayMs: 2 }), [2, 4, 8]);
  assert.deepEqual(await delays({ baseDelayMs: 2, maxRetries: 5, maxAgentDelayMs: 5 }), [2, 4, 5, 5, 5]);
  const jitter = { baseDelayMs: 100, maxAgentDelayMs: 8, jitter: 0.25, random: () => 0.999 };
  assert.deepEqual(await delays(jitter), [8, 8, 8], "capped after jitter");
  const shortened = { baseDelayMs: 8, maxRetries: 1, jitter: 0.5, random: () => 0 };
  assert.deepEqual(await delays(shortened), [4]);
});

test("A18 A17 the default policy is exported: 2, 4 and 8 seconds", async () => {
  assert.deepEqual(COMPACTION_SUMMARY_RETRY_POLICY, { enabled: true, maxRetries: 3, baseDelayMs: 2_000 });
  assert.ok(Object.isFrozen(COMPACTION_SUMMARY_RETRY_POLICY));
  const controller = new AbortController();
  const announced = await new Promise((resolve) => {
    const onEvent = (/** @type {any} */ event) => event.type === "retry" && resolve(event);
    asked([failed("503")], { retry: undefined, onEvent, signal: controller.signal });
  });
  controller.abort();
  assert.equal(announced.delayMs, 2_000);
});

test("A7 A8 A15 a first response that failed is not the last, though neither caller nor client repeat it", async () => {
  const { result, calls } = await asked([failed("503"), "S"], { retry: undefined });
  assert.equal(result?.summary, "S");
  assert.deepEqual(
    calls.map(({ options }) => options.maxRetries),
    [0, 0],
  );
  const own = { enabled: true, maxRetries: 1, baseDelayMs: 1 };
  assert.equal((await asked([failed("503")], { retry: own })).calls.length, 2, "the caller's policy");
});

test("A32 the default policy waits for 14 seconds in all, and then gives up", async () => {
  const { baseDelayMs, ...policy } = COMPACTION_SUMMARY_RETRY_POLICY;
  const scale = 1_000;
  const { error, events } = await asked([failed("503")], {
    retry: { ...policy, baseDelayMs: baseDelayMs / scale },
  });
  const waits = events.filter(({ type }) => type === "retry").map(({ delayMs }) => delayMs);
  assert.equal(waits.reduce((sum, delay) => sum + delay, 0) * scale, 14_000);
  assert.equal(error.code, "summary_provider");
});

test("enabled: false and maxRetries: 0 send once", async () => {
  for (const retry of [
    { enabled: false, baseDelayMs: 1 },
    { enabled: false, maxRetries: 9 },
    { maxRetries: 0 },
  ]) {
    const { error, calls } = await asked([failed("503"), "LATER"], { retry });
    assert.equal(calls.length, 1);
    assert.equal(error.code, "summary_provider");
    assert.equal(error.retryable, true, "it may pass later, though nobody asked again");
  }
});

test("A61 a retry repeats only the request: same prompt, same options, no new plan", async () => {
  const { calls, events } = await asked([failed("503"), failed("503"), "S"]);
  assert.equal(new Set(calls.map(({ prompt, system }) => prompt + system)).size, 1);
  assert.equal(new Set(calls.map(({ options }) => options.maxTokens)).size, 1);
  assert.equal(events.filter(({ type }) => type === "plan").length, 1);
});

/** A rejection with headers. @param {object} more */
const limited = (more) => Object.assign(new Error("429 Too Many Requests"), { status: 429, ...more });

test("G10 TMDb#324 a Retry-After beyond the cap stops the run and says so", async () => {
  const tomorrow = new Date(Date.now() + 86_400_000).toUTCString();
  for (const [title, more] of /** @type {[string, object][]} */ ([
    ["seconds", { headers: { "retry-after": "86400" } }],
    ["a Headers object", { headers: new Headers({ "Retry-After": "86400" }) }],
    ["milliseconds", { headers: { "retry-after-ms": "86400000" } }],
    ["an HTTP date", { headers: { "retry-after": tomorrow } }],
    ["any case", { headers: { "Retry-After": "86400" } }],
    ["a field", { retryAfterMs: 86_400_000 }],
  ])) {
    const { error, calls } = await asked([limited(more), "LATER"]);
    assert.equal(error?.code, "summary_provider", title);
    assert.equal(calls.length, 1, title);
    assert.match(error.message, /wait/i, title);
    assert.equal(error.status, 429);
    assert.equal(error.retryable, true);
  }
});

test("G10 a Retry-After within the cap is the delay", async () => {
  for (const more of [
    { headers: { "retry-after-ms": "7" } },
    { retryAfterMs: 7 },
    { headers: { "retry-after": "0.007" } },
    { headers: { "llm_provider-retry-after": "0.007" } },
    { headers: { "retry-after-ms": "soon", "retry-after": "0.007" } },
  ]) {
    const { events, result } = await asked([limited(more), "LATER"]);
    assert.equal(result.summary, "LATER");
    assert.deepEqual(
      events.filter(({ type }) => type === "retry").map(({ delayMs }) => delayMs),
      [7],
    );
  }
  const nonsense = [
    { headers: { "retry-after": "soon" } },
    { retryAfterMs: -5 },
    { retryAfterMs: Number.NaN },
    { headers: 5 },
  ];
  for (const more of nonsense) assert.equal((await asked([limited(more), "LATER"])).result?.summary, "LATER");
});

test("G10 what is no Retry-After of HTTP is no wish", async () => {
  for (const value of ["5, 5", "monday 1", "0x1", "", "-1", "Infinity"]) {
    const { events } = await asked([limited({ headers: { "retry-after": value } }), "LATER"], {
      retry: { enabled: true, maxRetries: 1, baseDelayMs: 3 },
    });
    const waits = events.filter(({ type }) => type === "retry").map(({ delayMs }) => delayMs);
    assert.deepEqual(waits, [3], value);
  }
});

test("isRetryable has its word within the policy", async () => {
  const never = await asked([failed("503"), "S"], { isRetryable: () => false });
  assert.deepEqual([never.calls.length, never.error.code], [1, "summary_provider"]);
  const always = await asked([failed("401 invalid x-api-key")], { isRetryable: () => true });
  assert.deepEqual([always.calls.length, always.error.code], [4, "summary_provider"]);
  const off = await asked([failed("503"), "S"], { isRetryable: () => true, retry: ONCE });
  assert.equal(off.calls.length, 1);
});

test("isRetryable is asked with the failure, once for each try that may be repeated", async () => {
  /** @type {any[]} */
  const heard = [];
  const isRetryable = (/** @type {any} */ error) => void heard.push(error);
  await asked([failed("503 in-the-body"), limited({}), failed("401 bad key")], { isRetryable });
  assert.deepEqual(
    heard.map(({ code, attempts, retryable }) => [code, attempts, retryable]),
    [
      ["summary_provider", 1, true],
      ["summary_provider", 2, true],
      ["summary_provider", 3, false],
    ],
  );
  assert.equal(heard[1].status, 429);
  for (const error of heard)
    assert.ok(error instanceof CompactionError && !error.message.includes("in-the-body"));
});

test("isRetryable that throws or answers nonsense leaves it to the classifier", async () => {
  const answers = [undefined, null, 1, 0, "no", {}, Promise.resolve(false)].map((value) => () => value);
  answers.push(() => {
    throw new Error("the host's own");
  });
  for (const isRetryable of answers) {
    assert.equal((await asked([failed("503"), "S"], { isRetryable })).calls.length, 2);
    assert.equal((await asked([failed("401"), "S"], { isRetryable })).calls.length, 1);
  }
});

test("G9 an overflow is never sent again, whatever the host says", async () => {
  let heard = 0;
  const isRetryable = () => ++heard > 0;
  const { error, calls } = await asked([failed("prompt is too long: 212230 tokens > 200000 maximum"), "S"], {
    isRetryable,
  });
  assert.equal(error.code, "context_overflow");
  assert.equal(error.retryable, false);
  assert.equal(calls.length, 1);
});

test("a policy of any numbers ends typed, never as a fault of the package", async () => {
  const signal = () => AbortSignal.timeout(40);
  const huge = Number.MAX_VALUE;
  for (const retry of [
    { baseDelayMs: huge, maxAgentDelayMs: huge },
    { baseDelayMs: 1e15, maxAgentDelayMs: 1e15 },
    { baseDelayMs: 1, jitter: 1, random: () => Number.NaN },
    { baseDelayMs: 1, jitter: 1, random: () => Number.POSITIVE_INFINITY },
    { baseDelayMs: 1, jitter: 0.5, random: () => "0.5" },
    { baseDelayMs: 0, maxRetries: 1_100 },
  ]) {
    const own = signal();
    const { error } = await asked([failed("503")], { retry, signal: own, maxRequests: 2_000 });
    assert.notEqual(error?.code, "internal", `${JSON.stringify(retry)}: ${error}`);
    if (own.aborted) assert.equal(error, own.reason);
  }
});

test("A33 a policy of no numbers, or without an end, is invalid_argument", async () => {
  const policies = [
    { maxRetries: -1 },
    { maxRetries: 1.5 },
    { maxRetries: Number.NaN },
    { maxRetries: Number.POSITIVE_INFINITY },
    { maxRetries: "3" },
    { baseDelayMs: -1 },
    { baseDelayMs: Number.POSITIVE_INFINITY },
    { jitter: 2 },
    { enabled: "yes" },
    5,
    "3",
  ];
  for (const retry of policies) {
    const { error, calls } = await asked(["S"], { retry });
    assert.equal(error?.code, "invalid_argument", JSON.stringify(retry));
    assert.equal(calls.length, 0);
  }
});
