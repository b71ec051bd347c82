// docs/electron.md's recipe for the drop-in, as a reader follows it from an empty project.

import { execFile } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { commandOf, fileOf } from "./page.mjs";
import { project } from "./project.mjs";

/** Nothing that is alive takes so long. */
const HANG_MS = 60_000;

/** What a way of bundling says and no other command does. */
export const WAYS = {
  "the package beside it": "--external:pi-compaction-native --outfile=dist/agent",
  "the binary beside it": "--loader:.node=copy",
};

/**
 * @param {any} t @param {keyof typeof WAYS} way @param {string} electron an executable that runs scripts
 * @param {string} agent the runtime
 * @returns {Promise<{ said: string, names: string[] }>} what the runtime says, and what lies in its folder
 */
export async function followed(t, way, electron, agent = fileOf("agent.ts")) {
  const { folder, remove } = project({ electron });
  t.after(remove);
  writeFileSync(join(folder, "agent.ts"), agent);
  const steps = ["cp ../pi-compaction-native", WAYS[way], "mv dist/agent"].map(commandOf).join("\n");
  const env = { ...process.env, NODE_OPTIONS: "", NODE_TEST_CONTEXT: "" };
  const options = { cwd: folder, env, timeout: HANG_MS };
  const { stdout } = await promisify(execFile)("sh", ["-ec", steps], options);
  return { said: stdout, names: readdirSync(join(folder, "..", "agent")) };
}
