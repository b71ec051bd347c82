// The package in a real Electron: an app packaged by electron-builder, started with every kind of process. Takes
// `ELECTRON_BIN` or the npm package `electron`, else gets one; what cannot be had is skipped with a line that says why.

import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { findElectron, startDisplay } from "../__test__/electron/install.mjs";
import { packageApp } from "../__test__/electron/packaging.mjs";
import { script, testFiles } from "../__test__/support/children.mjs";
import { installElectronBuilder, installTools, root } from "./run.mjs";

/** Nothing that is alive takes so long. */
const INSTALL_MS = 600_000;

/** @param {string} why */
function skipped(why) {
  console.error(`--- Electron skipped: ${why}`);
  return 0;
}

/** @param {string} folder @param {[title: string, command: string, args: string[]]} step @returns {string | undefined} why not */
function install(folder, [title, command, args]) {
  if (isInstalled(join(root, "__test__", folder))) return undefined;
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit", timeout: INSTALL_MS });
  return status === 0 ? undefined : `${title}: ${error?.message ?? `exit code ${status}`}`;
}

/** @param {string} folder whether what its lock file names is there */
function isInstalled(folder) {
  try {
    const { mtimeMs } = statSync(join(folder, "node_modules", ".package-lock.json"));
    return mtimeMs >= statSync(join(folder, "package-lock.json")).mtimeMs;
  } catch {
    return false;
  }
}

/** @param {string} app @param {string} display @returns {Promise<number>} the exit code of the tests */
function test(app, display) {
  const folder = join(root, "__test__", "electron");
  const files = readdirSync(folder).filter((name) => name.endsWith(".electron.mjs"));
  return testFiles(
    files.map((name) => join(folder, name)),
    { ELECTRON_APP: app, DISPLAY: display },
  );
}

async function main() {
  const electron = await findElectron();
  if ("missing" in electron) return skipped(electron.missing);
  const display = await startDisplay();
  if ("missing" in display) return skipped(display.missing);
  console.error(`--- Electron ${electron.electron}, its Node ${electron.node}`);
  const missing = install("tools", installTools) ?? install("electron", installElectronBuilder);
  if (missing) return skipped(missing);
  return test(await packageApp(electron), display.display);
}

await script("Electron", main);
