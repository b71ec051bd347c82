// When to compact.

import assert from "node:assert/strict";
import test from "node:test";
import {
  assertCompactionTrigger,
  createAttentionTruncationTrigger,
  createDefaultCompactionStrategy,
  resolveInputCap,
  resolveShouldCompact,
} from "../prism.js";
import { talk } from "./support/entries.mjs";
import { countedSignal } from "./support/signals.mjs";

const never = () => assert.fail("must not be asked for");
const lazy = { estimateInputTokens: never, resolveInputCapTokens: never };

/** @param {any} options @param {any} [input] */
const decides = (options, input) =>
  resolveShouldCompact(options, { sessionId: "s", entryCount: 10, ...input });

/** @param {any} shouldCompact @returns {any} */
const custom = (shouldCompact) => ({ trigger: { type: "custom", shouldCompact } });

test("E12 E13 E78 a count of entries compacts when it is exceeded; without one nothing does", async () => {
  assert.equal(await decides({ thresholdEntries: 10 }, lazy), false);
  assert.equal(await decides({ thresholdEntries: 9 }, lazy), true);
  assert.equal(await decides({ thresholdEntries: 0 }, { ...lazy, entryCount: 1 }), true);
  assert.equal(await decides({}, lazy), false);
  assert.equal(await decides({ trigger: undefined, thresholdEntries: undefined }, lazy), false);
});

test("E14 beside a trigger the count says nothing", async () => {
  assert.equal(
    await decides({ thresholdEntries: 1, trigger: { type: "threshold_entries", entries: 99 } }, lazy),
    false,
  );
  assert.equal(
    await decides({ thresholdEntries: 99, trigger: { type: "threshold_entries", entries: 1 } }, lazy),
    true,
  );
});

test("E15 E81 E82 threshold_entries exceeds, and estimates nothing", async () => {
  const trigger = { type: "threshold_entries", entries: 10 };
  assert.equal(await decides({ trigger }, lazy), false);
  assert.equal(await decides({ trigger }, { ...lazy, entryCount: 11 }), true);
  assert.equal(await decides({ trigger }, { entryCount: 11 }), true, "no resolvers are needed");
});

test("E16 E83 E99 input_ratio compacts from the ratio of the cap on", async () => {
  const trigger = { type: "input_ratio", ratio: 0.9 };
  const resolveInputCapTokens = () => resolveInputCap({ maxInputTokens: 1_000 });
  for (const [tokens, expected] of /** @type {const} */ ([
    [0, false],
    [899, false],
    [900, true],
    [5_000, true],
  ])) {
    const input = { estimateInputTokens: () => tokens, resolveInputCapTokens };
    assert.equal(await decides({ trigger }, input), expected, `${tokens}`);
  }
  const entries = talk(20);
  const { entries: made } = await createDefaultCompactionStrategy({ keepRecentEntries: 8 }).compact({
    sessionId: "s",
    entries,
  });
  assert.equal(made[0].data.keepEntryIds?.length, 8, "E99");
});

test("E84 E85 the cap is a host's own, or the model's window without answer and reserve", () => {
  const limits = { contextWindow: 200_000, maxOutputTokens: 8_192 };
  assert.equal(resolveInputCap({ maxInputTokens: 5 }, { limits }), 5);
  assert.equal(resolveInputCap({}, { limits }), 200_000 - 8_192 - 1_024);
  assert.equal(resolveInputCap({ reserveTokens: 0 }, { limits: { contextWindow: 9 } }), 9);
  assert.equal(resolveInputCap(undefined, { limits }), 190_784);
});

test("E86 a cap that cannot be resolved is loud, and names what is missing", async () => {
  const missing = {
    code: "invalid_argument",
    message: /^options\.maxInputTokens: .*model\.limits\.contextWindow/,
  };
  assert.throws(() => resolveInputCap(), missing);
  assert.throws(() => resolveInputCap({}, { limits: {} }), missing);
  const small = { code: "invalid_argument", message: /^model\.limits\.contextWindow: expected more than/ };
  assert.throws(() => resolveInputCap({}, { limits: { contextWindow: 1_024 } }), small);
  assert.throws(
    () => resolveInputCap({}, { limits: { contextWindow: 9_000, maxOutputTokens: 9_000 } }),
    small,
  );
  const trigger = { type: "input_ratio", ratio: 0.5 };
  const input = { estimateInputTokens: () => 1, resolveInputCapTokens: () => resolveInputCap() };
  await assert.rejects(decides({ trigger }, input), missing);
  const own = new RangeError("the host's own");
  const throws = () => {
    throw own;
  };
  await assert.rejects(
    decides({ trigger }, { ...input, resolveInputCapTokens: throws }),
    (error) => error === own,
  );
});

