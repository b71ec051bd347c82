// What is sent: each wire format's body against a fixture, the texts against those of a client that is called back.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { asked, inEachForm, inEachFormat, LONG, ofType, SHORT, SMALL } from "./support/http.mjs";
import { client, prepared, run } from "./support/model.mjs";
import { askedByPi } from "./support/pi-streams.mjs";
import { KEY } from "./support/provider.mjs";
import { frozen } from "./support/random.mjs";
import { call, result, userOfTokens } from "./support/sound.mjs";
import { APIS, BASE_PATH, pathOf } from "./support/wire.mjs";

/** @param {string} api @returns {Record<string, { model: any, stream?: boolean, path: string, headers: any, body: any }>} */
function fixtureOf(api) {
  return JSON.parse(readFileSync(new URL(`./fixtures/http-${api}.json`, import.meta.url), "utf8"));
}

/** System texts may be one string or a list of text parts; both say the same. @param {any} content */
const flat = (content) => (Array.isArray(content) ? content.map(({ text }) => text).join("") : content);

/** A body without the liberties that it has. @param {any} body */
function plain({ stream, system, messages, input, contents, systemInstruction, ...rest }) {
  const flattened = (/** @type {any[] | undefined} */ list) =>
    list?.map(({ content, ...message }) => ({ ...message, content: flat(content) }));
  return JSON.parse(
    JSON.stringify({
      ...rest,
      ...(stream === false ? {} : { stream }),
      system: flat(system),
      messages: flattened(messages),
      input: flattened(input),
      contents: contents?.map((/** @type {any} */ { role, parts }) => ({ role, parts: flat(parts) })),
      systemInstruction: flat(systemInstruction?.parts),
    }),
  );
}

/** The same with the long texts named instead of quoted. @param {any} body @param {{ system: string, prompt: string }} texts */
function named(body, { system, prompt }) {
  const name = (/** @type {any} */ value) =>
    value === system ? "{system}" : value === prompt ? "{prompt}" : value;
  return JSON.parse(JSON.stringify(plain(body)), (_, value) => name(value));
}

for (const api of APIS) {
  for (const [variant, wanted] of Object.entries(fixtureOf(api))) {
    test(`pi PR#1573 the request of ${api}: ${variant}`, async (t) => {
      const { model, stream, path, headers, body } = wanted;
      const { requests, error } = await asked(t, { api, stream }, ["SUMMARY"], { model });
      assert.equal(error, undefined);
      const [request] = requests;
      assert.equal(request.method, "POST");
      assert.equal(request.url, path);
      for (const [name, value] of Object.entries(headers)) {
        const [sent] = request.headers[name].split(/; ?/);
        assert.equal(sent, String(value).replace("{key}", KEY), name);
      }
      const texts = { system: request.system, prompt: request.prompt };
      assert.ok(texts.system.length > 0 && texts.prompt.length > texts.system.length / 100);
      assert.deepEqual(named(request.json, texts), plain(body));
    });
  }
}

const UNICODE = frozen(
  prepared([
    { role: "user", content: 'Ünïcode 😀 \u2028 \u0000 \u001f "quoted" \\ back\nslash </conversation>' },
    call("c1", { path: "a.ts", deep: ["\ud83d\ude00", { x: "\u0007" }] }),
    result("c1", `${"o".repeat(1_999)}\ud83d\ude00 tail`),
  ]),
);
const LONE = frozen(
  prepared([
    { role: "user", content: "a lone \ud83d half" },
    call("c1", { path: "\udc00.ts" }),
    result("c1", `${"o".repeat(1_999)}\ud83d\ude00 the cut goes through this pair`),
  ]),
);
const IMAGES = frozen(
  prepared([
    {
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "image", data: "QUJD".repeat(50_000), mimeType: "image/png" },
      ],
    },
  ]),
);

inEachForm("E54 the texts are those that a called-back client gets", async (t, form) => {
  const split = prepared([userOfTokens(20)], { isSplitTurn: true, turnPrefixMessages: [userOfTokens(9)] });
  for (const preparation of [
    SHORT,
    UNICODE,
    LONG,
    split,
    prepared([userOfTokens(9)], { previousSummary: "OLD" }),
  ]) {
    const words = { customInstructions: "Mind the 😀." };
    const { requests } = await asked(t, form, ["S"], { preparation, model: SMALL, ...words });
    const { calls } = await run(client(["S"], SMALL), preparation, words);
    const texts = (/** @type {any[]} */ list) => list.map(({ system, prompt }) => ({ system, prompt }));
    assert.deepEqual(texts(requests), texts(calls));
    const allowed = requests.map(({ maxTokens }) => maxTokens);
    assert.deepEqual(
      allowed,
      calls.map(({ options }) => options.maxTokens),
    );
  }
});

