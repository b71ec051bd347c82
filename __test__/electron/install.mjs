// An Electron and what it needs of the system, found or installed. What cannot be had comes back with the reason.

import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execute, launch, limited } from "../support/children.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** Git ignores it; a second run finds what the first has downloaded. */
export const folder = join(root, ".cache", "electron");
/** Where the folder with it is there: unpacks an Electron 22 for Linux x64. */
const TOOL = join(root, "..", "shared", "tools", "get-electron.sh");
const DOWNLOAD_MS = 300_000;
const START_MS = 60_000;
const LIBRARIES = ["libgtk-3-0", "libnss3", "libasound2", "libgbm1"];

/** @typedef {{ missing: string }} Missing why it cannot be had */
/** @typedef {{ dist: string, electron: string, node: string }} Electron its folder, and versions */

/** @returns {Promise<Electron | Missing>} */
export async function findElectron() {
  if (process.platform !== "linux") return { missing: "the app under test is packaged for Linux only" };
  const command = stated() ?? (await unpacked());
  if (typeof command !== "string") return command;
  let versions = versionsOf(command);
  if (lackedBy(versions)) {
    const why = await aptInstall(LIBRARIES);
    versions = versionsOf(command);
    const lacks = lackedBy(versions);
    if (lacks)
      return { missing: `${command} lacks ${lacks}: ${why ?? "apt-get brought other libraries only"}` };
  }
  if ("failed" in versions) throw new Error(`${command} does not run as Node: ${versions.failed}`);
  return { dist: distOf(command), ...versions };
}

/** What the caller has: `ELECTRON_BIN`, or the package `electron`. @returns {string | undefined} */
function stated() {
  if (process.env.ELECTRON_BIN) return process.env.ELECTRON_BIN;
  try {
    return createRequire(join(root, "package.json"))("electron");
  } catch {
    return undefined;
  }
}

/** @returns {Promise<string | Missing>} */
async function unpacked() {
  const dist = join(folder, "dist");
  if (existsSync(dist)) return join(dist, "electron");
  if (process.arch !== "x64" || !existsSync(TOOL)) {
    return {
      missing: "neither ELECTRON_BIN nor the npm package electron is there, and nothing to get one by",
    };
  }
  console.error("--- download Electron 22");
  const download = join(folder, "download");
  rmSync(download, { recursive: true, force: true });
  const failed = await execute("bash", [TOOL, download], { limit: DOWNLOAD_MS });
  // The tool ends by running it, which fails where libraries are missing.
  const tree = join(download, "squashfs-root");
  if (!existsSync(tree)) return { missing: `it cannot be downloaded: ${failed}` };
  rmSync(join(tree, "resources", "app.asar"));
  renameSync(join(tree, "fiftyone"), join(tree, "electron"));
  // A folder that only its owner may enter cannot be packaged for others.
  chmodSync(tree, 0o755);
  renameSync(tree, dist);
  rmSync(download, { recursive: true });
  return join(dist, "electron");
}

/** @typedef {{ electron: string, node: string } | { failed: string }} Versions */

/** @param {Versions} versions @returns {string | undefined} a library of the system that is not there */
function lackedBy(versions) {
  return "failed" in versions ? /shared libraries: (\S+):/.exec(versions.failed)?.[1] : undefined;
}

/** @param {string} command @returns {Versions} */
function versionsOf(command) {
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: "1", NODE_OPTIONS: "" };
  const script = "JSON.stringify(process.versions)";
  const { error, status, stdout, stderr } = spawnSync(command, ["-p", script], {
    env,
    encoding: "utf8",
    timeout: START_MS,
  });
  if (status !== 0) return { failed: error?.message ?? stderr.trim() };
  const { electron, node } = versionsIn(stdout);
  return electron ? { electron, node } : { failed: "it is no Electron" };
}

/** @param {string} said @returns {any} */
function versionsIn(said) {
  try {
    return JSON.parse(said);
  } catch {
    return {};
  }
}

/** A folder whose executable has the name that electron-builder looks for. @param {string} command */
function distOf(command) {
  if (basename(command) === "electron") return dirname(command);
  const dist = join(folder, "renamed");
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(dirname(command), dist, { recursive: true, verbatimSymlinks: true });
  renameSync(join(dist, basename(command)), join(dist, "electron"));
  return dist;
}

/** @returns {Promise<{ display: string } | Missing>} a display for windows that nobody sees */
export async function startDisplay() {
  const first = await xvfb();
  if (first) return { display: first };
  const why = await aptInstall(["xvfb"]);
  const display = why ? process.env.DISPLAY : await xvfb();
  return display ? { display } : { missing: `there is no display, no Xvfb, and ${why}` };
}

/** @returns {Promise<string | undefined>} the display of a server of our own */
function xvfb() {
  const args = ["-displayfd", "3", "-nolisten", "tcp", "-screen", "0", "640x480x24"];
  const child = launch("Xvfb", args, { env: {}, stdio: ["ignore", "ignore", "ignore", "pipe"] });
  const begun = limited(child, START_MS);
  return new Promise((resolve) => {
    child.once("error", () => resolve(undefined));
    child.once("exit", () => resolve(undefined));
    child.stdio[3]?.once("data", (/** @type {Buffer} */ number) => {
      begun();
      resolve(`:${String(number).trim()}`);
    });
  });
}

/** @param {string[]} packages @returns {Promise<string | undefined>} why not */
async function aptInstall(packages) {
  if (process.getuid?.() !== 0) return `only root may install ${packages.join(" ")}`;
  console.error(`--- apt-get install ${packages.join(" ")}`);
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const steps = [["update"], ["install", "-y", "--no-install-recommends", ...packages]];
  for (const step of steps) {
    const failed = await execute("apt-get", step, { env, limit: DOWNLOAD_MS });
    if (failed) return `apt-get ${step[0]} failed: ${failed}`;
  }
  return undefined;
}
