// pi without a terminal: commands in, answers and events out, a line each.

import { spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { createInterface } from "node:readline";
import { CHAT, EXTENSION, environmentOf } from "./pi-home.mjs";
import { soon } from "./provider.mjs";

/** pi's start alone takes some seconds on a busy machine. */
const HANG_MS = 60_000;

/**
 * @param {import("./pi-hosts.mjs").Scope} scope whose end ends it
 * @param {import("./pi-hosts.mjs").Host} host
 * @param {import("./pi-home.mjs").Home} home
 * @param {{ extensions?: string[] }} how
 */
export function startRpc(scope, host, home, { extensions = [EXTENSION] } = {}) {
  const child = spawn(host.node, [host.cli, "--mode", "rpc", ...flagsOf(home.session(), extensions)], {
    cwd: home.cwd,
    env: environmentOf(home),
    stdio: ["pipe", "pipe", "pipe"],
  });
  return new Rpc(scope, child);
}

/** Flags of pi: this session, the chat's model, these extensions and nothing else. @param {string} session @param {string[]} extensions */
export function flagsOf(session, extensions) {
  const bare = ["--no-skills", "--no-prompt-templates", "--no-extensions"];
  return ["--session", session, "--model", CHAT, ...bare, ...extensions.flatMap((path) => ["-e", path])];
}

class Rpc {
  /** @type {any[]} Everything that came. */
  lines = [];
  #heard = new EventEmitter().setMaxListeners(0);
  errors = "";
  #sent = 0;
  /** @type {import("node:child_process").ChildProcessWithoutNullStreams} */
  #child;

  /** @param {import("./pi-hosts.mjs").Scope} scope @param {import("node:child_process").ChildProcessWithoutNullStreams} child */
  constructor(scope, child) {
    this.#child = child;
    this.exited = new Promise((resolve) => child.on("close", resolve));
    child.on("close", (code, signal) => this.#heard.emit("exit", `ended with ${code ?? signal}`));
    createInterface({ input: child.stdout }).on("line", (line) => {
      this.lines.push(JSON.parse(line));
      this.#heard.emit("line");
    });
    child.stderr.on("data", (bytes) => {
      this.errors += bytes;
    });
    scope.after(() => this.end());
  }

  /** @param {object} message */
  write(message) {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** The answer to a command. @param {{ type: string, [field: string]: unknown }} command @returns {Promise<any>} */
  async ask(command) {
    const id = `q${++this.#sent}`;
    this.write({ id, ...command });
    return this.next((line) => line.type === "response" && line.id === id, command.type);
  }

  /**
   * The first line of that kind, once it came.
   *
   * @param {(line: any) => boolean} isIt @param {string} what @param {number} from the first line that counts
   * @returns {Promise<any>}
   */
  next(isIt, what, from = 0) {
    return new Promise((resolve, reject) => {
      const settle = (/** @type {() => void} */ how) => {
        clearTimeout(timer);
        this.#heard.off("line", look);
        this.#heard.off("exit", fail);
        how();
      };
      const fail = (/** @type {string} */ why) =>
        settle(() => reject(new Error(`${what} never came: pi ${why}\n${this.errors}`)));
      const look = () => {
        const found = this.lines.slice(from).find(isIt);
        if (found !== undefined) settle(() => resolve(found));
      };
      const timer = setTimeout(fail, HANG_MS, "said nothing");
      this.#heard.on("line", look).on("exit", fail);
      look();
    });
  }

  async end() {
    this.#child.stdin.end();
    this.#child.kill();
    await soon(this.exited, "the end of pi");
  }
}
