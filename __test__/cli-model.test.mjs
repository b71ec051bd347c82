// The command line with a model: who is asked, with which key, and what a person reads when it fails.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { KEY, serve } from "./support/provider.mjs";

const COMMAND = fileURLToPath(new URL("../bin/pi-compaction.js", import.meta.url));
const SESSION = fileURLToPath(new URL("../examples/session.jsonl", import.meta.url));
/** Longer than any machine should take, in milliseconds. */
const HANG = 60_000;

/** @param {string[]} words @param {string} [key] @returns {Promise<{ code: any, stdout: string, stderr: string }>} */
function compact(words, key) {
  const { PI_COMPACTION_API_KEY: _, ...rest } = process.env;
  const env = key === undefined ? rest : { ...rest, PI_COMPACTION_API_KEY: key };
  return new Promise((resolve) => {
    const args = [COMMAND, "compact", SESSION, ...words];
    execFile(process.execPath, args, { env, timeout: HANG }, (error, stdout, stderr) => {
      resolve({ code: error ? error.code : 0, stdout, stderr });
    });
  });
}

/** @param {Awaited<ReturnType<typeof serve>>} provider */
const named = ({ model }) => ["--model", model.id, "--base-url", model.baseUrl, "--api", model.api];

for (const api of /** @type {const} */ (["openai-completions", "anthropic-messages"])) {
  test(`a model writes through ${api}, with the key of the environment`, async (t) => {
    const provider = await serve(t, { api, steps: ["# Goal\nPort the tokenizer."] });
    const before = readFileSync(SESSION);
    const { code, stdout, stderr } = await compact([...named(provider), "--max-output", "5000"], KEY);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^# Goal\nPort the tokenizer\./);
    assert.match(stderr, /request 1 of \d+: [\d,]+ tokens/);
    const [request] = provider.requests;
    assert.equal(request.headers["x-api-key"] ?? request.headers.authorization?.slice("Bearer ".length), KEY);
    assert.ok(request.maxTokens <= 5_000);
    assert.ok(!stdout.includes(KEY) && !stderr.includes(KEY));
    assert.deepEqual(readFileSync(SESSION), before);
  });
}

test("a provider that wants a key is told about with the variable that holds it", async (t) => {
  const provider = await serve(t, { api: "openai-completions", steps: [{ status: 401, body: "{}" }] });
  for (const key of [undefined, KEY]) {
    const { code, stdout, stderr } = await compact(named(provider), key);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /summary_provider: .*key.*PI_COMPACTION_API_KEY\n$/);
    assert.ok(!stderr.includes(KEY));
  }
});

test("what names a model goes together, and not with the length of a summary without one", async () => {
  const all = ["--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--api", "openai-completions"];
  const wrong = [all.slice(0, 2), all.slice(0, 4), all.slice(2), [...all, "--max-chars", "500"]];
  for (const words of wrong) {
    const { code, stderr } = await compact(words);
    assert.equal(code, 2, words.join(" "));
    assert.match(stderr, /--(model|max-chars)/);
  }
  const { code, stderr } = await compact([...all.slice(0, 4), "--api", "carrier-pigeon"]);
  assert.equal(code, 1);
  assert.match(stderr, /unsupported_api: .*anthropic-messages/);
});
