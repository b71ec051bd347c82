// Requests as hosts hold them: instances of classes, lists with holes, proxies of a store.

import assert from "node:assert/strict";
import test from "node:test";
import * as native from "../index.js";
import { prepared, says, windowed } from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import { DENIED, denied, recover } from "./support/recovery.mjs";
import { answer } from "./support/sound.mjs";

// The typings refuse some of this; a host in plain JavaScript has no typings.
/** @type {any} */
const { compactWithRecovery, contextBudget, generateCompaction, importCache, CompactionError } = native;

const WORDS = frozen([{ role: "user", content: "Port the tokenizer." }, answer("The scanner is done.")]);
const SHORT = frozen(prepared(WORDS));
const TAIL = frozen([{ role: "user", content: "And the docs." }]);
const RECORD = frozen({ summary: "OLD", details: { generation: 4, readFiles: ["a.ts"] } });
const asked = () => windowed(200_000, 32_000, ["SUMMARY"]);

class Budget {
  #limits = contextBudget({ contextWindow: 200_000, maxTokens: 32_000 });
  get hardLimit() {
    return this.#limits.hardLimit;
  }
  get requestHeadroom() {
    return this.#limits.requestHeadroom;
  }
  get keepRecentTokens() {
    return this.#limits.keepRecentTokens;
  }
}

class Preparation {
  #messages = WORDS;
  #kept = "entry 7";
  get messagesToSummarize() {
    return this.#messages;
  }
  get turnPrefixMessages() {
    return [];
  }
  get isSplitTurn() {
    return false;
  }
  get retainedTail() {
    return TAIL;
  }
  get firstKeptEntryId() {
    return this.#kept;
  }
  get tokensBefore() {
    return 77;
  }
  get previousSummary() {
    return "EARLIER";
  }
  get settings() {
    return { keepRecentTokens: 9_000 };
  }
}

class Client {
  #answer;
  asked = 0;
  /** @param {any} answer */
  constructor(answer) {
    this.#answer = answer;
  }
  get kind() {
    return "callback";
  }
  get model() {
    return { provider: "test", id: "scripted", contextWindow: 200_000, maxTokens: 32_000 };
  }
  async complete() {
    this.asked++;
    return this.#answer;
  }
}

class Record {
  #summary = RECORD.summary;
  get summary() {
    return this.#summary;
  }
  get details() {
    return RECORD.details;
  }
}

class Request {
  #more;
  /** @type {string[]} */
  heard = [];
  #budget = new Budget();
  #preparation = new Preparation();
  /** @param {any} more */
  constructor(more) {
    this.#more = more;
  }
  get budget() {
    return this.#budget;
  }
  get preparation() {
    return this.#preparation;
  }
  get summarizer() {
    return this.#more.summarizer;
  }
  get previousCheckpoint() {
    return this.#more.previousCheckpoint;
  }
  get reason() {
    return this.#more.reason;
  }
  get strategy() {
    return this.#more.strategy;
  }
  get leafIsCheckpoint() {
    return this.#more.leafIsCheckpoint;
  }
  get retry() {
    return { enabled: false };
  }
  /** @param {any} event */
  onEvent(event) {
    this.heard.push(event.type);
  }
}

/** The same request as plain objects. @param {any} more */
function plain(more) {
  const { hardLimit, requestHeadroom, keepRecentTokens } = new Budget();
  const names =
    "messagesToSummarize turnPrefixMessages isSplitTurn retainedTail firstKeptEntryId tokensBefore";
  const given = /** @type {any} */ (new Preparation());
  const fields = [...names.split(" "), "previousSummary", "settings"].map((name) => [name, given[name]]);
  return {
    ...more,
    budget: { hardLimit, requestHeadroom, keepRecentTokens },
    preparation: Object.fromEntries(fields),
    retry: { enabled: false },
  };
}

/** All that may differ in how a request ends. */
function* variants() {
  for (const reply of [says("SUMMARY"), DENIED]) {
    for (const strategy of ["chain", "refine", undefined]) {
      for (const leafIsCheckpoint of [true, false, undefined]) {
        for (const previousCheckpoint of [undefined, new Record()]) {
          yield { reply, strategy, leafIsCheckpoint, previousCheckpoint, reason: "threshold" };
        }
      }
    }
  }
}

test("instances with accessors and private fields end as plain objects do, the leaf a checkpoint or not", async () => {
  for (const { reply, ...more } of variants()) {
    const title = JSON.stringify({ ...more, reply: reply.stopReason });
    const client = new Client(reply);
    const request = new Request({ ...more, summarizer: client });
    const outcome = await compactWithRecovery(request);
    const expected = await compactWithRecovery(plain({ ...more, summarizer: new Client(reply) }));
    assert.ok(outcome.checkpoint, `${title}: ${outcome.error}`);
    assert.equal(JSON.stringify(outcome), JSON.stringify(expected), title);
    assert.equal(outcome.checkpoint.firstKeptEntryId, "entry 7", title);
    assert.equal(outcome.checkpoint.tokensBefore, 77, title);
    assert.equal(client.asked, more.leafIsCheckpoint ? 0 : 1, title);
    assert.ok(request.heard.length > 0, "the listener is the instance's own");
    const defaults = plain({ ...more, summarizer: new Client(reply) });
    const inherited = await compactWithRecovery(Object.create(defaults));
    assert.equal(JSON.stringify(inherited), JSON.stringify(expected), `${title}, inherited`);
  }
});

