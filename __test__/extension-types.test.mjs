// Does the extension fit the types of each pi?

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";
import { EXTENSION, PACKAGE } from "./support/pi-home.mjs";
import { inEachPi } from "./support/pi-hosts.mjs";

const TSC = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
const OPTIONS = {
  strict: true,
  noEmit: true,
  target: "es2023",
  lib: ["es2023"],
  module: "preserve",
  moduleResolution: "bundler",
  types: ["node"],
  typeRoots: [join(PACKAGE, "node_modules/@types")],
  isolatedModules: true,
  erasableSyntaxOnly: true,
  allowImportingTsExtensions: true,
  exactOptionalPropertyTypes: true,
  noImplicitReturns: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  skipLibCheck: true,
};

inEachPi(({ root }) => {
  test("the extension fits pi's types", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "pi-compaction-types-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const packages = ["pi-coding-agent", "pi-tui", "pi-ai"].map((name) => [
      `@earendil-works/${name}`,
      [join(root, "..", name, "dist/index.d.ts")],
    ]);
    const project = join(folder, "tsconfig.json");
    const compilerOptions = { ...OPTIONS, paths: Object.fromEntries(packages) };
    writeFileSync(project, JSON.stringify({ compilerOptions, files: [EXTENSION] }));
    const said = await new Promise((resolve) => {
      execFile(process.execPath, [TSC, "-p", project], { timeout: 120_000 }, (error, stdout) => {
        resolve(error ? `${stdout}${error.message}` : stdout);
      });
    });
    assert.equal(said, "");
  });
});
