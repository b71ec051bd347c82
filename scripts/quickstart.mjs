// Installs, builds, and does the main job on the sample session: look at it, then compact it.

import { install, run } from "./run.mjs";

const sample = "examples/session.jsonl";
const cli = "bin/pi-compaction.js";

run([
  ...install,
  ["inspect the sample session", process.execPath, [cli, "inspect", sample]],
  ["compact it without a model", process.execPath, [cli, "compact", sample]],
]);
