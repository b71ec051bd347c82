// Servers on free loopback ports.

import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { launch } from "../support/children.mjs";
import { folder } from "./install.mjs";

/** Far beyond what any of them needs on a slow machine. */
const START_MS = 180_000;
const POLL_MS = 200;

/** @returns {Promise<number>} a port that nobody listens on */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}

/**
 * Starts a server and waits until it answers at `health`.
 *
 * @param {{ name: string, command: string, args: string[], env: Record<string, string>, health: string }} server
 */
export async function start({ name, command, args, env, health }) {
  const path = join(folder, `${name}.log`);
  const log = openSync(path, "w");
  const child = launch(command, args, { cwd: folder, env, stdio: ["ignore", log, log] });
  closeSync(log);
  /** @type {string | undefined} */
  let ended;
  child.once("error", ({ message }) => (ended = message));
  child.once("exit", (code, signal) => {
    ended ??= `it ended with ${code ?? signal}`;
  });
  const until = Date.now() + START_MS;
  while (!(await answers(health))) {
    if (Date.now() > until) ended ??= `it did not answer for ${START_MS / 1_000} s`;
    if (ended) throw new Error(`${name} did not start: ${ended}\n${lastLines(path)}`);
    await sleep(POLL_MS);
  }
}

/** @param {string} url */
async function answers(url) {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}

/** @param {string} path */
function lastLines(path) {
  return readFileSync(path, "utf8").trimEnd().split("\n").slice(-20).join("\n");
}
