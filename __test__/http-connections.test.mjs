// Certificates and proxies, as `process.env` states them when a compaction begins.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { after } from "node:test";
import { certificates, withoutOpenssl } from "./support/certificates.mjs";
import {
  asked,
  assertFailed,
  assertPermanent,
  assertSealed,
  assertTransient,
  FORMS,
  inEachFormat,
  SHORT,
} from "./support/http.mjs";
import { RETRY, run } from "./support/model.mjs";
import { outputOf } from "./support/process.mjs";
import { KEY, serve, soon } from "./support/provider.mjs";
import { proxy } from "./support/proxies.mjs";
import { pathOf } from "./support/wire.mjs";

const [{ api }] = FORMS;
const skip = withoutOpenssl();
const made = skip ? undefined : certificates();
after(() => made?.remove());
const { ca, folder, good, elsewhere } = /** @type {ReturnType<typeof certificates>} */ (made ?? {});

/** What a process of its own makes of these models. @param {any[]} models @param {Record<string, string>} env */
async function outcomes(models, env) {
  const { code, stdout, stderr } = await outputOf("asks-by-http.mjs", [], {
    args: models.map((model) => JSON.stringify(model)),
    env,
  });
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

/** Runs something in an environment, one after the other. @template T @param {Record<string, string>} env @param {() => Promise<T>} body */
async function within(env, body) {
  const before = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name]]));
  Object.assign(process.env, env);
  try {
    return await body();
  } finally {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/** A run with a provider that is there already. @param {any} provider @param {object} model @param {object} more */
async function ask(provider, model = {}, more = {}) {
  const summarizer = { ...provider.summarizer, model: { ...provider.model, ...model } };
  const outcome = await soon(
    run(/** @type {any} */ ({ ...provider, summarizer }), SHORT, { retry: RETRY, ...more }),
  );
  return { ...outcome, provider, requests: provider.requests };
}

test("NODE_EXTRA_CA_CERTS makes a private authority's certificate verify", { skip }, async (t) => {
  const providers = [];
  for (const form of FORMS.filter(({ stream }) => stream))
    providers.push(await serve(t, { api: form.api, tls: good }));
  const models = providers.map(({ model }) => model);
  const known = await outcomes(models, { NODE_EXTRA_CA_CERTS: ca });
  assert.deepEqual(
    known,
    models.map(() => ({ summary: "SUMMARY" })),
  );
  for (const provider of providers) assert.equal(provider.requests.length, 1);
});

test("without it that certificate is a permanent failure that names the setting", { skip }, async (t) => {
  const provider = await serve(t, { api, tls: good });
  const [unknown] = await outcomes([provider.model], {});
  assert.equal(unknown.code, "summary_provider");
  assert.equal(unknown.retryable, false);
  assert.match(unknown.message, /NODE_EXTRA_CA_CERTS/);
  assert.equal(provider.requests.length, 0, "the key was not sent");
});

test("it is read when the compaction begins", { skip }, async (t) => {
  const provider = await serve(t, { api, tls: good });
  assertPermanent(await ask(provider), { requests: 0, message: /NODE_EXTRA_CA_CERTS/ });
  const known = await within({ NODE_EXTRA_CA_CERTS: ca }, () => ask(provider));
  assert.equal(known.result?.summary, "SUMMARY", known.error?.message);
  assertFailed(await ask(provider), { retryable: false, message: /NODE_EXTRA_CA_CERTS/ });
});

test("a certificate for another host is a permanent failure, with the authority known", {
  skip,
}, async (t) => {
  const provider = await serve(t, { api, tls: elsewhere });
  const outcome = await within({ NODE_EXTRA_CA_CERTS: ca }, () => ask(provider));
  assertPermanent(outcome, { requests: 0, message: /certificate/i });
});

test("a file of certificates that is none is said so, and public hosts are still verified", {
  skip,
}, async (t) => {
  const garbage = join(folder, "garbage.pem");
  writeFileSync(garbage, "-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n");
  const provider = await serve(t, { api, tls: good });
  for (const path of [garbage, join(folder, "missing.pem"), folder]) {
    const outcome = await within({ NODE_EXTRA_CA_CERTS: path }, () => ask(provider));
    assertFailed(outcome, { code: outcome.error?.code, requests: 0, says: path });
    assert.match(outcome.error.code, /^(summary_provider|invalid_argument)$/);
    assert.match(outcome.error.message, /NODE_EXTRA_CA_CERTS/);
    assert.notEqual(outcome.error.retryable, true);
  }
  const plain = await serve(t, { api });
  const unaffected = await within({ NODE_EXTRA_CA_CERTS: join(folder, "missing.pem") }, () => ask(plain));
  assert.ok(unaffected.result?.summary === "SUMMARY" || /NODE_EXTRA_CA_CERTS/.test(unaffected.error.message));
});

test("plain HTTP where TLS is spoken, and TLS where plain HTTP is", { skip }, async (t) => {
  const secure = await serve(t, { api, tls: good });
  const plain = await serve(t, { api });
  for (const [provider, baseUrl] of /** @type {[any, string][]} */ ([
    [secure, `http://127.0.0.1:${secure.port}/v1`],
    [plain, `https://127.0.0.1:${plain.port}/v1`],
  ])) {
    const outcome = await ask(provider, { baseUrl }, { retry: { enabled: false } });
    assertFailed(outcome, { requests: 0, says: baseUrl });
  }
});

inEachFormat("HTTP_PROXY is asked for the whole URL, and the answer is read as ever", async (t, format) => {
  const provider = await serve(t, { api: format });
  const { seen, url } = await proxy(t);
  const [outcome] = await outcomes([provider.model], { HTTP_PROXY: url });
  assert.deepEqual(outcome, { summary: "SUMMARY" });
  assert.equal(seen.length, 1);
  assert.equal(seen[0].method, "POST");
  assert.equal(seen[0].url, `${provider.origin}${pathOf(format, true)}`);
});

test("HTTPS_PROXY is asked for a tunnel, and sees neither key nor request", { skip }, async (t) => {
  const provider = await serve(t, { api, tls: good });
  const { seen, url } = await proxy(t);
  const env = { HTTPS_PROXY: url, NODE_EXTRA_CA_CERTS: ca };
  assert.deepEqual(await outcomes([provider.model], env), [{ summary: "SUMMARY" }]);
  assert.deepEqual(
    seen.map(({ method, url: target }) => [method, target]),
    [["CONNECT", `127.0.0.1:${provider.port}`]],
  );
  assert.ok(!JSON.stringify(seen).includes(KEY));
});

test("names are resolved by the proxy", { skip }, async (t) => {
  const secure = await serve(t, { api, tls: good });
  const plain = await serve(t, { api });
  const tunnels = await proxy(t, { sendsTo: secure.port });
  const forwards = await proxy(t, { sendsTo: plain.port });
  const models = [
    { ...secure.model, baseUrl: "https://api.example.test/v1" },
    { ...plain.model, baseUrl: "http://api.example.test/v1" },
  ];
  const env = { HTTPS_PROXY: tunnels.url, HTTP_PROXY: forwards.url, NODE_EXTRA_CA_CERTS: ca };
  assert.deepEqual(await outcomes(models, env), [{ summary: "SUMMARY" }, { summary: "SUMMARY" }]);
  assert.equal(tunnels.seen[0].url, "api.example.test:443");
  assert.equal(forwards.seen[0].url, "http://api.example.test/v1/chat/completions");
});

test("each proxy is asked for its own kind of URL only", { skip }, async (t) => {
  const secure = await serve(t, { api, tls: good });
  const plain = await serve(t, { api });
  const { seen, url } = await proxy(t);
  await outcomes([plain.model], { HTTPS_PROXY: url });
  await outcomes([secure.model], { HTTP_PROXY: url, NODE_EXTRA_CA_CERTS: ca });
  assert.deepEqual(seen, []);
  assert.equal(plain.requests.length + secure.requests.length, 2);
});

/** What NO_PROXY may say of 127.0.0.1 or api.example.test, and whether the proxy is passed by. @type {[string, string, boolean][]} */
const EXCEPTIONS = [
  ["127.0.0.1", "", true],
  ["other.test, 127.0.0.1 ,", "", true],
  ["*", "", true],
  ["127.0.0.0/8", "", true],
  ["other.test", "", false],
  ["", "", false],
  ["localhost", "localhost", true],
  ["LOCALHOST", "localhost", true],
];

test("NO_PROXY names hosts that are reached directly", async (t) => {
  const provider = await serve(t, { api });
  const { seen, url } = await proxy(t);
  for (const [NO_PROXY, host, direct] of EXCEPTIONS) {
    const [before, baseUrl] = [seen.length, `http://${host || "127.0.0.1"}:${provider.port}/v1`];
    const outcome = await within({ HTTP_PROXY: url, NO_PROXY }, () => ask(provider, { baseUrl }));
    assert.equal(outcome.result?.summary, "SUMMARY", `${NO_PROXY}: ${outcome.error?.message}`);
    assert.equal(seen.length - before, direct ? 0 : 1, `NO_PROXY=${NO_PROXY}`);
  }
});

test("proxies are those of the moment when the compaction begins", async (t) => {
  const provider = await serve(t, { api });
  const [first, second] = [await proxy(t), await proxy(t)];
  await within({ HTTP_PROXY: first.url }, () => ask(provider));
  await within({ HTTP_PROXY: second.url }, () => ask(provider));
  await ask(provider);
  assert.deepEqual([first.seen.length, second.seen.length, provider.requests.length], [1, 1, 3]);
});

test("a proxy's own credentials go to it, and are shown nowhere", async (t) => {
  const provider = await serve(t, { api, steps: [{ status: 401, body: "" }] });
  const { seen, port } = await proxy(t);
  const HTTP_PROXY = `http://user:pr0xy-pass@127.0.0.1:${port}`;
  const outcome = await within({ HTTP_PROXY }, () => ask(provider));
  assertSealed(outcome, ["pr0xy-pass", KEY], "proxy");
  const basic = `Basic ${Buffer.from("user:pr0xy-pass").toString("base64")}`;
  assert.equal(seen[0].headers["proxy-authorization"], basic);
});

test("a proxy that refuses is a permanent failure that names the setting", { skip }, async (t) => {
  const plain = await serve(t, { api });
  const secure = await serve(t, { api, tls: good });
  for (const refuses of [407, 403]) {
    const { seen, url } = await proxy(t, { refuses });
    const env = { HTTPS_PROXY: url, NODE_EXTRA_CA_CERTS: ca };
    const tunnelled = await within(env, () => ask(secure));
    assertPermanent(tunnelled, { requests: 0, message: /PROXY/, says: `${refuses} to CONNECT` });
    assert.equal(seen.length, 1);
    assertSealed(tunnelled, ["PROXY-WORDS", KEY], "CONNECT");
  }
  const { url } = await proxy(t, { refuses: 407 });
  const forwarded = await within({ HTTP_PROXY: url }, () => ask(plain));
  assertPermanent(forwarded, { requests: 0, message: /HTTP_PROXY/, status: 407 });
});

test("a proxy that is not there, or drops the tunnel, may be there later", { skip }, async (t) => {
  const provider = await serve(t, { api, tls: good });
  const { url } = await proxy(t, { drops: true });
  const once = { retry: { enabled: false } };
  for (const HTTPS_PROXY of [url, "http://127.0.0.1:1"]) {
    const outcome = await within({ HTTPS_PROXY, NODE_EXTRA_CA_CERTS: ca }, () => ask(provider, {}, once));
    assertFailed(outcome, { requests: 0, retryable: true, message: /PROXY/ });
  }
});

test("a proxy that is no URL is said so by name, and its value is not quoted", async (t) => {
  const provider = await serve(t, { api });
  for (const HTTP_PROXY of ["http://", "::::", "http://user:pr0xy-pass@"]) {
    const outcome = await within({ HTTP_PROXY }, () => ask(provider));
    if (outcome.result) continue;
    assert.match(outcome.error.message, /HTTP_PROXY/, HTTP_PROXY);
    assert.notEqual(outcome.error.retryable, true);
    assertSealed(outcome, ["pr0xy-pass"], HTTP_PROXY);
  }
  assert.equal(
    (await within({ HTTP_PROXY: "" }, () => ask(provider))).result?.summary,
    "SUMMARY",
    "empty is none",
  );
});

/** Hosts that ask for something of their own, through a proxy that leads them to the loopback. */
const HOSTS = /** @type {[string, object, object][]} */ ([
  ["api.openai.com", {}, { store: false, max_completion_tokens: 25_600 }],
  ["api.openai.com", { reasoning: true }, { store: false, reasoning_effort: "low" }],
  [
    "api.openai.com",
    { reasoning: true, compat: { supportsReasoningEffort: false } },
    { reasoning_effort: undefined },
  ],
  ["api.example.test", { reasoning: true }, { store: undefined, reasoning_effort: undefined }],
  ["api.openai.com.example.test", {}, { store: undefined }],
  ["openrouter.ai", {}, { store: undefined }],
]);

test("pi PR#1573 what only OpenAI's own host is sent", { skip }, async (t) => {
  const provider = await serve(t, { api, tls: good });
  const { url } = await proxy(t, { sendsTo: provider.port });
  const env = { HTTPS_PROXY: url, NODE_EXTRA_CA_CERTS: ca };
  for (const [host, model, wanted] of HOSTS) {
    const baseUrl = `https://${host}/v1`;
    const { requests, result, error } = await within(env, () => ask(provider, { baseUrl, ...model }));
    assert.equal(result?.summary, "SUMMARY", error?.message);
    const { json } = /** @type {any} */ (requests.at(-1));
    for (const [field, value] of Object.entries(wanted)) assert.equal(json[field], value, `${host} ${field}`);
  }
});

/** Hosts that, as pi knows, want the older name of the allowance, and such as do not. */
const OLDER = [
  "llm.chutes.ai",
  "api.deepseek.com",
  "api.moonshot.ai",
  "gateway.ai.cloudflare.com",
  "api.together.xyz",
].concat(["api.together.ai", "integrate.api.nvidia.com", "api.ant-ling.com", "api.z.ai", "open.bigmodel.cn"]);
const NEWER = [
  "api.openai.com",
  "openrouter.ai",
  "api.x.ai",
  "api.cerebras.ai",
  "api.example.test",
  "example.test/api.z.a",
];

test("max_tokens goes to the hosts that want it, unless the model says otherwise", async (t) => {
  const provider = await serve(t, { api });
  const { url } = await proxy(t, { sendsTo: provider.port });
  const fieldAt = async (/** @type {string} */ host, /** @type {any} */ compat) => {
    const model = { baseUrl: `http://${host}/v1`, compat };
    const { requests, error } = await within({ HTTP_PROXY: url }, () => ask(provider, model));
    assert.equal(error, undefined, `${host}: ${error?.message}`);
    return Object.keys(/** @type {any} */ (requests.at(-1)).json)
      .filter((field) => /max_/.test(field))
      .join();
  };
  for (const host of OLDER) assert.equal(await fieldAt(host, undefined), "max_tokens", host);
  for (const host of NEWER) assert.equal(await fieldAt(host, undefined), "max_completion_tokens", host);
  const [newer, older] = /** @type {const} */ (["max_completion_tokens", "max_tokens"]);
  assert.equal(await fieldAt(OLDER[0], { maxTokensField: newer }), newer);
  assert.equal(await fieldAt(NEWER[0], { maxTokensField: older }), older);
});

test("a proxy's 503 is the provider's failure like any other", async (t) => {
  const { url } = await proxy(t, { refuses: 503 });
  assertTransient(await within({ HTTP_PROXY: url }, () => asked(t, { api }, ["NO"])), {
    requests: 0,
    status: 503,
  });
});
