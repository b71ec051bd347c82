import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import test from "node:test";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import * as native from "../index.js";
import { failed, hangs, holds, prepared, RETRY, says, usage, windowed } from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import { DENIED, denied, recover, textTokens, total } from "./support/recovery.mjs";
import { sessions } from "./support/sessions.mjs";
import { answer, soundTranscript, toolCalls, userOfTokens } from "./support/sound.mjs";

const { Transcript } = native;
const WORDS = frozen([{ role: "user", content: "Port the tokenizer." }, answer("The scanner is done.")]);
const SHORT = frozen(prepared(WORDS));
const LONG = frozen(prepared(Array.from({ length: 60 }, () => userOfTokens(1_000))));
const wide = (/** @type {any[]} */ ...script) => windowed(200_000, 32_000, script);
const small = (/** @type {any[]} */ ...script) => windowed(32_768, 8_192, script);
/** Long enough for a request that should not leave to have left. */
const QUIET = 50;

/** What reasons may be; each must come back as it is. */
const REASONS = [new Error("stopped"), new DOMException("stop", "AbortError"), "stop", "", null, 0, {}];

/** The rejection is the reason itself, there is no outcome, and nothing leaves afterwards. */
async function assertAborted(/** @type {any} */ given, /** @type {AbortSignal} */ signal) {
  const { outcome, error, calls } = await given;
  assert.equal(outcome, undefined, "an abort is no outcome");
  assert.equal(error, signal.reason);
  const sent = calls.length;
  await wait(QUIET);
  assert.equal(calls.length, sent, "nothing is sent afterwards");
  assert.equal(getEventListeners(signal, "abort").length, 0);
}

test("G3 already aborted: the reason, whatever could have come", async () => {
  for (const reason of REASONS) {
    const signal = AbortSignal.abort(reason);
    const previousCheckpoint = { summary: "OLD", details: { generation: "odd" } };
    for (const more of [{}, { reason: "manual" }, { leafIsCheckpoint: true }, { previousCheckpoint }]) {
      for (const preparation of [SHORT, LONG, prepared([])]) {
        const given = await recover(denied(), preparation, { signal, ...more });
        assert.equal(given.outcome, undefined);
        assert.equal(given.error, reason);
        assert.equal(given.calls.length + given.events.length, 0);
      }
    }
  }
});

test("G3 A30 A31 an abort in the client, whether or not it answers", async () => {
  for (const reason of REASONS) {
    for (const step of [holds, hangs]) {
      const controller = new AbortController();
      const by = wide(step);
      const given = recover(by, SHORT, { signal: controller.signal });
      for (let turns = 0; by.calls.length === 0 && turns < 5_000; turns++) await turn();
      controller.abort(reason);
      await assertAborted(given, controller.signal);
    }
  }
});

test("G3 an abort at each step that is told of", async () => {
  const more = { previousCheckpoint: { summary: "OLD", details: { generation: "odd" } } };
  const overflow = failed("prompt is too long: 210000 tokens > 200000 maximum");
  for (const [type, script] of /** @type {[string, any[]][]} */ ([
    ["plan", ["S"]],
    ["request", ["S"]],
    ["retry", [failed("503")]],
    ["chunk", ["S"]],
    ["replan", [overflow, overflow, "S"]],
    ["warning", ["S"]],
    ["warning", [DENIED]],
  ])) {
    const controller = new AbortController();
    let heard = false;
    const onEvent = (/** @type {any} */ event) => {
      if (event.type !== type || heard) return;
      heard = true;
      controller.abort(type);
    };
    const { signal } = controller;
    await assertAborted(recover(small(...script), LONG, { signal, onEvent, ...more }), signal);
    assert.ok(heard, type);
  }
});

test("G3 an abort at whichever event, the last before the end included", async () => {
  const previousCheckpoint = { summary: "OLD", details: { generation: "odd" } };
  for (const script of [["S"], ["S", failed("503"), "S"], ["S", DENIED], ["S".repeat(900_000)]]) {
    const { events } = await recover(small(...script), LONG, { previousCheckpoint });
    for (const [at, { type }] of events.entries()) {
      if (type === "done") continue;
      const controller = new AbortController();
      let heard = 0;
      const onEvent = () => heard++ === at && controller.abort(`${type} ${at}`);
      const { signal } = controller;
      const given = await recover(small(...script), LONG, { signal, onEvent, previousCheckpoint });
      assert.equal(given.outcome, undefined, `an abort at event ${at} (${type}) is no outcome`);
      assert.equal(given.error, signal.reason);
    }
  }
});

test("G3 prime-agent PR#2045 an abort beside the last answer beats summary, fallback and failure", async () => {
  for (const end of [
    DENIED,
    failed("503"),
    says("S"),
    says("S".repeat(900_000)),
    says("", { stopReason: "length" }),
  ]) {
    for (const more of [{}, { reason: "manual" }, { fixedTokens: 160_000 }]) {
      const controller = new AbortController();
      const aborts = () => {
        controller.abort({ mine: true });
        return end;
      };
      const { signal } = controller;
      await assertAborted(recover(wide(aborts), SHORT, { signal, ...more }), signal);
    }
  }
});

