// Tokens and cost: of each format, summed over every request that was billed.

import assert from "node:assert/strict";
import test from "node:test";
import { asked, FORMS, inEachForm, inEachFormat, LONG, SMALL } from "./support/http.mjs";
import { sse } from "./support/wire.mjs";
import { eventsOf, plainOf } from "./support/wire-answers.mjs";

const COST = frozenCost();

function frozenCost() {
  const tiers = [
    { inputTokensAbove: 100_000, input: 8, output: 80, cacheRead: 0.8, cacheWrite: 10 },
    { inputTokensAbove: 10_000, input: 4, output: 40, cacheRead: 0.4, cacheWrite: 5 },
  ];
  return { input: 2, output: 20, cacheRead: 0.2, cacheWrite: 2.5, tiers };
}

/** Reports that all say: 600 read anew, 300 from the cache, 100 written to it, 50 out, 40 of them thinking. */
const REPORTS = /** @type {Record<string, (scale: number) => any>} */ ({
  "openai-completions": (k) => ({
    prompt_tokens: 1_000 * k,
    completion_tokens: 50 * k,
    total_tokens: 1_050 * k,
    prompt_tokens_details: { cached_tokens: 300 * k, cache_write_tokens: 100 * k },
    completion_tokens_details: { reasoning_tokens: 40 * k },
  }),
  "openai-responses": (k) => ({
    input_tokens: 1_000 * k,
    input_tokens_details: { cached_tokens: 300 * k, cache_write_tokens: 100 * k },
    output_tokens: 50 * k,
    output_tokens_details: { reasoning_tokens: 40 * k },
    total_tokens: 1_050 * k,
  }),
  "anthropic-messages": (k) => ({
    input_tokens: 600 * k,
    output_tokens: 50 * k,
    cache_read_input_tokens: 300 * k,
    cache_creation_input_tokens: 100 * k,
    output_tokens_details: { thinking_tokens: 40 * k },
  }),
  "google-generative-ai": (k) => ({
    promptTokenCount: 1_000 * k,
    cachedContentTokenCount: 300 * k,
    candidatesTokenCount: 10 * k,
    thoughtsTokenCount: 40 * k,
    totalTokenCount: 1_050 * k,
  }),
});

/** What such a report comes to. Google knows no writes. @param {string} api @param {number} k @param {any} rates */
function expected(api, k, rates) {
  const cacheWrite = api === "google-generative-ai" ? 0 : 100 * k;
  const input = api === "google-generative-ai" ? 700 * k : 600 * k;
  const tokens = { input, output: 50 * k, cacheRead: 300 * k, cacheWrite };
  const cost = {
    input: (input * rates.input) / 1e6,
    output: (50 * k * rates.output) / 1e6,
    cacheRead: (300 * k * rates.cacheRead) / 1e6,
    cacheWrite: (cacheWrite * rates.cacheWrite) / 1e6,
  };
  return { ...tokens, reasoning: 40 * k, totalTokens: 1_050 * k, cost };
}

/** @param {any} usage @param {any} wanted @param {string} title */
function assertUsage(usage, { cost, ...tokens }, title = "") {
  const { cost: given, ...rest } = usage;
  assert.deepEqual(rest, tokens, title);
  for (const [field, value] of Object.entries(cost)) {
    assert.ok(
      Math.abs(given[field] - /** @type {number} */ (value)) < 1e-9,
      `${title} ${field}: ${given[field]}`,
    );
  }
  const total = given.input + given.output + given.cacheRead + given.cacheWrite;
  assert.ok(Math.abs(given.total - total) < 1e-9, `${title} total`);
}

inEachForm("each kind of token is counted once, and priced by its rate", async (t, form) => {
  for (const [k, rates] of /** @type {[number, any][]} */ ([
    [1, COST],
    [10, COST],
    [10.1, COST.tiers[1]],
    [200, COST.tiers[0]],
  ])) {
    const usage = REPORTS[form.api](k);
    const { result, error } = await asked(t, form, [{ usage, startUsage: {} }], { model: { cost: COST } });
    assert.equal(error, undefined, error?.message);
    assertUsage(result.usage, expected(form.api, k, rates), `${k}`);
  }
});

inEachForm(
  "a model without prices costs nothing, and its tokens are counted all the same",
  async (t, form) => {
    const usage = REPORTS[form.api](1);
    const { result } = await asked(t, form, [{ usage, startUsage: {} }], { model: { cost: undefined } });
    assert.deepEqual(result.usage.cost, { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 });
    assert.equal(result.usage.totalTokens, 1_050);
  },
);

