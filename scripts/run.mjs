// Runs commands one after the other and stops at the first that fails.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
export const npm = process.platform === "win32" ? "npm.cmd" : "npm";

/** What a clone needs before anything of it runs. */
export const install = [
  ["install", npm, ["ci", "--no-audit", "--no-fund"]],
  ["build", npm, ["run", "--silent", "build"]],
];

/** @param {string} title @param {string} folder of the tests @param {string[]} more @returns {[title: string, command: string, args: string[]]} */
function installed(title, folder, ...more) {
  const args = [
    "ci",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    ...more,
    "--prefix",
    `__test__/${folder}`,
  ];
  return [title, npm, args];
}

/** pi's own packages, which tests and benches compare with. They ask for a newer Node than they need. */
export const installOracle = installed("install pi for comparison", "oracle", "--force");

/** What hosts bundle with. */
export const installTools = installed("install bundlers", "tools");

/** What hosts package Electron apps with. */
export const installElectronBuilder = installed("install electron-builder", "electron");

/** The versions of pi that the extension is tested in, and a Node for the newer ones where this one is too old. */
export const installHosts = ["pi-0.74.2", "pi-0.87.1", "pi-1.6.0", ...(needsNode() ? ["node-24"] : [])].map(
  (name) => installed(`install ${name}`, `hosts/${name}`, "--force"),
);

/** Only for Linux on x64 is there a Node to be had this way. */
function needsNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  const isOld = major < 22 || (major === 22 && minor < 19);
  return isOld && process.platform === "linux" && process.arch === "x64";
}

/** @param {[title: string, command: string, args: string[]][]} steps */
export function run(steps) {
  for (const [title, command, args] of steps) {
    console.error(`\n--- ${title}`);
    const start = performance.now();
    const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
    if (status !== 0) {
      console.error(`--- ${title} failed: ${error?.message ?? `exit code ${status}`}`);
      process.exit(1);
    }
    console.error(`--- ${title}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  }
}
