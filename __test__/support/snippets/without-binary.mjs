// The package as npm leaves it where its platform's binary is missing.

import assert from "node:assert/strict";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** @param {{ folder: string }} test */
export default function prepare({ folder }) {
  const at = join(folder, "node_modules/pi-compaction-native");
  rmSync(at);
  for (const part of ["index.js", "binding.js", "package.json", "js"]) {
    cpSync(join(ROOT, part), join(at, part), { recursive: true });
  }
  return {
    after: (/** @type {{ stderr: string }} */ { stderr }) =>
      assert.match(stderr, /no binary could be loaded/),
  };
}
