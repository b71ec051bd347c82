import assert from "node:assert/strict";
import test from "node:test";
import { serializeConversation } from "../index.js";
import { asked } from "./support/http.mjs";
import { conversationOf, failed, prepared, previousOf, says } from "./support/model.mjs";
import { frozen } from "./support/random.mjs";
import {
  chunkCalls,
  eventsOf,
  isCompression,
  lineage,
  marksOf,
  modelOf,
  recordOf,
  refined,
  turns,
  upTo,
} from "./support/refine.mjs";

const STATED = frozen({ contextWindow: 65_536, maxTokens: 8_192 });
const REAL = 9_000;
/** Units of a token as this provider counts. */
const DENSITY = 2.5;
const TURNS = frozen(turns(60, 3_000));

/** Without a number it can only be guessed, twice. */
const GUESSED = 20_000;

/** How a provider says it, and its real window. @type {Record<string, [(tokens: number) => string, number]>} */
const WORDINGS = {
  "with numbers": [(tokens) => `prompt is too long: ${tokens} tokens > ${REAL} maximum`, REAL],
  "with numbers, otherwise": [
    (tokens) =>
      `This model's maximum context length is ${REAL} tokens. However, your messages resulted in ${tokens} tokens.`,
    REAL,
  ],
  "by a code": [() => "context_length_exceeded", GUESSED],
  "in words": [() => "Your input exceeds the context window of this model.", GUESSED],
};

/** @param {any} made */
const tokensOf = ({ system, prompt }) => Math.ceil((system.length + prompt.length) / DENSITY);

/**
 * A model whose real window is smaller than stated.
 *
 * @param {(tokens: number) => string} wording @param {number} real
 */
const narrow = (wording, real) =>
  modelOf((made) => (tokensOf(made) > real ? failed(wording(tokensOf(made))) : `S${made.index}`), STATED);

for (const [title, [wording, real]] of Object.entries(WORDINGS)) {
  test(`openclaw#80641 pi#5511 a smaller window than stated is learned, said ${title}`, async () => {
    const { result, error, calls, events } = await refined(narrow(wording, real), prepared(TURNS));
    assert.equal(error, undefined, `${error}`);
    const replans = eventsOf(events, "replan");
    assert.ok(replans.length >= 1 && replans.length <= 2, `${replans.length}`);
    assert.equal(recordOf(calls), serializeConversation(TURNS));
    const refused = calls.filter((made) => tokensOf(made) > real);
    assert.equal(refused.length, replans.length);
    assert.equal(new Set(calls.map(({ prompt }) => prompt)).size, calls.length, "never sent again as it was");
    const last = replans[replans.length - 1];
    const later = calls.slice(calls.indexOf(refused[refused.length - 1]) + 1);
    const requests = eventsOf(events, "request").slice(-later.length);
    for (const { promptTokens } of requests)
      assert.ok(promptTokens <= last.promptLimit, "within what was learned");
    assert.equal(result.details.requests, calls.length);
    assert.equal(eventsOf(events, "retry").length, 0);
  });
}

test("omp PR#8920 an overflow is met three times and no more", async () => {
  for (const [wording] of Object.values(WORDINGS)) {
    const { error, calls, events } = await refined(
      modelOf((made) => failed(wording(tokensOf(made))), STATED),
      prepared(TURNS),
      { isRetryable: () => true },
    );
    assert.ok(["context_overflow", "summary_budget"].includes(error?.code), `${error}`);
    assert.ok(calls.length <= 3);
    assert.ok(eventsOf(events, "replan").length <= 2);
    const sizes = calls.map(({ prompt }) => prompt.length);
    assert.deepEqual(
      sizes,
      sizes.toSorted((a, b) => b - a),
      "each smaller than the one before",
    );
  }
});

test("what was summarized before the overflow stays summarized", async () => {
  const shrinks = modelOf((made) => {
    const tokens = tokensOf(made);
    return made.index > 1 && tokens > REAL ? failed(WORDINGS["with numbers"][0](tokens)) : `S${made.index}`;
  }, STATED);
  const { result, error, calls } = await refined(shrinks, prepared(TURNS), {
    mainModel: { contextWindow: 400_000 },
  });
  assert.equal(error, undefined, `${error}`);
  assert.equal(previousOf(calls[3].prompt), "S1", "carried on");
  assert.equal(recordOf(calls), serializeConversation(TURNS));
  assert.equal(lineage(calls, result.summary)[0], calls[0]);
});