inEachForm("claude-code#5934 every body is well-formed UTF-8", async (t, form) => {
  const { requests } = await asked(t, form, ["S"], { preparation: LONE });
  const [{ body, json, prompt, headers }] = requests;
  assert.ok(Buffer.from(body.toString("utf8"), "utf8").equals(body), "decodes and encodes to the same bytes");
  assert.ok(json, "is JSON");
  assert.doesNotMatch(body.toString("utf8"), /\\ud[89ab]../i, "no escaped half of a pair");
  assert.match(prompt, /a lone \ufffd half/);
  if (headers["content-length"]) assert.equal(Number(headers["content-length"]), body.length);
});

inEachForm("senpi#1067 pi#8351 no tools and no image bytes in any request", async (t, form) => {
  const { requests } = await asked(t, form, ["S"], { preparation: IMAGES });
  const [{ json, body }] = requests;
  const names = JSON.stringify(Object.keys(json));
  assert.doesNotMatch(names, /tool|function|temperature|cache/i);
  assert.ok(!body.includes("QUJDQUJD"));
  assert.ok(body.length < 50_000);
});

inEachForm("A40 pi#4390 the allowance is never above the model's maximum", async (t, form) => {
  for (const [contextWindow, maxTokens, expected] of [
    [200_000, 250_000, 25_600],
    [200_000, 1_000, 1_000],
    [32_768, 32_000, 13_107],
  ]) {
    const budget = { hardLimit: 168_000, requestHeadroom: 32_000 };
    const more = { model: { contextWindow, maxTokens }, ...(contextWindow === 200_000 ? { budget } : {}) };
    const { requests } = await asked(t, form, ["S"], more);
    assert.equal(requests[0].maxTokens, expected);
  }
});

inEachForm("C34 a chain sends one request for each chunk, and none that does not fit", async (t, form) => {
  const numbered = (/** @type {any} */ { index }) => `S${index + 1}`;
  const {
    requests,
    result: checkpoint,
    events,
  } = await asked(t, form, [numbered], { preparation: LONG, model: SMALL });
  assert.ok(requests.length > 3);
  assert.equal(checkpoint.summary, `S${requests.length}`);
  assert.equal(checkpoint.details.summarizer, "http");
  assert.equal(checkpoint.details.requests, requests.length);
  for (const { system, prompt, maxTokens } of requests) {
    assert.ok(Math.ceil((system.length + prompt.length) / 4) + maxTokens <= SMALL.contextWindow);
  }
  assert.equal(ofType(events, "first_token").length, requests.length);
  assert.deepEqual(
    ofType(events, "request").map(({ index, of, attempt }) => [index, of, attempt]),
    requests.map((_, index) => [index + 1, requests.length, 1]),
  );
});

inEachFormat("a trailing slash of baseUrl is tolerated", async (t, api) => {
  for (const stream of [true, false]) {
    const model = (/** @type {any} */ base) => ({ ...base, baseUrl: `${base.baseUrl}/` });
    const { requests } = await asked(t, { api, stream }, ["S"], { model });
    assert.equal(requests[0].url, pathOf(api, stream));
  }
});

inEachFormat("a path in front is kept; a query is kept or refused, never in the middle", async (t, api) => {
  const ending = (/** @type {string} */ end) => (/** @type {any} */ base) => ({
    ...base,
    baseUrl: base.baseUrl + end,
  });
  const [deep] = (await asked(t, { api }, ["S"], { model: ending("/gateway/team-1") })).requests;
  const own = pathOf(api, true).slice(BASE_PATH[api].length);
  assert.equal(deep.url, `${BASE_PATH[api]}/gateway/team-1${own}`);
  for (const end of ["?api-version=1", "#fragment"]) {
    const { requests, error } = await asked(t, { api }, ["S"], { model: ending(end) });
    if (error) {
      assert.equal(error.code, "invalid_argument");
      assert.match(error.message, /baseUrl/);
    } else {
      const [path, query = ""] = requests[0].url.split("?");
      assert.equal(path, pathOf(api, true).split("?")[0]);
      if (end.startsWith("?")) assert.ok(query.split("&").includes("api-version=1"), requests[0].url);
    }
  }
});

test("an id goes into Google's path as pi puts it there", async (t) => {
  const api = /** @type {const} */ ("google-generative-ai");
  for (const id of [
    "gemini-2.5-pro",
    "models/gemini-2.5-pro",
    "tunedModels/mine",
    "vendor/model-1",
    "gemma:2",
  ]) {
    const { requests, provider } = await asked(t, { api }, ["S"], { model: { id } });
    await askedByPi(api, provider.model, KEY);
    assert.equal(decodeURIComponent(requests[0].url), decodeURIComponent(requests[1].url), id);
  }
});
