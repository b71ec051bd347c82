// One pi on one fresh session after another, and what each compaction asked, told and wrote.

import { readFileSync } from "node:fs";
import { checkpointsOf, entriesOf, homeOf, ledgerOf } from "./pi-home.mjs";
import { startRpc } from "./pi-rpc.mjs";

/** @typedef {Awaited<ReturnType<Guest["compact"]>>} Outcome */
/**
 * `chosen`: what the settings file holds; a string is its text.
 *
 * @typedef {{ chosen?: unknown, steps?: import("./provider.mjs").Step[], command?: object,
 *   change?: (text: string) => string, model?: string }} Visit
 */

/**
 * @param {import("./pi-hosts.mjs").Scope} scope @param {import("./pi-hosts.mjs").Host} host
 * @param {Parameters<typeof homeOf>[1]} home @param {Parameters<typeof startRpc>[3]} start
 */
export async function guestOf(scope, host, home = {}, start = {}) {
  const at = await homeOf(scope, home);
  return new Guest(at, startRpc(scope, host, at, start));
}

export class Guest {
  /** @param {import("./pi-home.mjs").Home} home @param {ReturnType<typeof startRpc>} pi */
  constructor(home, pi) {
    this.home = home;
    this.pi = pi;
  }

  /** Begins a fresh session. @param {Visit} visit */
  async visit({ chosen, steps = ["SUMMARY"], change, model = "chat" } = {}) {
    const { home, pi } = this;
    home.choose(chosen);
    home.script(steps);
    const file = home.session(change);
    await pi.ask({ type: "switch_session", sessionPath: file });
    await pi.ask({ type: "set_model", provider: "fake", modelId: model });
    return this.#watch(file);
  }

  /** `/compact` on a fresh session, to its end. @param {Visit} visit */
  async compact(visit = {}) {
    const watch = await this.visit(visit);
    const answer = await this.pi.ask({ type: "compact", ...visit.command });
    return { answer, ...watch.seen() };
  }

  /** @param {string} file */
  #watch(file) {
    const { home, pi } = this;
    const before = readFileSync(file, "utf8");
    const heard = pi.lines.length;
    const asked = home.requests.length;
    const seen = () => {
      const entries = entriesOf(file);
      const told = pi.lines.slice(heard).filter(({ method }) => method === "notify");
      return {
        file,
        before,
        entries,
        checkpoints: checkpointsOf(entries),
        ledger: ledgerOf(entries),
        requests: home.requests.slice(asked),
        notified: told,
        warnings: told.filter(({ notifyType }) => notifyType !== "info").map(({ message }) => message),
        thrown: pi.lines.slice(heard).filter(({ type }) => type === "extension_error"),
      };
    };
    return { file, heard, asked, seen };
  }
}
