// The packaged app, started with a question or with an ending.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, limited } from "../support/children.mjs";

/** Nothing that is alive takes so long. */
export const HANG_MS = 60_000;
const APP = setting("ELECTRON_APP");
export const RESOURCES = join(APP, "resources");
export const EXECUTABLE = join(APP, "probe");
const CHROMIUM = ["--no-sandbox", "--disable-gpu"];

/** Where the package lies: unpacked beside the archive with the app, or in a folder outside of it. */
export const ENTRIES = {
  "app.asar.unpacked": "pi-compaction-native",
  "beside the asar": join(RESOURCES, "agent", "node_modules", "pi-compaction-native"),
};

/** @param {string} name @returns {string} what the script that packages the app said */
export function setting(name) {
  const value = process.env[name];
  if (value === undefined)
    throw new Error(`${name} is not set: run these tests by \`npm run test:electron\``);
  return value;
}

/** @typedef {{ code: number | string | null, said: string, report: any }} Ended */

/**
 * The app with a probe in its main process.
 *
 * @param {{ inside?: string, stopped?: boolean, ending?: string, question?: string, entries: string[], input: object }} probe
 */
export function inApp(probe) {
  return probed(probe, EXECUTABLE, CHROMIUM, {});
}

/** The app's Electron as a Node that runs a script of the archive. @param {{ question: string, entries: string[], input: object }} probe */
export function asNode(probe) {
  const script = join(RESOURCES, "app.asar", "alone.js");
  return probed(probe, EXECUTABLE, [script], { ELECTRON_RUN_AS_NODE: "1" });
}

/** The app's Electron as a Node. @param {string[]} args @param {Record<string, string>} env @returns {Promise<Omit<Ended, "report">>} */
export function node(args, env = {}) {
  return ended(EXECUTABLE, args, { ...env, ELECTRON_RUN_AS_NODE: "1" });
}

/** @param {{ input: object }} probe @param {string} command @param {string[]} args @param {Record<string, string>} env @returns {Promise<Ended>} */
async function probed({ input, ...probe }, command, args, env) {
  const place = mkdtempSync(join(tmpdir(), "probe-"));
  const [report, inputFile] = [join(place, "report.json"), join(place, "input.json")];
  writeFileSync(inputFile, JSON.stringify(input));
  try {
    const settings = { PROBE: JSON.stringify({ ...probe, input: inputFile, report }) };
    const outcome = await ended(command, args, { ...env, ...settings, HOME: place });
    return { ...outcome, report: read(report) };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** @param {string} path @returns {any} */
function read(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** @param {string} command @param {string[]} args @param {Record<string, string>} more @returns {Promise<Omit<Ended, "report">>} */
function ended(command, args, more) {
  // The test runner's own settings are not for Electron.
  const env = { NODE_OPTIONS: "", NODE_TEST_CONTEXT: "", ...more };
  const child = launch(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      said += text;
    });
  }
  const hung = limited(child, HANG_MS);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code: hung() ?? code ?? signal, said }));
  });
}
