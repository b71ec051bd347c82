// pi in RPC mode, as a child process.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";

export class Pi {
  #child;
  #last = 0;
  /** @type {Map<string, (response: any) => void>} */
  #open = new Map();
  /** @type {Set<(event: any) => void>} */
  #listeners = new Set();

  /** @param {string} cli @param {string[]} args @param {{ cwd: string, env: NodeJS.ProcessEnv }} place */
  constructor(cli, args, place) {
    this.#child = spawn(process.execPath, [cli, "--mode", "rpc", ...args], {
      ...place,
      stdio: ["pipe", "pipe", "inherit"],
    });
    let rest = "";
    // Not readline: it also ends lines at U+2028, which may stand inside JSON.
    this.#child.stdout.setEncoding("utf8").on("data", (/** @type {string} */ piece) => {
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line) this.#receive(JSON.parse(line));
    });
  }

  /** @param {any} message */
  #receive(message) {
    if (message.type !== "response") for (const listener of this.#listeners) listener(message);
    else this.#open.get(message.id)?.(message);
  }

  /** Sends a command and waits for its response. @param {Record<string, unknown>} command @returns {Promise<any>} */
  async ask(command) {
    const id = String(++this.#last);
    const answered = new Promise((resolve) => this.#open.set(id, resolve));
    this.#child.stdin.write(`${JSON.stringify({ id, ...command })}\n`);
    const response = await answered;
    this.#open.delete(id);
    if (!response.success) throw new Error(`${command.type}: ${response.error}`);
    return response.data;
  }

  /** The next event of a type. @param {string} type @returns {Promise<any>} */
  event(type) {
    return new Promise((resolve) => {
      const listener = (/** @type {any} */ event) => {
        if (event.type !== type) return;
        this.#listeners.delete(listener);
        resolve(event);
      };
      this.#listeners.add(listener);
    });
  }

  /** Waits until pi is idle and `done` is true. @param {() => boolean} done */
  async idle(done) {
    for (;;) {
      await delay(50);
      const { isStreaming } = await this.ask({ type: "get_state" });
      if (!isStreaming && done()) return;
    }
  }

  async close() {
    this.#child.stdin.end();
    await once(this.#child, "exit");
  }
}
