// Do the recipes for bundlers work, the output in another folder?

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { project } from "./support/bundle.mjs";
import { blockOf, ELECTRON } from "./support/page.mjs";

const run = promisify(execFile);
const tools = fileURLToPath(new URL("./tools/node_modules/", import.meta.url));
const require = createRequire(join(tools, "of-tools.js"));

const MAIN = `
import { basename } from "node:path";
import { contextBudget, generateCompaction } from "pi-compaction-native";

const preparation = { messagesToSummarize: [{ role: "user", content: "go" }] };
const request = { preparation, budget: contextBudget({}), summarizer: { kind: "extractive" } };
generateCompaction(request).then(({ summary }) => console.log(basename(__filename), summary.length > 0));
`;

/** @type {Record<string, (folder: string) => Promise<unknown>>} */
const BUNDLERS = {
  esbuild: (folder) => {
    const command = blockOf(
      ELECTRON,
      ({ language, text }) => language === "sh" && text.includes(" main.js "),
    );
    return run("sh", ["-ec", command], { cwd: folder });
  },
  webpack: async (folder) => {
    const config = require(configured(folder, "webpack.config.js"));
    const webpack = require("webpack");
    const stats = await promisify(webpack)({
      ...config,
      context: folder,
      output: { path: join(folder, "dist") },
    });
    assert.deepEqual(stats.toJson({ all: false, errors: true }).errors, []);
  },
  vite: async (folder) => {
    const configFile = configured(folder, "vite.config.mjs");
    const { build } = await import(pathToFileURL(join(tools, "vite/dist/node/index.js")).href);
    await build({ root: folder, configFile, logLevel: "error" });
  },
};

/** Writes a configuration of the page. @param {string} folder @param {string} name */
function configured(folder, name) {
  const path = join(folder, name);
  const text = blockOf(ELECTRON, ({ file }) => file === name);
  writeFileSync(path, text);
  return path;
}

for (const [name, bundle] of Object.entries(BUNDLERS)) {
  test(`${name} leaves the package where it is`, async (t) => {
    const [{ folder, remove }, elsewhere] = [project(), project()];
    t.after(remove);
    t.after(elsewhere.remove);
    writeFileSync(join(folder, "main.js"), MAIN);
    mkdirSync(join(folder, "node_modules", ".bin"));
    symlinkSync(join(tools, ".bin", "esbuild"), join(folder, "node_modules", ".bin", "esbuild"));
    await bundle(folder);
    const moved = join(elsewhere.folder, "ein Ordner 移動");
    cpSync(join(folder, "dist"), moved, { recursive: true });
    const [output] = ["main.js", "main.cjs"].filter((file) => isThere(join(moved, file)));
    const { stdout } = await run(process.execPath, [join(moved, output)]);
    assert.equal(stdout, `${output} true\n`);
  });
}

/** @param {string} path */
function isThere(path) {
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
}
