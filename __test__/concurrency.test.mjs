import assert from "node:assert/strict";
import test from "node:test";
import { generateCompaction, Transcript } from "../index.js";
import { after, client, conversationOf, failed, holds, prepared, run, says } from "./support/model.mjs";
import { outputOf } from "./support/process.mjs";
import { frozen, random } from "./support/random.mjs";
import { toolCalls, userOfTokens } from "./support/sound.mjs";

const MANY = 50;
const token = (/** @type {number} */ index) => `⟦run ${index}⟧`;

/** A range with its token in every message. @param {number} index @param {number} messages */
function range(index, messages) {
  const content = `${token(index)} ${"x".repeat(3_000)}`;
  return frozen(Array.from({ length: messages }, () => ({ role: "user", content })));
}

/** Answers with the tokens of what it was asked. @param {any} call */
function echo({ prompt }) {
  const tokens = [...new Set(prompt.match(/⟦run \d+⟧/g))];
  return says(`about ${tokens.join(" and ")}`);
}

const SMALL = frozen({ contextWindow: 32_768, maxTokens: 8_192 });

/** A step that answers after a random while. @param {number} seed @returns {(call: any) => any} */
function shuffled(seed) {
  const rng = random(seed);
  return (call) => {
    const later = /** @type {(call: any) => any} */ (after(rng.between(0, 12), echo));
    return later(call);
  };
}

/** A client whose answers come back in any order. @param {number} seed */
const scattered = (seed) => client([shuffled(seed)], SMALL);

test("G12 50 compactions at once: each summary is of its own range and no other", async () => {
  const shared = scattered(1);
  const runs = Array.from({ length: MANY }, (_, index) => {
    const by = index % 2 ? shared : scattered(index);
    return run(by, prepared(range(index, 1 + (index % 4) * 30)));
  });
  for (const [index, { result, error, events }] of (await Promise.all(runs)).entries()) {
    assert.equal(error, undefined);
    assert.equal(result.summary, `about ${token(index)}`);
    assert.equal(events.filter(({ type }) => type === "request").length, result.details.requests);
    assert.equal(events.at(-1).type, "done");
  }
});

test("G12 50 compactions of one preparation: the same answer fifty times", async () => {
  const preparation = frozen(prepared(range(7, 60)));
  const runs = Array.from({ length: MANY }, (_, index) => run(scattered(index), preparation));
  const summaries = new Set((await Promise.all(runs)).map(({ result }) => result.summary));
  assert.deepEqual([...summaries], [`about ${token(7)}`]);
});

test("G12 one transcript, ranges of it at once, and edits in between", async () => {
  const transcript = new Transcript();
  const runs = [];
  for (let index = 0; index < MANY; index++) {
    const start = transcript.length;
    transcript.append(...range(index, 3));
    runs.push(
      run(
        scattered(index),
        prepared(/** @type {any} */ (transcript.range(start)), { turnPrefixMessages: undefined }),
      ),
    );
    if (index % 10 === 9) transcript.truncate(start);
  }
  for (const [index, { result, error }] of (await Promise.all(runs)).entries()) {
    assert.equal(error, undefined);
    assert.equal(result.summary, `about ${token(index)}`);
  }
});

test("G12 some aborted, some failed: the others go on, every promise settles once", async () => {
  const settled = Array.from({ length: MANY }, () => 0);
  const runs = settled.map((_, index) => {
    const controller = new AbortController();
    const kind = index % 4;
    const step = kind === 1 ? holds : kind === 2 ? failed("401") : shuffled(index);
    const by = client([step], SMALL);
    if (kind === 1) setTimeout(() => controller.abort(token(index)), index % 20);
    const budget = { hardLimit: 16_384, requestHeadroom: 16_384 };
    const request = {
      preparation: prepared(range(index, 40)),
      budget,
      summarizer: by.summarizer,
      signal: controller.signal,
    };
    const count = (/** @type {any} */ value) => {
      settled[index]++;
      return value;
    };
    return generateCompaction(/** @type {any} */ (request)).then(count, count);
  });
  const outcomes = await Promise.all(runs);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(
    settled,
    settled.map(() => 1),
  );
  for (const [index, outcome] of outcomes.entries()) {
    if (index % 4 === 1) assert.equal(outcome, token(index));
    else if (index % 4 === 2) assert.equal(outcome.code, "summary_provider");
    else assert.equal(outcome.summary, `about ${token(index)}`);
  }
});

test("G12 a compaction inside the callback of another", async () => {
  const inner = client([echo]);
  const outer = client([
    async (/** @type {any} */ call) => {
      const nested = await run(inner, prepared(range(2, 1)));
      return says(`${echo(call).content[0].text}; ${nested.result.summary}`);
    },
  ]);
  const { result } = await run(outer, prepared(range(1, 1)));
  assert.equal(result.summary, `about ${token(1)}; about ${token(2)}`);
});

test("rule 6 the main thread turns its event loop while a large compaction is planned", async () => {
  const words = `${"word ".repeat(400)}</conversation> sk-live-1 😀 `;
  const messages = frozen(toolCalls(6_000, words.repeat(3)).concat(userOfTokens(10)));
  let turns = 0;
  let asked = false;
  const answer = () => {
    asked = true;
    return says("S");
  };
  const by = client([answer], { contextWindow: 1_000_000, maxTokens: 8_192 });
  const budget = { hardLimit: 950_000, requestHeadroom: 50_000 };
  const request = {
    preparation: prepared(messages),
    budget,
    summarizer: by.summarizer,
    secrets: ["sk-live-1"],
  };
  const running = generateCompaction(/** @type {any} */ (request));
  const count = () => {
    if (asked) return;
    turns++;
    setImmediate(count);
  };
  setImmediate(count);
  await running;
  assert.ok(conversationOf(by.calls[0].prompt).length > 100_000);
  assert.ok(turns >= 20, `${turns} turns`);
});

test("pitfalls 19 loaded in a worker only, terminated in mid-callback, thirty times", {
  timeout: 120_000,
}, async () => {
  const { code, stdout, stderr } = await outputOf("terminated-workers.mjs");
  assert.equal(code, 0, stderr || String(code));
  assert.match(stdout, /30 workers terminated\n$/);
});

test("pitfalls 12 a process with nothing left to do ends, whatever was aborted", {
  timeout: 120_000,
}, async () => {
  const { code, stdout, stderr } = await outputOf("ends-by-itself.mjs");
  assert.equal(code, 0, stderr || String(code));
  assert.match(stdout, /^(done|aborted|failed|extractive)(,(done|aborted|failed|extractive)){3}\n$/);
});

test("pitfalls 10 process.exit in mid-callback, with a worker under way, ten times", {
  timeout: 120_000,
}, async () => {
  for (let i = 0; i < 10; i++) {
    const { code, stdout, stderr } = await outputOf("exits-in-callback.mjs");
    assert.equal(code, 0, stderr || String(code));
    assert.equal(stdout, "leaving\n");
  }
});

test("pitfalls 12 a process waits for a compaction under way", { timeout: 120_000 }, async () => {
  const { code, stdout } = await outputOf("waits-for-backoff.mjs");
  assert.equal(code, 0);
  assert.equal(stdout, "SUMMARY after 2 requests\n");
});
