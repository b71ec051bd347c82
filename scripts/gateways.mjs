// Compactions through real gateways: LiteLLM in front of a provider of our own, llama.cpp's server with a tiny model.
// Installs them where they are not there yet; what cannot be had is skipped with a line that says why.

import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder, installLitellm, installLlama } from "../__test__/gateways/install.mjs";
import { LITELLM_ENV, litellmConfig } from "../__test__/gateways/litellm.mjs";
import { freePort, start } from "../__test__/gateways/servers.mjs";
import { startUpstream } from "../__test__/gateways/upstream.mjs";
import { script, testFiles } from "../__test__/support/children.mjs";
import { root } from "./run.mjs";

/** @typedef {{ tests: string[], env: Record<string, string> }} Started */

/** A prompt of llama.cpp's server may hold no more; above the guard's own reserves, so that a smaller plan exists. */
const LLAMA_WINDOW = 8_192;

/** @param {string} name @param {string} why */
function skipped(name, why) {
  console.error(`--- ${name} skipped: ${why}`);
  return undefined;
}

/** @param {string} key @returns {Promise<Started | undefined>} */
async function startLitellm(key) {
  const installed = await installLitellm();
  if ("missing" in installed) return skipped("LiteLLM", installed.missing);
  const upstream = await startUpstream();
  const config = join(folder, "litellm.yaml");
  writeFileSync(config, litellmConfig(upstream.url));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await start({
    name: "litellm",
    command: installed.command,
    args: ["--config", config, "--host", "127.0.0.1", "--port", String(port)],
    env: { ...LITELLM_ENV, LITELLM_MASTER_KEY: key },
    health: `${url}/health/liveliness`,
  });
  return {
    tests: ["litellm.gateway.mjs", "litellm-own.gateway.mjs"],
    env: { GATEWAY_LITELLM: url, GATEWAY_UPSTREAM: upstream.url },
  };
}

/** @param {string} key @returns {Promise<Started | undefined>} */
async function startLlama(key) {
  const installed = await installLlama(process.argv.includes("--build"));
  if ("missing" in installed) return skipped("llama.cpp's server", installed.missing);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const address = ["--host", "127.0.0.1", "--port", String(port)];
  await start({
    name: "llama",
    command: installed.command,
    // One slot: several would share the window.
    args: ["-m", installed.model, ...address, "-c", String(LLAMA_WINDOW), "--parallel", "1", "--fit", "off"],
    env: { LLAMA_API_KEY: key },
    health: `${url}/health`,
  });
  return {
    tests: ["llama.gateway.mjs"],
    env: { GATEWAY_LLAMA: url, GATEWAY_LLAMA_WINDOW: String(LLAMA_WINDOW) },
  };
}

/** @param {Started[]} started @param {string} key @returns {Promise<number>} the exit code of the tests */
function test(started, key) {
  const files = started.flatMap(({ tests }) => tests.map((name) => join(root, "__test__", "gateways", name)));
  return testFiles(files, Object.assign({ GATEWAY_KEY: key }, ...started.map((one) => one.env)));
}

async function main() {
  const key = `sk-${randomBytes(24).toString("hex")}`;
  const started = [await startLlama(key), await startLitellm(key)].filter((one) => one !== undefined);
  return started.length === 0 ? 0 : test(started, key);
}

await script("gateways", main);
