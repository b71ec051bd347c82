import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Far beyond what any of them needs; only a hang takes so long. */
const HANG_MS = 60_000;

/**
 * Runs a program of `support/programs` in a process of its own.
 *
 * @param {string} name @param {string[]} flags of Node
 * @param {{ args?: string[], env?: Record<string, string | undefined> }} more `env` is added to this process's
 * @returns {Promise<{ code: number | string | null, stdout: string, stderr: string }>}
 */
export function outputOf(name, flags = [], { args = [], env = {} } = {}) {
  const path = fileURLToPath(new URL(`./programs/${name}`, import.meta.url));
  const options = { timeout: HANG_MS, env: { ...process.env, ...env } };
  return new Promise((resolve) => {
    execFile(process.execPath, [...flags, path, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code ?? error.signal ?? null) : 0, stdout, stderr });
    });
  });
}
