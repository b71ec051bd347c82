// Which headers a request carries, and who may overrule whom.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { asked, assertPermanent, inEachForm, inEachFormat, ofType, SHORT } from "./support/http.mjs";
import { run } from "./support/model.mjs";
import { KEY, serve } from "./support/provider.mjs";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

const AUTHORIZING = /** @type {const} */ ({
  "openai-completions": { name: "authorization", value: `Bearer ${KEY}` },
  "openai-responses": { name: "authorization", value: `Bearer ${KEY}` },
  "anthropic-messages": { name: "x-api-key", value: KEY },
  "google-generative-ai": { name: "x-goog-api-key", value: KEY },
});
const NAMES = ["authorization", "x-api-key", "x-goog-api-key"];

/** The headers of the one request. @param {any} t @param {any} api @param {any} more */
async function headersOf(t, api, { model = {}, ...summarizer } = {}) {
  const { requests, error } = await asked(t, { api }, ["S"], { model, summarizer });
  assert.equal(error, undefined);
  return requests[0].headers;
}

inEachForm("the key stands in the format's own header, and nowhere else", async (t, form) => {
  const { requests } = await asked(t, form, ["S"]);
  const [{ headers, url, body }] = requests;
  const { name, value } = AUTHORIZING[form.api];
  assert.equal(headers[name], value);
  for (const other of NAMES.filter((each) => each !== name)) assert.equal(headers[other], undefined);
  assert.ok(!url.includes(KEY), "a URL is logged everywhere");
  assert.ok(!body.includes(KEY));
  assert.equal(headers["anthropic-version"], form.api === "anthropic-messages" ? "2023-06-01" : undefined);
});

inEachFormat("without a key there is no header of that kind", async (t, api) => {
  const headers = await headersOf(t, api, { apiKey: undefined });
  for (const name of NAMES) assert.equal(headers[name], undefined);
});

inEachFormat("the package names itself, unless it is told otherwise", async (t, api) => {
  const [plain, named] = [
    await headersOf(t, api),
    await headersOf(t, api, { headers: { "User-Agent": "mine" } }),
  ];
  assert.equal(plain["user-agent"], `pi-compaction-native/${version}`);
  assert.equal(named["user-agent"], "mine");
});

inEachFormat(
  "the summarizer's headers stand over the model's, those over the key's, whatever the case",
  async (t, api) => {
    const { name } = AUTHORIZING[api];
    const model = {
      headers: { [name.toUpperCase()]: "of the model", "X-One": "1", "X-Two": "1", "X-Gone": "1" },
    };
    const ofModel = await headersOf(t, api, { model });
    assert.equal(ofModel[name], "of the model");
    assert.equal(ofModel["x-one"], "1");
    const headers = { [name]: "of the summarizer", "x-two": "2", "x-gone": null, "X-Absent": null };
    const both = await headersOf(t, api, { model, headers });
    assert.equal(both[name], "of the summarizer");
    assert.deepEqual([both["x-one"], both["x-two"], both["x-gone"]], ["1", "2", undefined]);
  },
);

inEachFormat("null leaves out what would be sent otherwise, undefined does not", async (t, api) => {
  const { name, value } = AUTHORIZING[api];
  const without = await headersOf(t, api, { model: { headers: { [name]: null, "User-Agent": null } } });
  assert.equal(without[name], undefined);
  assert.equal(without["user-agent"], undefined);
  const left = await headersOf(t, api, { headers: { [name]: undefined } });
  assert.equal(left[name], value);
  const revived = await headersOf(t, api, {
    model: { headers: { [name]: null } },
    headers: { [name]: "back" },
  });
  assert.equal(revived[name], "back");
});

test("a header's value may be anything that HTTP allows", async (t) => {
  const headers = await headersOf(t, "openai-completions", {
    headers: { "x-a": "", "x-b": 'a, b; c="d"\tê' },
  });
  assert.equal(headers["x-a"], "");
  assert.ok(headers["x-b"].startsWith('a, b; c="d"'));
});

inEachForm("a redirect is not followed, and no key goes to where it points", async (t, form) => {
  for (const status of [301, 302, 303, 307, 308]) {
    const elsewhere = await serve(t, { api: form.api });
    const location = `${elsewhere.origin}/v1/elsewhere`;
    const outcome = await asked(t, form, [{ status, headers: { location }, body: "" }]);
    assertPermanent(outcome, { status });
    assert.equal(elsewhere.connections.length, 0);
  }
});

inEachFormat("requests of one chain and of several runs share connections", async (t, api) => {
  const outcome = await asked(t, { api }, [{ status: 503, body: {} }, { status: 503, body: {} }, "S"]);
  assert.equal(outcome.requests.length, 3);
  assert.ok(outcome.provider.connections.length <= 2, `${outcome.provider.connections.length} connections`);
});

inEachFormat("a connection that was closed while nobody used it costs no attempt", async (t, api) => {
  const provider = await serve(t, { api });
  for (let round = 0; round < 3; round++) {
    const { result, error, events } = await run(/** @type {any} */ (provider), SHORT);
    assert.equal(error, undefined, error?.message);
    assert.equal(result.summary, "SUMMARY");
    assert.equal(ofType(events, "retry").length, 0, `round ${round}`);
    for (const socket of provider.sockets) socket.destroy();
    await wait(20);
  }
  assert.equal(provider.requests.length, 3);
});

inEachForm("no answer is asked for in an encoding", async (t, form) => {
  const { requests } = await asked(t, form, ["S"]);
  const [{ headers, rawHeaders, body }] = requests;
  assert.match(headers["accept-encoding"] ?? "identity", /^identity$/);
  assert.equal(headers["content-encoding"], undefined);
  assert.equal(Number(headers["content-length"] ?? body.length), body.length);
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  assert.equal(new Set(names).size, names.length, "each header once");
});