inEachForm("usage is the sum over the requests of a chain", async (t, form) => {
  const step = { usage: REPORTS[form.api](1), startUsage: {} };
  const more = { preparation: LONG, model: { ...SMALL, cost: COST } };
  const { result, requests } = await asked(t, form, [step], more);
  assert.ok(requests.length > 3);
  const sum = expected(form.api, requests.length, COST);
  assertUsage(result.usage, sum);
});

inEachForm("a request that failed after it was billed is counted", async (t, form) => {
  const usage = REPORTS[form.api](1);
  const events = eventsOf(form.api, { usage, startUsage: usage, text: "PART" });
  const billed = billedThenCut(form.api, events, usage);
  const plain = { ...plainOf(form.api, { usage, startUsage: {}, ending: "none" }) };
  const body = form.stream ? sse(billed) : plain;
  const { result, requests, error } = await asked(t, form, [{ body }, { usage, startUsage: {} }], {
    model: { cost: COST },
  });
  assert.equal(error, undefined, error?.message);
  assert.equal(requests.length, 2);
  assertUsage(result.usage, expected(form.api, 2, COST));
});

/** A stream that reports its usage and ends without its end. @param {string} api @param {any[]} events @param {any} usage */
function billedThenCut(api, events, usage) {
  if (api === "anthropic-messages") return events.filter(({ event }) => !/message_(delta|stop)/.test(event));
  if (api === "openai-completions") {
    return events.filter(({ data }) => data !== "[DONE]" && !data.choices?.[0]?.finish_reason);
  }
  if (api === "google-generative-ai") {
    return events
      .filter(({ data }) => !data.usageMetadata)
      .map(({ data }) => ({ data: { ...data, usageMetadata: usage } }));
  }
  const response = {
    id: "r",
    status: "failed",
    output: [],
    error: { code: "server_error", message: "m" },
    usage,
  };
  return [...events.slice(0, -1), { event: "response.failed", data: { type: "response.failed", response } }];
}

inEachForm("reasoning and hour-long writes are there only where they are reported", async (t, form) => {
  const { result } = await asked(t, form, ["S"]);
  assert.ok(!("reasoning" in result.usage), JSON.stringify(result.usage));
  assert.ok(!("cacheWrite1h" in result.usage));
  assert.equal(result.usage.totalTokens, 120);
});

test("where nothing is reported there is no usage", async (t) => {
  // Anthropic's answers always hold some.
  for (const form of FORMS.filter(({ api }) => api !== "anthropic-messages")) {
    const { result, error } = await asked(t, form, [{ usage: null }]);
    assert.equal(error, undefined);
    assert.equal(result.usage, undefined);
  }
});

test("Anthropic's hour-long writes cost twice the input rate", async (t) => {
  const cache_creation = { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 };
  const startUsage = {
    input_tokens: 600,
    output_tokens: 1,
    cache_creation_input_tokens: 100,
    cache_creation,
  };
  const step = { startUsage, usage: { output_tokens: 50 } };
  for (const form of FORMS.filter(({ api }) => api === "anthropic-messages")) {
    const { result } = await asked(t, form, [step], { model: { cost: COST } });
    assert.equal(result.usage.cacheWrite, 100);
    assert.equal(result.usage.cacheWrite1h, 40);
    assert.equal(result.usage.totalTokens, 750);
    assert.ok(Math.abs(result.usage.cost.cacheWrite - (60 * 2.5 + 40 * 2 * 2) / 1e6) < 1e-12);
  }
});

/** Reports that no provider should make. */
const ODD = [{}, [], "usage", 7, true, null];
const ODD_NUMBERS = [-5, "12", null, 1e300, 2 ** 53, 0.5, [], {}, true];

inEachFormat("an odd report breaks no summary and makes no odd number", async (t, api) => {
  const fields = Object.keys(REPORTS[api](1));
  const reports = [
    ...ODD,
    ...ODD_NUMBERS.map((odd) => Object.fromEntries(fields.map((field) => [field, odd]))),
  ];
  for (const usage of reports) {
    for (const stream of [true, false]) {
      const step = { usage: /** @type {any} */ (usage), startUsage: /** @type {any} */ (usage) };
      const { result, error } = await asked(t, { api, stream }, [step], { model: { cost: COST } });
      assert.equal(error, undefined, `${JSON.stringify(usage)}: ${error?.message}`);
      const { cost, ...tokens } = result.usage ?? {};
      for (const number of Object.values({ ...tokens, ...cost })) {
        assert.ok(Number.isFinite(number) && number >= 0, JSON.stringify({ usage, is: result.usage }));
      }
    }
  }
});
