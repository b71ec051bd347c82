// Processes that end with this one, with all that they started in turn.

import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

const STOP_MS = 5_000;

/** @typedef {import("node:child_process").ChildProcess} ChildProcess */

/** @type {Set<ChildProcess>} */
const running = new Set();

/**
 * Starts a command in a process group of its own, so that a signal reaches what it starts.
 *
 * @param {string} command @param {string[]} args
 * @param {{ cwd?: string, env: Record<string, string>, stdio: import("node:child_process").StdioOptions }} options
 */
export function launch(command, args, { env, ...options }) {
  const child = spawn(command, args, { ...options, env: { ...process.env, ...env }, detached: true });
  running.add(child);
  child.once("exit", () => running.delete(child));
  child.once("error", () => running.delete(child));
  return child;
}

/**
 * Runs a command to its end.
 *
 * @param {string} command @param {string[]} args
 * @param {{ env?: Record<string, string>, limit?: number }} options `limit`: milliseconds after which it is killed
 * @returns {Promise<string | undefined>} what went wrong, on one line
 */
export function execute(command, args, { env = {}, limit } = {}) {
  const child = launch(command, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  const ended = limited(child, limit);
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
    said = (said + text).slice(-4_096);
  });
  return new Promise((resolve) => {
    child.once("error", ({ message }) => resolve(message));
    child.once("close", (code, signal) => {
      const last = said.trim().split("\n").at(-1);
      const failed = code === 0 ? undefined : last || `it ended with ${code ?? signal}`;
      resolve(ended() ?? failed);
    });
  });
}

/**
 * Kills a process of {@link launch} and what it started, when it takes too long.
 *
 * @param {ChildProcess} child @param {number | undefined} limit in milliseconds
 * @returns {() => string | undefined} ends the watch, and says whether it was too long
 */
export function limited(child, limit) {
  if (limit === undefined) return () => undefined;
  /** @type {string | undefined} */
  let tooLong;
  const timer = setTimeout(() => {
    tooLong = `it takes longer than ${limit / 1000} s`;
    signalGroup(child, "SIGKILL");
  }, limit);
  return () => {
    clearTimeout(timer);
    return tooLong;
  };
}

/**
 * Runs the whole of a script and ends it with the exit code, whatever listens still. What it started ends before it, on
 * a signal too.
 *
 * @param {string} title @param {() => Promise<number>} main
 */
export async function script(title, main) {
  let interrupted = false;
  process.once("exit", killAll);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.once(signal, () => {
      interrupted = true;
      stopAll().finally(() => process.exit(1));
    });
  }
  const code = await main()
    .catch((/** @type {Error} */ error) => {
      console.error(`--- ${title} failed: ${error.message}`);
      return 1;
    })
    .finally(stopAll);
  process.exit(interrupted ? 1 : code);
}

/** Runs test files with these settings. @param {string[]} files @param {Record<string, string>} env @returns {Promise<number>} their exit code */
export function testFiles(files, env) {
  const stdio = /** @type {const} */ (["ignore", "inherit", "inherit"]);
  return new Promise((resolve, reject) => {
    const child = launch(process.execPath, ["--test", ...files], { env, stdio: [...stdio] });
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

/** Asks every process to end, then insists. */
async function stopAll() {
  const ends = [...running].map((child) => new Promise((resolve) => child.once("exit", resolve)));
  kill("SIGTERM");
  const patience = new AbortController();
  const waited = sleep(STOP_MS, undefined, { signal: patience.signal }).catch(() => {});
  await Promise.race([Promise.all(ends), waited]);
  patience.abort();
  killAll();
}

/** For a process that is about to end and can wait for nothing. */
function killAll() {
  kill("SIGKILL");
}

/** @param {NodeJS.Signals} signal */
function kill(signal) {
  for (const child of running) signalGroup(child, signal);
}

/** @param {ChildProcess} child @param {NodeJS.Signals} signal */
function signalGroup({ pid }, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It has ended already.
  }
}
