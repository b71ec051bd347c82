// What cannot work is refused before anything is sent, with the setting's name.

import assert from "node:assert/strict";
import test from "node:test";
import { generateCompaction } from "../index.js";
import { asked, assertFailed, inEachFormat, shownBy } from "./support/http.mjs";
import { prepared, RETRY } from "./support/model.mjs";
import { KEY, serve } from "./support/provider.mjs";
import { APIS } from "./support/wire.mjs";

const PREPARATION = prepared([{ role: "user", content: "go" }]);
const BUDGET = { hardLimit: 168_000, requestHeadroom: 32_000 };
/** In values that are refused; never quoted. */
const SECRET = "sk-secret-0123456789";

/** The error of a request that must not be sent. @param {any} t @param {(by: any) => any} change of the summarizer */
async function refused(t, change, api = APIS[0]) {
  const provider = await serve(t, { api });
  const summarizer = change(structuredClone(provider.summarizer));
  const request = { preparation: PREPARATION, budget: BUDGET, summarizer, retry: RETRY };
  const error = await generateCompaction(/** @type {any} */ (request)).then(
    () => undefined,
    (/** @type {any} */ thrown) => thrown,
  );
  assert.equal(provider.requests.length, 0, "nothing is sent");
  return error;
}

/** @param {string} name @param {any} value */
const ofModel = (name, value) => (/** @type {any} */ by) => ({
  ...by,
  model: { ...by.model, [name]: value },
});
/** @param {string} name @param {any} value */
const ofSummarizer = (name, value) => (/** @type {any} */ by) => ({ ...by, [name]: value });

const NO_TEXT = [5, true, {}, [], () => {}, Symbol("s")];
const NO_COUNT = [undefined, null, 0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, "5", {}, 5n];

/** @type {[setting: string, values: any[], change: (value: any) => (by: any) => any][]} */
const REFUSED = [
  ["model", [undefined, null, 5, "gpt", []], (value) => ofSummarizer("model", value)],
  ["baseUrl", [undefined, null, ...NO_TEXT], (value) => ofModel("baseUrl", value)],
  [
    "baseUrl",
    [
      "",
      " ",
      "not a url",
      "example.com/v1",
      "/v1",
      "ftp://example.com",
      "file:///etc/passwd",
      "ws://a",
      "http://",
      "http://a b",
      "https://:80",
      "http://h:99999",
    ],
    (value) => ofModel("baseUrl", value),
  ],
  ["id", [undefined, null, "", ...NO_TEXT], (value) => ofModel("id", value)],
  ["contextWindow", NO_COUNT, (value) => ofModel("contextWindow", value)],
  ["maxTokens", NO_COUNT, (value) => ofModel("maxTokens", value)],
  [
    "apiKey",
    [...NO_TEXT, `${SECRET}\n`, `${SECRET}\r\nx-evil: 1`, `${SECRET}\u0000`],
    (value) => ofSummarizer("apiKey", value),
  ],
  [
    "headers",
    [5, "a", true, ["a"], new Map([["x-a", "1"]]), new Headers({ "x-a": "1" })],
    (value) => ofSummarizer("headers", value),
  ],
  ["headers", [5, "a", true, ["a"]], (value) => ofModel("headers", value)],
  [
    "headers",
    [
      { "bad name": "v" },
      { "": "v" },
      { ö: "v" },
      { "a:b": "v" },
      { "x-a": `${SECRET}\n` },
      { "x-a": 5 },
      { "x-a": {} },
      { "x-a": `${SECRET}\u0000` },
    ],
    (value) => ofSummarizer("headers", value),
  ],
  [
    "headers",
    [{ "bad name": "v" }, { "x-a": `${SECRET}\r\nx: y` }, { "x-a": [SECRET] }],
    (value) => ofModel("headers", value),
  ],
  [
    "idleTimeoutMs",
    [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "5", {}, true],
    (value) => ofSummarizer("idleTimeoutMs", value),
  ],
  ["stream", [0, "false", {}, 1], (value) => ofSummarizer("stream", value)],
  ["cost", [5, "free", true], (value) => ofModel("cost", value)],
  ["thinkingLevelMap", [5, "low"], (value) => ofModel("thinkingLevelMap", value)],
  ["maxTokensField", ["banana", 5, "", true], (value) => ofModel("compat", { maxTokensField: value })],
  ["compat", [5, "openai", true], (value) => ofModel("compat", value)],
];

