// One compaction of a session at a time: two at once would leave two checkpoints of the same range.

import { setImmediate as turn } from "node:timers/promises";

export class Turnstile {
  #running: { ended: Promise<unknown>; giveUp: AbortController } | undefined;

  /**
   * Runs `work` with a signal that fires with the host's and when the session ends. While another compaction runs it
   * waits for its end and answers `undefined`; the host's signal then gives up that one.
   */
  async pass<T>(host: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const running = this.#running;
    if (running !== undefined) {
      const giveUp = () => running.giveUp.abort(host.reason);
      if (host.aborted) giveUp();
      host.addEventListener("abort", giveUp, { once: true });
      await running.ended;
      host.removeEventListener("abort", giveUp);
      // pi drops the state that both share when either ends: the first must have stored its checkpoint by then.
      await turn();
      return undefined;
    }
    const giveUp = new AbortController();
    const ended = work(AbortSignal.any([host, giveUp.signal]));
    this.#running = { ended: ended.catch(() => {}), giveUp };
    try {
      return await ended;
    } finally {
      this.#running = undefined;
    }
  }

  /** The session is left, or pi ends. */
  close(): void {
    this.#running?.giveUp.abort();
  }
}
