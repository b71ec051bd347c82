// Everything that has to hold before a change lands. Asserts no durations.

import { readdirSync } from "node:fs";
import { join } from "node:path";

import { install, installHosts, installOracle, installTools, root, run } from "./run.mjs";

const tests = readdirSync(join(root, "__test__"))
  .filter((name) => name.endsWith(".test.mjs"))
  .map((name) => `__test__/${name}`);

run([
  ...install,
  ["generated files are committed", "git", ["diff", "--exit-code", "--stat", "binding.js", "binding.d.ts"]],
  ["size and symbols of the binary", process.execPath, ["scripts/binary.mjs"]],
  ["format", "cargo", ["fmt", "--check"]],
  ["lint the addon", "cargo", ["clippy", "--quiet", "--", "-D", "warnings"]],
  [
    "lint the core and its tests",
    "cargo",
    ["clippy", "--quiet", "--all-targets", "--no-default-features", "--", "-D", "warnings"],
  ],
  ["arrows", process.execPath, ["scripts/check-arrows.mjs"]],
  ["lint JavaScript", "npx", ["biome", "ci"]],
  ["requirements", process.execPath, ["scripts/requirements.mjs"]],
  ["test the core", "cargo", ["test", "--quiet", "--no-default-features"]],
  installOracle,
  installTools,
  ...installHosts,
  ["typings", "npx", ["tsc", "-p", "__test__/types"]],
  ["typings of the drop-in", "npx", ["tsc", "-p", "__test__/types/pi-desktop"]],
  ["test", process.execPath, ["--test", ...tests]],
  ["test in Electron, where one can be had", process.execPath, ["scripts/electron.mjs"]],
]);
