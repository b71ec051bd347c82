// What a module exports when it is bundled as the drop-in is.

import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "../tools/node_modules/esbuild/lib/main.js";
import { project } from "./project.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** @param {string} path of a module of this repository @returns {Promise<any>} */
export async function bundled(path) {
  const { folder, remove } = project();
  const outfile = join(folder, "bundle.mjs");
  const external = ["pi-compaction-native"];
  const output = { outfile, format: /** @type {const} */ ("esm"), platform: /** @type {const} */ ("node") };
  try {
    await build({ absWorkingDir: root, entryPoints: [path], bundle: true, external, ...output });
    const module = await import(pathToFileURL(outfile).href);
    // A turn after its own, the package has loaded everything.
    await setImmediate();
    return module;
  } finally {
    remove();
  }
}