test("E87 custom may answer with a promise, and only true compacts", async () => {
  for (const [answer, expected] of /** @type {const} */ ([
    [true, true],
    [false, false],
    [Promise.resolve(true), true],
    [1, false],
    ["true", false],
    [undefined, false],
    [{}, false],
  ])) {
    assert.equal(await decides(custom(() => answer)), expected, String(answer));
  }
});

test("E18 E88 a custom trigger is told ids, numbers, metadata and the signal", async () => {
  const { signal } = new AbortController();
  const metadata = { tenant: "t" };
  const input = { metadata, signal, estimateInputTokens: () => 7, resolveInputCapTokens: () => 70 };
  const heard = [];
  await decides(
    custom((/** @type {any} */ context) => heard.push({ ...context })),
    input,
  );
  const numbers = { entryCount: 10, estimatedInputTokens: 7, inputCapTokens: 70 };
  assert.deepEqual(heard, [{ sessionId: "s", ...numbers, metadata, signal }]);
});

test("E80 a trigger is asked once", async () => {
  let asked = 0;
  await decides(custom(() => ++asked > 0));
  assert.equal(asked, 1);
});

test("E89 numbers are resolved when they are read, and once", async () => {
  assert.equal(
    await decides(
      custom((/** @type {any} */ { entryCount }) => entryCount > 5),
      lazy,
    ),
    true,
  );
  let resolved = 0;
  const input = { estimateInputTokens: () => ++resolved, resolveInputCapTokens: never };
  const reads = (/** @type {any} */ context) =>
    context.estimatedInputTokens + context.estimatedInputTokens === 2;
  assert.equal(await decides(custom(reads), input), true);
  assert.equal(resolved, 1);
  const twice = (/** @type {any} */ context) => {
    for (let at = 0; at < 2; at++) assert.throws(() => context.estimatedInputTokens, { message: "mine" });
    return true;
  };
  const fails = () => {
    resolved++;
    throw new Error("mine");
  };
  assert.equal(await decides(custom(twice), { estimateInputTokens: fails }), true);
  assert.equal(resolved, 2, "nor again where it threw");
});

test("E90 E91 E92 a callback that throws decides false, and the host hears why", async () => {
  const error = new Error("a bug of the host");
  const failing = {
    throws: () => {
      throw error;
    },
    rejects: () => Promise.reject(error),
  };
  for (const [name, callback] of Object.entries(failing)) {
    /** @type {unknown[]} */
    const heard = [];
    assert.equal(
      await decides(custom(callback), { onError: (/** @type {unknown} */ e) => heard.push(e) }),
      false,
      name,
    );
    assert.deepEqual(heard, [error], name);
    assert.equal(
      await decides(custom(callback), { onError: failing.throws }),
      false,
      "nor may the ear break it",
    );
  }
  const reads = custom((/** @type {any} */ { inputCapTokens }) => inputCapTokens > 0);
  assert.equal(await decides(reads, { resolveInputCapTokens: () => resolveInputCap() }), false, "E91");
  assert.equal(await decides(reads), false, "E91");
});

test("E90 an ear that rejects breaks nothing", async (t) => {
  const unheard = t.mock.fn();
  process.on("unhandledRejection", unheard);
  const onError = () => Promise.reject(new Error("of the ear"));
  assert.equal(await decides(custom(never), { onError }), false);
  await new Promise((resolve) => setTimeout(resolve, 10));
  process.off("unhandledRejection", unheard);
  assert.equal(unheard.mock.callCount(), 0);
});

test("E93 a trigger of unknown type or range throws when it is first used", async () => {
  /** @type {[any, string][]} */
  const wrong = [
    [{ type: "never" }, "trigger.type"],
    [{}, "trigger.type"],
    [null, "trigger"],
    ["custom", "trigger"],
    [{ type: "threshold_entries" }, "trigger.entries"],
    [{ type: "threshold_entries", entries: -1 }, "trigger.entries"],
    [{ type: "input_ratio", ratio: 0 }, "trigger.ratio"],
    [{ type: "input_ratio", ratio: 1.1 }, "trigger.ratio"],
    [{ type: "input_ratio", ratio: Number.NaN }, "trigger.ratio"],
    [{ type: "input_ratio", ratio: "0.9" }, "trigger.ratio"],
    [{ type: "custom" }, "trigger.shouldCompact"],
  ];
  for (const [trigger, field] of wrong) {
    const error = { code: "invalid_argument", message: new RegExp(`^${field}: expected `) };
    assert.throws(() => assertCompactionTrigger(trigger), error);
    if (trigger !== null) await assert.rejects(decides({ trigger }), error);
  }
  for (const ratio of [Number.MIN_VALUE, 0.9, 1]) assertCompactionTrigger({ type: "input_ratio", ratio });
});

