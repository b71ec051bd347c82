// pi without a terminal: commands in, answers and events out, a line each.

import { spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { createInterface } from "node:readline";
import { CHAT, EXTENSION, environmentOf } from "./pi-home.mjs";
import { soon } from "./provider.mjs";

/** pi's start alone takes some seconds on a busy machine. */
const HANG_MS = 60_000;

/**
 * @param {any} t whose end ends it
 * @param {import("./pi-hosts.mjs").Host} host
 * @param {import("./pi-home.mjs").Home} home
 * @param {{ extensions?: string[], args?: string[] }} how
 */
export function startRpc(t, host, home, { extensions = [EXTENSION], args = [] } = {}) {
  const flags = [
    "--mode",
    "rpc",
    "--session",
    home.file,
    "--model",
    CHAT,
    "--no-skills",
    "--no-prompt-templates",
  ];
  const loaded = ["--no-extensions", ...extensions.flatMap((path) => ["-e", path])];
  const child = spawn(host.node, [host.cli, ...flags, ...loaded, ...args], {
    cwd: home.cwd,
    env: environmentOf(home),
    stdio: ["pipe", "pipe", "pipe"],
  });
  return new Rpc(t, child);
}

class Rpc {
  /** @type {any[]} Everything that came. */
  lines = [];
  #heard = new EventEmitter().setMaxListeners(0);
  errors = "";
  #sent = 0;
  /** @type {import("node:child_process").ChildProcessWithoutNullStreams} */
  #child;

  /** @param {any} t @param {import("node:child_process").ChildProcessWithoutNullStreams} child */
  constructor(t, child) {
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
    t.after(() => this.end());
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

  /** The first line of that kind, once it came. @param {(line: any) => boolean} isIt @param {string} what @returns {Promise<any>} */
  next(isIt, what) {
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
        const found = this.lines.find(isIt);
        if (found !== undefined) settle(() => resolve(found));
      };
      const timer = setTimeout(fail, HANG_MS, "said nothing");
      this.#heard.on("line", look).on("exit", fail);
      look();
    });
  }

  /** What the extension told the user. @returns {{ message: string, notifyType: string }[]} */
  get notified() {
    return this.lines.filter(({ method }) => method === "notify");
  }

  /** Notifications above "info". */
  get warnings() {
    return this.notified.filter(({ notifyType }) => notifyType !== "info").map(({ message }) => message);
  }

  /** Lines that tell that an extension threw. */
  get thrown() {
    return this.lines.filter(({ type }) => type === "extension_error");
  }

  async end() {
    this.#child.stdin.end();
    this.#child.kill();
    await soon(this.exited, "the end of pi");
  }
}
