// pi inside a program of ours, as a process beside the tests.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { EXTENSION, environmentOf } from "./pi-home.mjs";
import { soon } from "./provider.mjs";

const PROGRAM = fileURLToPath(new URL("./programs/pi-sdk.mjs", import.meta.url));

/** @param {import("./pi-hosts.mjs").Scope} scope @param {import("./pi-hosts.mjs").Host} host @param {import("./pi-home.mjs").Home} home */
export function startSdk(scope, host, home) {
  const args = [PROGRAM, join(host.root, "dist/index.js"), EXTENSION, home.cwd, home.agent];
  const child = spawn(host.node, args, { cwd: home.cwd, env: environmentOf(home) });
  const ended = once(child, "exit");
  let errors = "";
  child.stderr.on("data", (bytes) => {
    errors += bytes;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  scope.after(() => {
    child.kill();
    return soon(ended, "the end of the program");
  });
  const write = (/** @type {object} */ command) => child.stdin.write(`${JSON.stringify(command)}\n`);
  return {
    /** @param {string} command @param {string} file @returns {Promise<any>} */
    async ask(command, file) {
      write({ command, file });
      const { value, done } = await lines.next();
      if (done) throw new Error(`the program ended: ${errors}`);
      return JSON.parse(value);
    },
    abort: () => write({ command: "abort" }),
  };
}