test("an instance is a request of generateCompaction as well", async () => {
  for (const strategy of ["chain", "refine"]) {
    const request = new Request({ strategy, summarizer: new Client(says("SUMMARY")) });
    const result = await generateCompaction(request);
    const expected = await generateCompaction(plain({ strategy, summarizer: new Client(says("SUMMARY")) }));
    assert.equal(JSON.stringify(result), JSON.stringify(expected));
  }
});

/** What a host's getters throw, its own reasons for not being read. */
const THROWN = [new Error("boom"), 5, "text", null, undefined, Object.freeze({})];

test("a request whose signal cannot be read is refused with what was thrown, and nothing is sent", async () => {
  for (const thrown of THROWN) {
    const hostile = () => {
      throw thrown;
    };
    for (const call of [generateCompaction, compactWithRecovery]) {
      const by = asked();
      const whole = {
        preparation: SHORT,
        reason: "threshold",
        budget: new Budget(),
        summarizer: by.summarizer,
      };
      for (const request of [
        Object.defineProperty({ ...whole }, "signal", { get: hostile }),
        { ...whole, signal: new Proxy({}, { get: hostile }) },
        { ...whole, signal: Object.defineProperty({}, "aborted", { get: hostile }) },
        new Proxy(whole, { get: hostile }),
        new Proxy({}, { get: hostile }),
      ]) {
        const promise = call(request);
        assert.ok(promise instanceof Promise);
        await assert.rejects(promise, (/** @type {any} */ error) => {
          assert.ok(error instanceof CompactionError, `${typeof error}`);
          assert.equal(error.code, "invalid_argument");
          if (thrown !== undefined) assert.equal(error.cause, thrown);
          return true;
        });
      }
      assert.equal(by.calls.length, 0);
    }
  }
});

test("details that are no plain record are not read at all, and that is told", async () => {
  class Details {
    generation = 7;
    readFiles = ["a.ts"];
    modifiedFiles = ["b.ts"];
  }
  const list = Object.assign([1], { generation: 7, readFiles: ["a.ts"], modifiedFiles: ["b.ts"] });
  const made = Object.assign(new Map(), { generation: 7, readFiles: ["a.ts"], modifiedFiles: ["b.ts"] });
  const word = Object.assign(() => {}, { generation: 7, readFiles: ["a.ts"], modifiedFiles: ["b.ts"] });
  for (const details of [new Details(), list, made, word, new Date(7)]) {
    for (const by of [asked, denied]) {
      const { outcome, events } = await recover(by(), SHORT, {
        previousCheckpoint: { summary: "OLD", details },
      });
      const { generation, readFiles, modifiedFiles } = outcome.checkpoint.details;
      assert.deepEqual([generation, readFiles, modifiedFiles], [2, [], []]);
      const [told] = outcome.report.warnings;
      assert.match(told, /details .*not used/);
      assert.ok(events.some(({ type, message }) => type === "warning" && message === told));
    }
  }
});

test("holes are no items: secrets are refused by name, files of details are told of, entries of a cache refused", async () => {
  const holes = [new Array(2), Object.assign(new Array(2), { 1: "a" }), Object.assign(["a"], { length: 2 })];
  for (const secrets of holes) {
    for (const by of [asked(), denied()]) {
      const { outcome, error, calls } = await recover(by, SHORT, { secrets });
      assert.equal(outcome, undefined);
      assert.equal(error.code, "invalid_argument");
      assert.match(error.message, /^request\.secrets: /);
      assert.equal(calls.length, 0);
    }
  }
  for (const files of holes) {
    for (const field of ["readFiles", "modifiedFiles"]) {
      const previousCheckpoint = { summary: "OLD", details: { generation: 3, [field]: files } };
      for (const by of [asked, denied]) {
        const { outcome } = await recover(by(), SHORT, { previousCheckpoint });
        assert.ok(outcome?.checkpoint, `${outcome?.error}`);
        assert.deepEqual(outcome.checkpoint.details[field], []);
        assert.equal(outcome.checkpoint.details.generation, 4, "the rest is used");
        assert.match(outcome.report.warnings[0], new RegExp(`details\\.${field} .*not used`));
      }
    }
  }
  for (const entries of [new Array(2), Object.assign(new Array(2), { 1: { key: "k", summary: "s" } })]) {
    assert.throws(() => importCache({ version: 1, entries }), { code: "invalid_argument" });
  }
});

test("lists that are proxies of a store are lists: secrets, and files of details", async () => {
  const stored = (/** @type {any} */ list) => new Proxy(list, {});
  const details = stored({ generation: 3, readFiles: stored(["a.ts"]), modifiedFiles: stored(["b.ts"]) });
  const previousCheckpoint = stored({ summary: "the TOP-SECRET key", details });
  for (const by of [asked, denied]) {
    const { outcome, error } = await recover(by(), SHORT, {
      secrets: stored(["TOP-SECRET"]),
      previousCheckpoint,
    });
    assert.equal(error, undefined, `${error}`);
    const { readFiles, modifiedFiles, generation } = outcome.checkpoint.details;
    assert.deepEqual([readFiles, modifiedFiles, generation], [["a.ts"], ["b.ts"], 4]);
    assert.ok(!outcome.checkpoint.summary.includes("TOP-SECRET"));
  }
});
