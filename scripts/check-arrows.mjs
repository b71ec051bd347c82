// Holds the sources to the one direction in which data flows (src/lib.rs). A module may use what is below it.

import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** What each folder or file of `src` may use, besides itself and `error`. */
const BELOW = {
  tokens: [],
  transcript: ["tokens"],
  session: ["transcript", "tokens"],
  prompt: ["transcript", "tokens"],
  budget: ["prompt", "model", "tokens", "transcript"],
  provider: ["prompt", "model", "transcript", "tokens"],
  plan: ["budget", "prompt", "model", "tokens", "transcript"],
  summarize: ["plan", "provider", "budget", "prompt", "model", "tokens", "transcript"],
  checkpoint: ["plan", "provider", "budget", "prompt", "model", "tokens", "transcript"],
  compact: [
    "summarize",
    "checkpoint",
    "plan",
    "provider",
    "budget",
    "prompt",
    "model",
    "tokens",
    "transcript",
  ],
  node: [
    "compact",
    "summarize",
    "checkpoint",
    "plan",
    "provider",
    "budget",
    "prompt",
    "model",
    "tokens",
    "transcript",
    "session",
  ],
  model: [],
  error: [],
};

const files = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? files(path) : path.endsWith(".rs") ? [path] : [];
  });

const faults = [];
for (const path of files("src")) {
  const room = relative("src", path).split("/")[0].replace(/\.rs$/, "");
  if (room === "lib") continue;
  const allowed = BELOW[room];
  if (!allowed) faults.push(`${path}: no arrow is drawn for ${room}`);
  const source = readFileSync(path, "utf8");
  for (const [, used] of source.matchAll(/\bcrate::(\w+)/g)) {
    if (used !== room && used !== "error" && !allowed?.includes(used)) faults.push(`${path}: uses ${used}`);
  }
  if (room !== "node" && /\bnapi/.test(source.replace(/^\s*\/\/.*$/gm, "")))
    faults.push(`${path}: knows Node`);
}
for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);
