// The app of these tests, packaged by electron-builder with the settings that docs/electron.md tells.

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execute } from "../support/children.mjs";
import { folder } from "./install.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const builder = fileURLToPath(new URL("./node_modules/.bin/electron-builder", import.meta.url));
const sources = fileURLToPath(new URL("./app/", import.meta.url));
/** People's folders have such names. */
const OUTPUT = "Größe 測試 app";
const NAME = "pi-compaction-native";

/** The package as it is installed, its binary in it. @param {string} to */
export function copyPackage(to) {
  const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const binaries = readdirSync(root).filter((name) => name.endsWith(".node"));
  mkdirSync(to, { recursive: true });
  for (const name of ["package.json", ...files, ...binaries]) {
    cpSync(join(root, name), join(to, name), { recursive: true });
  }
}

/** The first block of a language in the page for Electron. @param {string} language */
export function snippet(language) {
  const page = readFileSync(join(root, "docs", "electron.md"), "utf8");
  const block = page.split(`\`\`\`${language}\n`)[1]?.split("\n```")[0];
  if (block === undefined) throw new Error(`docs/electron.md has no block of ${language}`);
  return block;
}

/**
 * @param {import("./install.mjs").Electron} electron
 * @returns {Promise<string>} the folder of the packaged app
 */
export async function packageApp({ dist, electron }) {
  const app = join(folder, "app");
  rmSync(app, { recursive: true, force: true });
  cpSync(sources, app, { recursive: true });
  copyPackage(join(app, "node_modules", NAME));
  cpSync(join(root, "tokens"), join(app, "node_modules", `${NAME}-tokens`), { recursive: true });
  copyPackage(join(app, "dist", "agent", "node_modules", NAME));
  writeFileSync(join(app, "package.json"), JSON.stringify(manifest(dist, electron)));
  const failed = await execute(builder, ["--linux", "--dir", "--projectDir", app]);
  if (failed) throw new Error(`electron-builder failed: ${failed}`);
  return join(app, OUTPUT, "linux-unpacked");
}

/** @param {string} electronDist @param {string} electronVersion */
function manifest(electronDist, electronVersion) {
  const { build } = JSON.parse(snippet("json"));
  return {
    name: "probe",
    version: "1.0.0",
    description: "asks the package in every process",
    author: "the tests",
    main: "main.js",
    dependencies: { [NAME]: "*", [`${NAME}-tokens`]: "*" },
    build: {
      ...build,
      appId: "native.compaction.probe",
      electronDist,
      electronVersion,
      npmRebuild: false,
      files: ["*.js", "*.html"],
      directories: { output: OUTPUT },
      linux: { target: "dir" },
    },
  };
}
