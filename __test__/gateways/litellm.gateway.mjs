import assert from "node:assert/strict";
import test from "node:test";
import { prepared, run } from "../support/model.mjs";
import { answer, userOfTokens } from "../support/sound.mjs";
import { behind, eventsOf, ONCE_MORE, refused, setting, succeeded, WAYS } from "./gateway.mjs";
import { modelName, PROVIDERS } from "./litellm.mjs";
import { RETRY_AFTER, SMALL_WINDOW, SUMMARY } from "./upstream.mjs";
import { USAGE } from "./wire.mjs";

const SHORT = [{ role: "user", content: "Port the tokenizer." }, answer("The scanner is done.")];
/** Larger than the provider's real window, smaller than the stated one. */
const LONG = Array.from({ length: 24 }, () => userOfTokens(SMALL_WINDOW / 12));

/** LiteLLM speaks to either provider in its own format, and to us in the one that we ask for. */
const ALL = PROVIDERS.flatMap((provider) =>
  WAYS.map((way) => ({ ...way, provider, how: `${way.how}, ${provider} behind` })),
);

/** @param {typeof ALL[number]} way @param {string} behaviour @param {any} messages */
async function compact(way, behaviour, messages = SHORT) {
  const by = behind(setting("GATEWAY_LITELLM"), way, { id: modelName(way.provider, behaviour) });
  const before = await asked(behaviour);
  const outcome = await run(by, prepared(messages), { retry: ONCE_MORE });
  return { ...outcome, asked: (await asked(behaviour)) - before };
}

/** Requests that reached the provider. @param {string} behaviour @returns {Promise<number>} */
async function asked(behaviour) {
  const all = await (await fetch(`${setting("GATEWAY_UPSTREAM")}/asked`)).json();
  return all[behaviour] ?? 0;
}

for (const way of ALL) {
  test(`success: ${way.how}`, async () => {
    const outcome = await compact(way, "success");
    const { summary, usage, details } = succeeded(outcome);
    assert.ok(summary.startsWith(SUMMARY), summary);
    assert.deepEqual([usage.input, usage.output], [USAGE.input, USAGE.output]);
    assert.deepEqual([details.requests, outcome.asked], [1, 1]);
  });

  test(`a rate limit is waited for, then told: ${way.how}`, async () => {
    const outcome = await compact(way, "rate-limit");
    refused(outcome, { code: "summary_provider", status: 429, retryable: true, attempts: 2 });
    assert.equal(outcome.asked, 2);
    const [{ delayMs }] = eventsOf(outcome, "retry");
    // On messages LiteLLM passes the provider's word on to nobody.
    if (way.api !== "anthropic-messages") assert.ok(delayMs >= RETRY_AFTER * 1_000, `${delayMs}`);
  });

  test(`a quota is not waited for: ${way.how}`, async () => {
    const outcome = await compact(way, "quota");
    refused(outcome, { code: "summary_provider", status: 429, retryable: false, attempts: 1 });
    assert.equal(outcome.asked, 1);
  });

  test(`overload is tried again: ${way.how}`, async () => {
    const outcome = await compact(way, "overloaded");
    refused(outcome, { code: "summary_provider", retryable: true, attempts: 2 });
    assert.equal(outcome.asked, 2);
  });

  test(`a window smaller than stated is learned: ${way.how}`, async () => {
    const outcome = await compact(way, "small-window", LONG);
    const { summary, details } = succeeded(outcome);
    assert.ok(summary.startsWith(SUMMARY), summary);
    assert.equal(eventsOf(outcome, "replan").length, 1);
    assert.equal(details.shape, "chunks");
    assert.equal(outcome.asked, details.requests);
  });

  test(`a window too small for any plan: ${way.how}`, async () => {
    const outcome = await compact(way, "overflow", LONG);
    refused(outcome, { code: "context_overflow" });
    assert.ok(
      outcome.asked >= 1 && outcome.asked <= 3,
      `planned again at most twice, asked ${outcome.asked}`,
    );
  });

  test(`an answer that was cut: ${way.how}`, async () => {
    const outcome = await compact(way, "length");
    refused(outcome, { code: "summary_incomplete" });
    assert.equal(outcome.asked, 1);
  });
}

/** Where the provider's stream has no end LiteLLM makes one up, but for these. What it made up nobody can see. */
const showsTheCut = (/** @type {typeof ALL[number]} */ { api, provider }) =>
  api === "anthropic-messages" || (api === "openai-responses" && provider === "openai");

for (const way of ALL.filter(({ stream }) => stream)) {
  test(`an error inside the stream: ${way.how}`, async () => {
    const outcome = await compact(way, "stream-error");
    refused(outcome, { code: "summary_provider", retryable: true, attempts: 2 });
    assert.equal(outcome.asked, 2);
  });

  test(`a stream without an end: ${way.how}`, {
    skip: !showsTheCut(way) && "LiteLLM makes an end up",
  }, async () => {
    const outcome = await compact(way, "cut-stream");
    refused(outcome, { code: "summary_provider", retryable: true, attempts: 2 });
    assert.equal(outcome.asked, 2);
  });
}
