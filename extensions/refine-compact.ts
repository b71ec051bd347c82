// Refine compaction for pi. Where a model is chosen (`/compact-model`), pi's compactions are written by it, chunk after
// chunk into a running summary; where none is, pi compacts as it always does. docs/pi.md tells a user the rest.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { compaction } from "./refine-compact/compaction.ts";
import { registerLedger } from "./refine-compact/ledger.ts";
import { pickModel } from "./refine-compact/picker.ts";
import { Turnstile } from "./refine-compact/turnstile.ts";

export default function refineCompact(pi: ExtensionAPI): void {
  const turnstile = new Turnstile();
  const drawn = registerLedger(pi);
  pi.on("session_before_compact", (event, ctx) => compaction({ pi, event, ctx, turnstile, drawn }));
  pi.on("session_shutdown", () => turnstile.close());
  pi.registerCommand("compact-model", {
    description: "Choose the model that writes compactions",
    handler: (_args, ctx) => pickModel(ctx),
  });
}