test("an overflow in the second half of a split chunk does not bring the first half back", async () => {
  const first = new Set();
  const rule = (/** @type {any} */ made) => {
    const marks = marksOf(conversationOf(made.prompt));
    if (first.size === 0 && marks.length > 8) return says("cut", { stopReason: "length" });
    if (marks.at(-1) === 15 && marks.length > 7) return failed("context_length_exceeded");
    for (const mark of marks) first.add(mark);
    return `S${made.index}`;
  };
  const messages = turns(16, 2_500);
  const { result, error, calls, events } = await refined(modelOf(rule, STATED), prepared(messages));
  assert.equal(error, undefined, `${error}`);
  assert.ok(eventsOf(events, "split").length >= 1 && eventsOf(events, "replan").length >= 1);
  const chain = lineage(calls, result.summary).map(({ prompt }) => conversationOf(prompt));
  assert.deepEqual(chain.flatMap(marksOf), upTo(16));
  assert.equal(recordOf(calls), serializeConversation(messages));
});

test("an overflow of a compression is a warning, not a plan", async () => {
  const rule = (/** @type {any} */ made) =>
    isCompression(made) ? failed("context_length_exceeded") : `S${made.index} `.padEnd(16_000, "s").trim();
  const { error, events } = await refined(modelOf(rule, STATED), prepared(TURNS), {
    mainModel: { contextWindow: 400_000 },
  });
  assert.equal(error, undefined, `${error}`);
  assert.ok(eventsOf(events, "warning").length > 0);
  assert.equal(eventsOf(events, "replan").length, 0);
});

/** A model whose window is smaller than stated, told so by the first chunk. @param {string} wording @param {string} shorter */
function overflowsOnce(wording, shorter) {
  let told = false;
  const rule = (/** @type {any} */ made) => {
    if (isCompression(made)) return shorter;
    if (told) return `S${made.index}`;
    told = true;
    return failed(wording);
  };
  return modelOf(rule, { contextWindow: 32_768, maxTokens: 8_192 });
}

test("an overflow behind a compression goes on from the compressed summary, whole", async () => {
  const messages = turns(16, 2_500);
  for (const [units, length] of [
    [16_000, 3_000],
    [25_000, 3_000],
    [25_000, 9_000],
  ]) {
    const previousSummary = `HEAD ${"p".repeat(units)} TAIL`;
    const shorter = `COMPRESSED ${"c".repeat(length)} END`;
    for (const wording of [
      "prompt is too long: 12000 tokens > 9000 maximum",
      "prompt is too long: 12000 tokens > 11000 maximum",
      "context_length_exceeded",
    ]) {
      const title = `${units} to ${length}: ${wording}`;
      const by = overflowsOnce(wording, shorter);
      const { result, error, calls, events } = await refined(by, prepared(messages, { previousSummary }));
      assert.equal(error, undefined, `${title}: ${error}`);
      assert.ok(isCompression(calls[0]));
      for (const made of calls.slice(1)) {
        const carried = previousOf(made.prompt) ?? "";
        assert.ok(!carried.includes("ppp"), `${title}: the long summary is back`);
      }
      const [first] = chunkCalls(calls);
      assert.equal(previousOf(first.prompt), shorter, `${title}: nothing of it is lost`);
      assert.ok(eventsOf(events, "replan").length >= 1);
      const warned = eventsOf(events, "warning").map(({ message }) => message);
      assert.ok(!warned.some((message) => /is cut/.test(message)), `${title}: ${warned}`);
      assert.equal(result.details.shrinkCount, 1);
      assert.equal(recordOf(calls), serializeConversation(messages));
    }
  }
});

test("by http: the loop, a cut-off answer, an overflow and what was kept are the same as with a host's client", async (t) => {
  const model = { contextWindow: 32_768, maxTokens: 8_192 };
  const steps = [(/** @type {any} */ { index }) => `S${index}`];
  const more = {
    model,
    strategy: "refine",
    retry: { baseDelayMs: 1 },
    mainModel: { contextWindow: 131_072 },
  };
  const preparation = prepared(TURNS);
  for (const api of /** @type {const} */ (["openai-completions", "anthropic-messages"])) {
    const request = { ...more, preparation, sessionId: `by ${api}` };
    const { result, error, requests } = await asked(t, { api }, steps, request);
    assert.equal(error, undefined, `${error}`);
    assert.ok(requests.length >= 4);
    assert.equal(
      requests.map(({ prompt }) => conversationOf(prompt)).join("\n\n"),
      serializeConversation(TURNS),
    );
    for (const [index, { prompt }] of requests.entries()) {
      assert.equal(previousOf(prompt), index === 0 ? undefined : `S${index - 1}`);
    }
    assert.equal(result.details.summarizer, "http");
    assert.equal(result.details.strategy, "refine");
    const again = await asked(t, { api }, steps, request);
    assert.deepEqual([again.requests.length, again.result.details.cacheHits], [0, requests.length]);
    assert.equal(again.result.summary, result.summary);
  }
});
