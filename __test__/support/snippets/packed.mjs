// A clone in which everything was packed, and an empty project beside it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PACK = fileURLToPath(new URL("../../../scripts/pack.mjs", import.meta.url));

/** @param {{ folder: string }} test */
export default function prepare({ folder }) {
  execFileSync(process.execPath, [PACK, "--out", join(folder, "pi-compaction-native/pack")]);
  const cwd = join(folder, "project");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "package.json"), "{}\n");
  return {
    cwd,
    env: { npm_config_offline: "true", npm_config_cache: join(folder, "cache") },
    after: () => assert.ok(existsSync(join(cwd, "node_modules/pi-compaction-native/index.js"))),
  };
}