test("E94 a branch that ends in a compaction is not compacted again", async () => {
  const entries = talk(20);
  const { entries: made } = await createDefaultCompactionStrategy().compact({ sessionId: "s", entries });
  const ends = { ...lazy, entryCount: 22, entries: [...entries, ...made] };
  for (const options of [
    { thresholdEntries: 1 },
    { trigger: { type: "threshold_entries", entries: 1 } },
    custom(never),
  ]) {
    assert.equal(await decides(options, ends), false);
  }
  assert.equal(await decides({ thresholdEntries: 1 }, { ...ends, entries }), true);
  assert.equal(await decides({ thresholdEntries: 1 }, { ...ends, entries: [] }), true);
});

test("a count of tokens compacts from it on, where no count of entries is given", async () => {
  const input = { estimateInputTokens: () => 500 };
  assert.equal(await decides({ compactAfterTokens: 500 }, input), true);
  assert.equal(await decides({ compactAfterTokens: 501 }, input), false);
  assert.equal(await decides({ compactAfterTokens: 1, thresholdEntries: 99 }, lazy), false);
});

test("a signal that has fired rejects with its reason", async () => {
  const reason = { my: "reason" };
  await assert.rejects(
    decides(custom(never), { signal: AbortSignal.abort(reason) }),
    (error) => error === reason,
  );
});

test("a signal that fires while a callback is asked rejects with its reason, whatever that says", async () => {
  const reason = { my: "reason" };
  const answers = [() => new Promise(() => {}), () => true, () => Promise.reject(reason), () => never()];
  for (const answer of answers) {
    const controller = new AbortController();
    const asked = () => {
      controller.abort(reason);
      return answer();
    };
    const later = () => {
      setImmediate(() => controller.abort(reason));
      return new Promise((resolve) => setTimeout(() => resolve(answer()), 50));
    };
    const { signal } = controller;
    for (const callback of [asked, later]) {
      await assert.rejects(decides(custom(callback), { signal }), (error) => error === reason);
    }
  }
});

test("a decision leaves no listener behind", async () => {
  const { signal, listeners } = countedSignal();
  assert.equal(
    await decides(
      custom(() => Promise.resolve(true)),
      { signal },
    ),
    true,
  );
  assert.deepEqual(listeners, { addEventListener: 1, removeEventListener: 1 });
});

test("E95 truncated turns count while they follow each other", () => {
  const { observe, streak, reset } = createAttentionTruncationTrigger({ threshold: 3 });
  const turn = (/** @type {unknown} */ truncated) => observe({ type: "attention_compiled", truncated });
  assert.deepEqual([turn(true), turn(true), turn(false), turn(true)], [1, 2, 0, 1]);
  assert.equal(observe({ type: "message_delta", truncated: true }), 1, "other events say nothing");
  assert.equal(observe({ truncated: true }), 2);
  assert.equal(turn("true"), 0);
  turn(true);
  assert.equal(streak(), 1);
  reset();
  assert.equal(streak(), 0);
});

test("E96 E97 an armed streak fires once, at the next decision", async () => {
  const { observe, trigger, streak } = createAttentionTruncationTrigger({ threshold: 2 });
  const turn = (/** @type {boolean} */ truncated) => observe({ truncated });
  turn(true);
  assert.equal(await decides({ trigger }), false);
  turn(true);
  const ends = { entries: [{ id: "c", kind: "compaction" }] };
  assert.equal(await decides({ trigger }, ends), false, "who is not asked stays armed");
  assert.equal(await decides({ trigger }), true);
  assert.equal(await decides({ trigger }), false);
  assert.equal(streak(), 0);
  turn(true);
  assert.equal(await decides({ trigger }), false, "a streak begins anew");
});

test("E98 two turns in a row are enough unless said otherwise", async () => {
  const truncation = createAttentionTruncationTrigger();
  for (let turns = 0; turns < 2; turns++) truncation.observe({ type: "attention_compiled", truncated: true });
  assert.equal(await decides({ trigger: truncation.trigger }), true);
});
