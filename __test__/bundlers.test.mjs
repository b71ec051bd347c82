// Do the recipes for bundlers work, the output in another folder?

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { commandOf, fileOf } from "./support/page.mjs";
import { project, TOOLS } from "./support/project.mjs";

const run = promisify(execFile);
const require = createRequire(join(TOOLS, "of-tools.js"));

const MAIN = `
import { basename } from "node:path";
import { contextBudget, generateCompaction } from "pi-compaction-native";

const preparation = { messagesToSummarize: [{ role: "user", content: "go" }] };
const request = { preparation, budget: contextBudget({}), summarizer: { kind: "extractive" } };
generateCompaction(request).then(({ summary }) => console.log(basename(__filename), summary.length > 0));
`;

/** @type {Record<string, (folder: string) => Promise<unknown>>} */
const BUNDLERS = {
  esbuild: (folder) => run("sh", ["-ec", commandOf(" main.js ")], { cwd: folder }),
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
    const { build } = await import(pathToFileURL(join(TOOLS, "vite/dist/node/index.js")).href);
    await build({ root: folder, configFile, logLevel: "error" });
  },
};

/** Writes a configuration of the page. @param {string} folder @param {string} name */
function configured(folder, name) {
  const path = join(folder, name);
  writeFileSync(path, fileOf(name));
  return path;
}

for (const [name, bundle] of Object.entries(BUNDLERS)) {
  test(`${name} leaves the package where it is`, async (t) => {
    const [{ folder, remove }, elsewhere] = [project(), project()];
    t.after(remove);
    t.after(elsewhere.remove);
    writeFileSync(join(folder, "main.js"), MAIN);
    await bundle(folder);
    const moved = join(elsewhere.folder, "dist");
    cpSync(join(folder, "dist"), moved, { recursive: true });
    const [output] = ["main.js", "main.cjs"].filter((file) => existsSync(join(moved, file)));
    const { stdout } = await run(process.execPath, [join(moved, output)]);
    assert.equal(stdout, `${output} true\n`);
  });
}
