// The package's native core. It is loaded when a compaction first needs it, so that pi starts as fast as without it.

import { createRequire } from "node:module";

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

/** Says once that there is no core. */
export function tellMissing(error: Error, notify: (message: string) => void): void {
  if (isTold) return;
  isTold = true;
  notify(`The native core cannot be loaded, so pi compacts by itself. ${error.message}`);
}
