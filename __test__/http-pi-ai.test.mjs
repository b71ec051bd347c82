// pi-ai's own streams and the addon make the same of one provider's answer: text, ending, usage, cost.

import assert from "node:assert/strict";
import test from "node:test";
import { asked, inEachFormat } from "./support/http.mjs";
import { KEY } from "./support/provider.mjs";
import { APIS, sse } from "./support/wire.mjs";
import { eventsOf } from "./support/wire-answers.mjs";

/** @type {typeof import("./support/pi-streams.mjs").askedByPi | undefined} */
let askedByPi;
/** @type {string | false} */
let skip = false;
try {
  ({ askedByPi } = await import("./support/pi-streams.mjs"));
} catch (error) {
  skip = `pi-ai 0.87.1 does not load here: ${/** @type {Error} */ (error).message}`;
}

const COST = {
  input: 3,
  output: 15,
  cacheRead: 0.3,
  cacheWrite: 3.75,
  tiers: [
    { inputTokensAbove: 1_000, input: 6, output: 22.5, cacheRead: 0.6, cacheWrite: 7.5 },
    { inputTokensAbove: 500, input: 5, output: 20, cacheRead: 0.5, cacheWrite: 6 },
  ],
};

/** Reports of each format, the last above a tier's threshold. @type {Record<string, any[]>} */
const REPORTS = {
  "openai-completions": [
    { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
    { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 30 } },
    { prompt_tokens: 100, completion_tokens: 20, prompt_cache_hit_tokens: 40 },
    { prompt_tokens: 100, completion_tokens: 20, cached_tokens: 50 },
    { prompt_tokens: 700, completion_tokens: 90, completion_tokens_details: { reasoning_tokens: 70 } },
    {
      prompt_tokens: 9,
      completion_tokens: 2,
      prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 5 },
    },
    {
      prompt_tokens: 2_000,
      completion_tokens: 90,
      prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 40 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  ],
  "openai-responses": [
    { input_tokens: 100, output_tokens: 20, total_tokens: 120 },
    {
      input_tokens: 700,
      input_tokens_details: { cached_tokens: 30 },
      output_tokens: 90,
      output_tokens_details: { reasoning_tokens: 70 },
      total_tokens: 790,
    },
    {
      input_tokens: 2_000,
      input_tokens_details: { cached_tokens: 30, cache_write_tokens: 40 },
      output_tokens: 20,
      total_tokens: 2_020,
    },
  ],
  "anthropic-messages": [
    { output_tokens: 20 },
    { output_tokens: 20, input_tokens: 700, cache_read_input_tokens: 10, cache_creation_input_tokens: 5 },
    { output_tokens: 20, input_tokens: null, cache_read_input_tokens: null },
    { output_tokens: 2_000, input_tokens: 990, cache_read_input_tokens: 11 },
  ],
  "google-generative-ai": [
    { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
    {
      promptTokenCount: 700,
      cachedContentTokenCount: 30,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 9,
      totalTokenCount: 729,
    },
    { promptTokenCount: 2_000, candidatesTokenCount: 20, thoughtsTokenCount: 0, totalTokenCount: 2_020 },
    { promptTokenCount: 5, totalTokenCount: 5 },
  ],
};

const START = {
  input_tokens: 400,
  output_tokens: 1,
  cache_read_input_tokens: 70,
  cache_creation_input_tokens: 90,
  cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 30 },
};

/** Equal but for the last bits of a cost, and for parts that pi states as 0 where they are not reported. */
function assertUsage(/** @type {any} */ ours, /** @type {any} */ pis, /** @type {string} */ title) {
  for (const field of ["input", "output", "cacheRead", "cacheWrite", "totalTokens"]) {
    assert.equal(ours[field], pis[field], `${title}: ${field}`);
  }
  for (const field of ["reasoning", "cacheWrite1h"]) {
    assert.equal(ours[field] ?? 0, pis[field] ?? 0, `${title}: ${field}`);
  }
  for (const field of ["input", "output", "cacheRead", "cacheWrite", "total"]) {
    assert.ok(Math.abs(ours.cost[field] - pis.cost[field]) < 1e-12, `${title}: cost.${field}`);
  }
}

for (const api of APIS) {
  test(`the usage and cost of ${api}`, { skip }, async (t) => {
    for (const usage of REPORTS[api]) {
      for (const startUsage of api === "anthropic-messages" ? [undefined, START] : [undefined]) {
        const step = { text: "SUMMARY", usage, startUsage };
        const { result, provider, error } = await asked(t, { api }, [step], { model: { cost: COST } });
        assert.equal(error, undefined);
        const pis = await /** @type {any} */ (askedByPi)(api, provider.model, KEY);
        assertUsage(result.usage, pis.usage, JSON.stringify({ usage, startUsage }));
      }
    }
  });

  test(`text and ending of ${api}`, { skip }, async (t) => {
    const texts = [
      { text: "Ünï 😀\r\n\u2028 end" },
      { thinking: "hm", text: "SUMMARY" },
      { pieces: ["a", " ", "b", "c"] },
    ];
    const endings = ["stop", "length", "tool", "filter", "refusal", "none", "banana"].map((ending) => ({
      ending,
    }));
    const [first, ...rest] = eventsOf(api).map((event) => sse([event]));
    const cut = { body: `${first}data: {"a":\n\n${rest.join("")}`, as: /** @type {const} */ ("stream") };
    for (const step of [...texts, ...endings, cut]) {
      const { result, error, provider } = await asked(t, { api }, [step], { retry: { enabled: false } });
      const pis = await /** @type {any} */ (askedByPi)(api, provider.model, KEY);
      const title = `${JSON.stringify(step).slice(0, 60)}: pi has ${pis.stopReason}, we ${error?.code ?? "a summary"}`;
      if (
        pis.stopReason === "stop" &&
        pis.text.trim() !== "" &&
        "ending" in step &&
        step.ending === "refusal"
      )
        continue;
      // pi overlooks an event that is no JSON in one of the formats; what it said is then missing.
      const isWhole = pis.stopReason === "stop" && step !== cut;
      assert.equal(result !== undefined, isWhole, title);
      if (result) assert.equal(result.summary, pis.text.trim(), title);
    }
  });
}

inEachFormat("what is cut in the middle of its text is no summary for pi either", async (t, api) => {
  if (skip) return t.skip(skip);
  const step = { text: "SUMMARY", at: 150, end: /** @type {const} */ ("half-close") };
  const { result, provider } = await asked(t, { api }, [step], { retry: { enabled: false } });
  const pis = await /** @type {any} */ (askedByPi)(api, provider.model, KEY);
  assert.equal(result, undefined);
  assert.equal(pis.stopReason, "error");
});

test("usage in a choice, as Moonshot reports it", { skip }, async (t) => {
  const api = /** @type {const} */ ("openai-completions");
  const events = /** @type {any[]} */ (eventsOf(api, { usage: null }));
  const last = events.find(({ data }) => data.choices?.[0]?.finish_reason);
  last.data.choices[0].usage = { prompt_tokens: 70, completion_tokens: 8, cached_tokens: 20 };
  const step = { body: sse(events), as: /** @type {const} */ ("stream") };
  const { result, provider } = await asked(t, { api }, [step], { model: { cost: COST } });
  const pis = await /** @type {any} */ (askedByPi)(api, provider.model, KEY);
  assertUsage(result.usage ?? { cost: {} }, pis.usage, "in a choice");
});
