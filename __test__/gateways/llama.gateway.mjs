import assert from "node:assert/strict";
import test from "node:test";
import { prepared, run } from "../support/model.mjs";
import { answer } from "../support/sound.mjs";
import { behind, eventsOf, ONCE_MORE, refused, setting, succeeded, WAYS } from "./gateway.mjs";

/** The model's words: it says these, whatever it is asked. */
const SPOKEN =
  "The scanner is ported and its tests pass . Next comes the benchmark : measure each stage , " +
  "compare with before then write down what was found";
const WORDS = SPOKEN.split(" ").length;
const WINDOW = Number(setting("GATEWAY_LLAMA_WINDOW"));

const SHORT = prepared([{ role: "user", content: "Port the tokenizer." }, answer("The scanner is done.")]);
/** Each of the model's words is one of its tokens; other text costs it a token a byte. */
const PARAGRAPH = ` ${SPOKEN}`.repeat(20);
const LONG = prepared(
  Array.from({ length: Math.ceil((2 * WINDOW) / (20 * WORDS)) }, () => ({
    role: "user",
    content: PARAGRAPH,
  })),
);

/** @param {typeof WAYS[number]} way @param {any} preparation @param {object} model */
function compact(way, preparation, model = {}) {
  const by = behind(setting("GATEWAY_LLAMA"), way, { id: "tiny", ...model });
  return run(by, preparation, { retry: ONCE_MORE });
}

for (const way of WAYS) {
  test(`success: ${way.how}`, async () => {
    const { summary, usage, details } = succeeded(await compact(way, SHORT));
    assert.ok(summary.trimStart().startsWith(SPOKEN), summary);
    // One token more: the model's end.
    assert.equal(usage.output, WORDS + 1);
    assert.ok(usage.input + usage.cacheRead > 0, JSON.stringify(usage));
    assert.equal(details.requests, 1);
  });

  test(`a window smaller than stated is learned: ${way.how}`, async () => {
    const outcome = await compact(way, LONG);
    const { summary, details } = succeeded(outcome);
    assert.ok(summary.trimStart().startsWith(SPOKEN), summary);
    assert.ok(eventsOf(outcome, "replan").length >= 1);
    assert.equal(details.shape, "chunks");
  });

  test(`an answer that was cut: ${way.how}`, async () => {
    // On responses the server calls it completed; that it took all it was allowed gives it away.
    refused(await compact(way, SHORT, { maxTokens: 16 }), { code: "summary_incomplete" });
  });

  test(`a wrong key is not tried again and not told: ${way.how}`, async () => {
    const by = behind(setting("GATEWAY_LLAMA"), way, { id: "tiny" });
    by.summarizer.apiKey = "sk-wrong-key-of-a-person";
    const error = refused(await run(by, SHORT, { retry: ONCE_MORE }), {
      code: "summary_provider",
      status: 401,
    });
    assert.deepEqual([error.retryable, error.attempts], [false, 1]);
    assert.ok(!`${error.stack}${JSON.stringify(error)}`.includes(by.summarizer.apiKey));
  });
}
