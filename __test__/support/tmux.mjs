// A terminal for a program: keys in, the screen out.

import { execFile, spawnSync } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
/** pi's start alone takes some seconds on a busy machine. */
const HANG_MS = 60_000;
let terminals = 0;

/** Why there is no terminal; false where there is one. */
export const missing =
  spawnSync("tmux", ["-V"]).status !== 0 &&
  "tmux is not installed: nothing that draws in a terminal is tried";

/** @typedef {{ command: string[], cwd: string, env: Record<string, string | undefined>, columns: number, rows: number }} Program */

export class Terminal {
  #server = `pi-compaction-${process.pid}-${++terminals}`;

  /** @param {import("./pi-hosts.mjs").Scope} scope @param {Program} program */
  static async open(scope, { command, cwd, env, columns, rows }) {
    const terminal = new Terminal();
    scope.after(() => terminal.#tmux("kill-server").catch(() => {}));
    const set = Object.entries({ ...env, TERM: "xterm-256color" }).map(([name, value]) => `${name}=${value}`);
    const size = ["-x", String(columns), "-y", String(rows)];
    const all = ["env", "-i", ...set, ...command].map(quoted).join(" ");
    await terminal.#tmux("-f", "/dev/null", "new-session", "-d", ...size, "-c", cwd, all);
    return terminal;
  }

  /** @param {string[]} args */
  async #tmux(...args) {
    const { stdout } = await run("tmux", ["-L", this.#server, ...args]);
    return stdout;
  }

  /** Names of keys (`Enter`, `Down`). @param {string[]} keys */
  press(...keys) {
    return this.#tmux("send-keys", ...keys);
  }

  /** @param {string} text */
  type(text) {
    return this.#tmux("send-keys", "-l", text);
  }

  /** @param {number} columns @param {number} rows */
  resize(columns, rows) {
    return this.#tmux("resize-window", "-x", String(columns), "-y", String(rows));
  }

  /** The lines that are seen. */
  async screen() {
    return (await this.#tmux("capture-pane", "-p")).split("\n");
  }

  /** The screen, as soon as it is as asked. @param {(screen: string[]) => boolean} isIt @param {string} what */
  async sees(isIt, what) {
    const limit = Date.now() + HANG_MS;
    for (;;) {
      const screen = await this.screen();
      if (isIt(screen)) return screen;
      if (Date.now() > limit) throw new Error(`${what} is never seen:\n${screen.join("\n")}`);
      await wait(50);
    }
  }
}

/** @param {string} word */
const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;