for (const [setting, values, change] of REFUSED) {
  test(`${setting} that cannot work is invalid_argument and named`, async (t) => {
    for (const value of values) {
      const error = await refused(t, (by) => change(value)(by));
      const shown = `${setting} ${String(Array.isArray(value) ? "[]" : typeof value === "object" ? JSON.stringify(value) : String(value))}`;
      assert.equal(error?.name, "CompactionError", `${shown}: ${error}`);
      assert.equal(error.code, "invalid_argument", `${shown}: ${error.message}`);
      assert.match(error.message, new RegExp(setting), shown);
      assert.ok(!shownBy({ error, events: [], result: undefined }).includes(SECRET), shown);
      assert.ok(!error.message.includes(KEY), shown);
    }
  });
}

inEachFormat("what is optional may be undefined", async (t, api) => {
  const model = {
    headers: undefined,
    cost: undefined,
    compat: undefined,
    thinkingLevelMap: undefined,
    reasoning: undefined,
  };
  const summarizer = { apiKey: undefined, headers: undefined, idleTimeoutMs: undefined };
  assert.equal((await asked(t, { api }, ["S"], { model, summarizer })).result?.summary, "S");
});

test("an api that is not spoken is unsupported_api, and names the way out", async (t) => {
  for (const api of [
    "bedrock-converse-stream",
    "google-vertex",
    "openai-codex-responses",
    "azure-openai-responses",
    "mistral-conversations",
    "banana",
    "",
  ]) {
    const error = await refused(t, ofModel("api", api));
    assert.equal(error?.code, "unsupported_api", `${api}: ${error?.message}`);
    assert.match(error.message, /callback/);
  }
  for (const api of [undefined, null, ...NO_TEXT]) {
    const error = await refused(t, ofModel("api", api));
    assert.match(error?.code, /^(unsupported_api|invalid_argument)$/, String(api));
    assert.match(error.message, /model\.api/);
  }
});

inEachFormat("a setting that an honest request would need is unsupported_api, by name", async (t, api) => {
  for (const field of ["openRouterRouting", "vercelGatewayRouting"]) {
    const error = await refused(t, ofModel("compat", { [field]: { only: ["x"] } }), api);
    assert.equal(error?.code, "unsupported_api", error?.message);
    assert.match(error.message, new RegExp(field));
    const absent = await asked(t, { api }, ["S"], { model: { compat: { [field]: undefined } } });
    assert.equal(absent.result?.summary, "S");
  }
});

test("a name that does not resolve is said so, and passes in the end or not", async (t) => {
  const more = {
    model: { baseUrl: "http://no-such-host.invalid/v1" },
    summarizer: { idleTimeoutMs: 5_000 },
    retry: { enabled: false },
  };
  const outcome = await asked(t, { api: APIS[0] }, ["NO"], more);
  assertFailed(outcome, { requests: 0, retryable: true, message: /baseUrl|idleTimeoutMs/ });
});

test("a key in a URL is shown nowhere", async (t) => {
  for (const baseUrl of [
    `http://user:${SECRET}@127.0.0.1:1/v1`,
    `http://127.0.0.1:1/v1?key=${SECRET}`,
    `http://${SECRET}/v1`,
  ]) {
    const outcome = await asked(t, { api: APIS[0] }, ["NO"], {
      model: { baseUrl },
      retry: { enabled: false },
    });
    assert.equal(outcome.error?.name, "CompactionError");
    assert.ok(!shownBy(outcome).toLowerCase().includes(SECRET), shownBy(outcome));
  }
});

inEachFormat("a summarizer is read once: what changes afterwards changes nothing", async (t, api) => {
  const provider = await serve(t, { api, steps: [{ status: 503, body: "" }, "S"] });
  const by = /** @type {any} */ (provider.summarizer);
  const request = { preparation: PREPARATION, budget: BUDGET, summarizer: by, retry: RETRY };
  const going = generateCompaction(/** @type {any} */ (request));
  Object.assign(by, { apiKey: "other", model: undefined });
  assert.equal((await going).summary, "S");
  assert.ok(provider.requests.every(({ headers }) => JSON.stringify(headers).includes(KEY)));
});