test("G3 an abort during a retry's wait does not sit it out", async () => {
  const controller = new AbortController();
  const onEvent = (/** @type {any} */ event) =>
    event.type === "retry" && setTimeout(() => controller.abort(), 5);
  const retry = { ...RETRY, baseDelayMs: 60_000 };
  const { signal } = controller;
  await assertAborted(recover(wide(failed("503")), SHORT, { signal, onEvent, retry }), signal);
});

test("a run that ends leaves no listener at the signal", async () => {
  for (const by of [wide("S"), denied()]) {
    const { signal } = new AbortController();
    assert.ok((await recover(by, SHORT, { signal })).outcome);
    assert.equal(getEventListeners(signal, "abort").length, 0);
  }
});

const TOOLS = frozen(prepared(toolCalls(100, "x".repeat(1_900))));

/** The stages of a run, of its client and its request. */
const STAGES = /** @type {[string, () => any, any, object, string[]][]} */ ([
  ["a summary", () => wide("S"), SHORT, {}, ["plan", "request", "recheck"]],
  ["chunks", () => small("S"), LONG, {}, ["plan", "chunks", "request", "recheck"]],
  [
    "an oversized summary",
    () => wide("S".repeat(900_000)),
    SHORT,
    {},
    ["plan", "request", "recheck", "fallback"],
  ],
  [
    "a manual oversized one",
    () => wide("S".repeat(900_000)),
    SHORT,
    { reason: "manual" },
    ["plan", "request", "recheck"],
  ],
]);

for (const [title, by, preparation, more, stages] of STAGES) {
  test(`B37 stages of ${title}`, async () => {
    const { outcome } = await recover(by(), preparation, more);
    assert.deepEqual(outcome.report.stages, stages);
  });
}

test("B37 A14 stages come once each, in the order of retry, reduce, chunk, fall back", async () => {
  const stagesOf = async (/** @type {any} */ by, /** @type {any} */ preparation, more = {}) => {
    const { stages } = (await recover(by, preparation, more)).outcome.report;
    assert.equal(new Set(stages).size, stages.length, stages.join());
    return stages.filter((/** @type {string} */ stage) => stage !== "recheck");
  };
  assert.deepEqual(await stagesOf(denied(), SHORT), ["plan", "request", "fallback"]);
  assert.deepEqual(await stagesOf(denied(), SHORT, { reason: "manual" }), ["plan", "request"]);
  assert.deepEqual(await stagesOf(small("S"), TOOLS), ["plan", "reduce", "request"]);
  const both = [...TOOLS.messagesToSummarize, ...LONG.messagesToSummarize];
  assert.deepEqual(await stagesOf(small("S"), prepared(both)), ["plan", "reduce", "chunks", "request"]);
  const overflow = failed("prompt is too long: 210000 tokens > 200000 maximum");
  const replanned = await stagesOf(small(overflow, "S"), LONG);
  assert.deepEqual(replanned.slice(0, 4), ["plan", "chunks", "request", "replan"]);
  const none = await stagesOf(wide("S"), prepared([], { retainedTail: WORDS }));
  assert.equal(none.at(-1), "fallback");
  assert.ok(!none.includes("request"));
});

test("G18 the report's tokens: messages and earlier summary before, checkpoint and tail after", async () => {
  const retainedTail = [{ role: "user", content: "And now the docs, with every option." }];
  const turnPrefixMessages = [{ role: "user", content: "Begin." }];
  const more = { isSplitTurn: true, turnPrefixMessages, retainedTail };
  const preparation = frozen(prepared(WORDS, more));
  const previousCheckpoint = { summary: "p".repeat(1_001) };
  const pendingMessages = [userOfTokens(500)];
  const beside = { previousCheckpoint, pendingMessages, fixedTokens: 4_000 };
  for (const sizing of [{}, { charsPerToken: 2.5 }]) {
    const all = [...WORDS, ...turnPrefixMessages, ...retainedTail];
    const before = total(all, sizing) + textTokens(previousCheckpoint.summary, sizing.charsPerToken);
    for (const by of [wide("S".repeat(99)), wide("S".repeat(8_000)), denied()]) {
      const { checkpoint, report } = (await recover(by, preparation, { ...beside, ...sizing })).outcome;
      const summary = textTokens(checkpoint.summary, sizing.charsPerToken);
      const after = summary + total(checkpoint.retainedTail, sizing);
      assert.deepEqual([report.tokensBefore, report.tokensAfter], [before, after]);
      assert.equal(report.shrank, after < before);
    }
  }
});

test("C37 the report's requests and usage are of everything that was sent", async () => {
  const cut = says("half", { stopReason: "length", usage: usage(64) });
  const script = [says("S1", { usage: usage(8) }), failed("503"), says("S2", { usage: usage(16) }), cut];
  const { outcome, calls } = await recover(small(...script), LONG);
  assert.equal(outcome.kind, "fallback");
  const { report } = outcome;
  assert.deepEqual([report.requests, calls.length], [4, 4]);
  const { input, output, totalTokens, cost } = report.usage;
  assert.deepEqual([input, output, totalTokens, cost.total], [88 + 3, 88 + 6, 88 + 15, 88]);
  const silent = (await recover(wide("S"), SHORT)).outcome.report;
  assert.ok(!("usage" in silent), "nothing was reported");
  assert.equal((await recover(wide("S"), prepared([]))).outcome.report.requests, 0);
});

