// What a user sees of a compaction: lines in the session, which stay in its file and never reach a model, and
// notifications.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { Text } from "@earendil-works/pi-tui";

const ENTRY_TYPE = "refine-compact";
/** Step of a line that says why pi compacts by itself: pi draws anew after that, and a notification is gone. */
export const STOCK = "stock";

/** Of one line; `step` names the event of the core, or how the run ended. */
export interface LedgerLine {
  step: string;
  text: string;
}

export type Level = "info" | "warning" | "error";

/** What pi draws an entry of the session by; 0.74 has no such method, and keeps the lines in the file alone. */
interface Drawing {
  registerEntryRenderer?(
    type: string,
    draw: (
      entry: { data?: unknown },
      options: unknown,
      theme: { fg(color: "dim", text: string): string },
    ) => Text | undefined,
  ): void;
}

/** Draws the lines. Whether this pi does. */
export function registerLedger(pi: ExtensionAPI): boolean {
  const drawing = pi as Drawing;
  if (drawing.registerEntryRenderer === undefined) return false;
  drawing.registerEntryRenderer(ENTRY_TYPE, ({ data }, _options, theme) => {
    const text = (data as Partial<LedgerLine> | undefined)?.text;
    return typeof text === "string" ? new Text(theme.fg("dim", text), 1, 0) : undefined;
  });
  return true;
}

export class Ledger {
  readonly #pi: ExtensionAPI;
  readonly #ctx: ExtensionContext;
  readonly #drawn: boolean;
  readonly #told = new Set<string>();

  /** @param drawn whether the terminal draws the lines */
  constructor(pi: ExtensionAPI, ctx: ExtensionContext, drawn: boolean) {
    this.#pi = pi;
    this.#ctx = ctx;
    this.#drawn = drawn && (ctx as { mode?: string }).mode === "tui";
  }

  /** A line of the session. It is notified too: where lines are drawn, of information only the first of its step. */
  line(step: string, text: string, level: Level = "info"): void {
    this.record(step, text);
    if (level !== "info" || !this.#drawn || !this.#told.has(step)) this.notify(text, level);
    this.#told.add(step);
  }

  /** A line of the session alone. */
  record(step: string, text: string): void {
    ifAlive(() => this.#pi.appendEntry<LedgerLine>(ENTRY_TYPE, { step, text }));
  }

  notify(message: string, level: Level): void {
    notify(this.#ctx, message, level);
  }
}

export function notify(ctx: ExtensionContext, message: string, level: Level): void {
  ifAlive(() => ctx.ui.notify(`refine-compact: ${message}`, level));
}

/** After a switch of the session or a reload, pi's objects throw: there is nobody to tell then. */
function ifAlive(tell: () => void): void {
  try {
    tell();
  } catch {}
}
