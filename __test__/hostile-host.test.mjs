import assert from "node:assert/strict";
import test from "node:test";
import { CompactionError, generateCompaction } from "../index.js";

const budget = { hardLimit: 100_000, requestHeadroom: 10_000 };
const messagesToSummarize = [{ role: "user", content: "go" }];
const model = { provider: "p", id: "m", contextWindow: 100_000 };

/** @param {any} request @param {string} code */
async function rejects(request, code) {
  const defaults = { preparation: { messagesToSummarize }, budget, summarizer: { kind: "extractive" } };
  await assert.rejects(generateCompaction({ ...defaults, ...request }), (error) => {
    assert.ok(error instanceof CompactionError);
    assert.equal(error.code, code, error.message);
    assert.doesNotMatch(error.message, /secret/);
    return true;
  });
}

test("whatever a client throws, the promise settles and the process lives", async () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const unreadable = {
    get message() {
      throw new Error("secret");
    },
  };
  for (const thrown of [proxy, unreadable, undefined, null, Symbol("secret"), Object.create(null)]) {
    const complete = () => {
      throw thrown;
    };
    const summarizer = { kind: "callback", model, complete };
    await rejects({ summarizer, retry: { enabled: false } }, "summary_provider");
  }
});

test("a getter of the preparation that throws rejects", async () => {
  const preparation = {
    messagesToSummarize,
    get retainedTail() {
      throw new Error("secret");
    },
  };
  await rejects({ preparation }, "invalid_argument");
});

test("jitter from a source that is none is no jitter", async () => {
  for (const number of [Number.NaN, Number.POSITIVE_INFINITY, -1, 1e300, "x"]) {
    const complete = () => {
      throw Object.assign(new Error("busy"), { status: 503 });
    };
    const retry = { maxRetries: 1, baseDelayMs: 1, jitter: 1, random: () => number };
    await rejects({ summarizer: { kind: "callback", model, complete }, retry }, "summary_provider");
  }
});

test("paths of the host's record that are none are refused", async () => {
  for (const read of ["a.ts", [5], [undefined], [{}]]) {
    await rejects({ preparation: { messagesToSummarize, fileOps: { read } } }, "invalid_argument");
  }
});
