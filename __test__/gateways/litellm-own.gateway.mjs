// What LiteLLM says by itself, with no provider behind it.

import assert from "node:assert/strict";
import test from "node:test";
import { prepared, run } from "../support/model.mjs";
import { answer } from "../support/sound.mjs";
import { behind, ONCE_MORE, refused, setting, succeeded, WAYS } from "./gateway.mjs";
import { modelName } from "./litellm.mjs";
import { SUMMARY } from "./upstream.mjs";

const SHORT = prepared([{ role: "user", content: "Port the tokenizer." }, answer("The scanner is done.")]);

/** @param {typeof WAYS[number]} way @param {string} id @param {object} more of the summarizer */
function compact(way, id, more = {}) {
  const by = behind(setting("GATEWAY_LITELLM"), way, { id });
  Object.assign(by.summarizer, more);
  return run(by, SHORT, { retry: ONCE_MORE });
}

// On responses its own answers are broken: errors come back as text, a stream as an error.
const ownAnswers = WAYS.filter(({ api }) => api !== "openai-responses");

for (const way of ownAnswers) {
  // On messages it answers in one piece what was to be streamed.
  test(`its own answer: ${way.how}`, async () => {
    assert.ok(succeeded(await compact(way, modelName("mock", "success"))).summary.startsWith(SUMMARY));
  });

  test(`its own rate limit: ${way.how}`, async () => {
    const outcome = await compact(way, modelName("mock", "rate-limit"));
    refused(outcome, { code: "summary_provider", status: 429, retryable: true, attempts: 2 });
  });

  test(`its own overflow, without numbers: ${way.how}`, async () => {
    // No prompt is sent twice.
    refused(await compact(way, modelName("mock", "overflow")), { code: "context_overflow", attempts: 1 });
  });
}

for (const way of WAYS) {
  test(`an unknown model is not tried again: ${way.how}`, async () => {
    const outcome = await compact(way, "no-such-model");
    refused(outcome, { code: "summary_provider", status: 400, retryable: false, attempts: 1 });
  });

  test(`a wrong key is not tried again and not told: ${way.how}`, async () => {
    const apiKey = "sk-wrong-key-of-a-person";
    const error = refused(await compact(way, modelName("openai", "success"), { apiKey }), {
      code: "summary_provider",
    });
    assert.deepEqual([error.retryable, error.attempts], [false, 1]);
    assert.ok(!`${error.stack}${JSON.stringify(error)}`.includes(apiKey));
  });
}
