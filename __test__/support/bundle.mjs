// Programs bundled as hosts do it, in folders of their own.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "../tools/node_modules/esbuild/lib/main.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A folder with this package installed in it. @returns {{ folder: string, remove: () => void }} */
export function project() {
  const folder = mkdtempSync(join(tmpdir(), "project-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "pi-compaction-native"), "dir");
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** What a module of this repository exports when it is bundled as the drop-in is. @param {string} path @returns {Promise<any>} */
export async function bundled(path) {
  const { folder, remove } = project();
  const outfile = join(folder, "bundle.mjs");
  const external = ["pi-compaction-native"];
  try {
    await build({
      absWorkingDir: root,
      entryPoints: [path],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      external,
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    remove();
  }
}
