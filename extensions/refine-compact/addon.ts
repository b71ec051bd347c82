// The package's native core. It is loaded when a compaction first needs it, so that pi starts as fast as without it.

import { createRequire } from "node:module";
import { type Ledger, STOCK } from "./ledger.ts";

export type Core = typeof import("../../index.js");

let isTold = false;

/** The core, or why it cannot be loaded. */
export function loadCore(): Core | Error {
  try {
    return createRequire(import.meta.url)("../../index.js") as Core;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Says once that there is no core; why, which names folders of this machine, goes into no file. */
export function tellMissing(error: Error, ledger: Ledger): void {
  if (isTold) return;
  isTold = true;
  const what = "The native core cannot be loaded, so pi compacts by itself.";
  ledger.record(STOCK, what);
  ledger.notify(`${what} ${error.message}`, "warning");
}