test("C37 a summary's report agrees with its checkpoint", async () => {
  const script = [failed("503"), says("S", { usage: usage(8) })];
  const { outcome, events } = await recover(small(...script), LONG);
  assert.deepEqual(outcome.report.usage, outcome.checkpoint.usage);
  assert.equal(outcome.report.requests, outcome.checkpoint.details.requests);
  assert.equal(outcome.report.requests, events.filter(({ type }) => type === "request").length);
  assert.deepEqual(outcome.report.warnings, []);
});

test("each warning of the report was an event", async () => {
  for (const by of [small("S"), small(DENIED), windowed(16_384, 8_192, ["S"])]) {
    const previousCheckpoint = { summary: "p".repeat(70_544), details: { readFiles: 5 } };
    const { outcome, events } = await recover(by, SHORT, { previousCheckpoint });
    const heard = events.filter(({ type }) => type === "warning").map(({ message }) => message);
    assert.ok(heard.length > 0);
    assert.deepEqual(outcome.report.warnings, heard);
  }
});

/** Ranges of every kind. */
const RANGES = frozen([
  SHORT,
  LONG,
  TOOLS,
  prepared([]),
  ...[1, 2, 3].map((s) => prepared(soundTranscript(s, 30))),
]);

test("B17 B30 B31 B32 A53 the same input gives the same outcome, and nothing of it is changed", async () => {
  const real = sessions().map(({ messages }) => prepared(messages));
  for (const preparation of [...RANGES, ...real]) {
    for (const by of [() => small("S"), () => small("S1", failed("503"), DENIED), () => denied()]) {
      for (const fallbackSummary of ["notice", "extractive"]) {
        const previousCheckpoint = { summary: "p".repeat(9_000), details: { generation: 2 } };
        const pendingMessages = [userOfTokens(9)];
        const more = frozen({ previousCheckpoint, pendingMessages, fallbackSummary, secrets: ["tokenizer"] });
        const [first, second] = [
          await recover(by(), frozen(preparation), more),
          await recover(by(), frozen(preparation), more),
        ];
        assert.ok(first.outcome, `${first.error}`);
        assert.equal(JSON.stringify(first.outcome), JSON.stringify(second.outcome));
        assert.deepEqual(first.events, second.events);
      }
    }
  }
});

test("a range or a Transcript in a list's place gives the same outcome", async () => {
  const retainedTail = [{ role: "user", content: "next" }, answer("did")];
  for (const { messagesToSummarize } of RANGES) {
    for (const by of [() => small("S"), denied]) {
      const transcript = new Transcript(messagesToSummarize);
      const pending = [userOfTokens(30)];
      const lists = await recover(by(), prepared(messagesToSummarize, { retainedTail }), {
        transcript: messagesToSummarize,
        pendingMessages: pending,
      });
      const ranges = await recover(
        by(),
        prepared(/** @type {any} */ (transcript.range()), { retainedTail }),
        {
          transcript,
          pendingMessages: new Transcript(pending).range(),
        },
      );
      assert.deepEqual(ranges.outcome, lists.outcome);
    }
  }
});

test("what is appended to the host's arrays while a run is under way changes nothing", async () => {
  for (const end of [says("S"), DENIED]) {
    const arrays = () => ({
      messagesToSummarize: [...WORDS],
      retainedTail: [...WORDS],
      pendingMessages: [userOfTokens(5)],
      transcript: [...WORDS, ...WORDS],
    });
    const go = async (/** @type {boolean} */ grows) => {
      const { messagesToSummarize, retainedTail, ...more } = arrays();
      const step = () => {
        const late = { role: "user", content: "LATE ".repeat(200_000) };
        for (const list of [messagesToSummarize, retainedTail, ...Object.values(more)])
          if (grows) list.push(late);
        return end;
      };
      return (await recover(wide(step), prepared(messagesToSummarize, { retainedTail }), more)).outcome;
    };
    assert.equal(JSON.stringify(await go(true)), JSON.stringify(await go(false)));
  }
});

test("G12 recoveries beside one another do not touch one another", async () => {
  const alone = await Promise.all(RANGES.map(async (range) => (await recover(denied(), range)).outcome));
  const each = [];
  for (const range of RANGES) each.push((await recover(denied(), range)).outcome);
  assert.equal(JSON.stringify(alone), JSON.stringify(each));
});

test("what a listener throws is ignored", async () => {
  const onEvent = () => {
    throw new Error("mine");
  };
  for (const [by, kind] of /** @type {const} */ ([
    [wide("S"), "summary"],
    [denied(), "fallback"],
  ])) {
    assert.equal((await recover(by, SHORT, { onEvent })).outcome?.kind, kind);
  }
});
