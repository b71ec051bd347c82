// The app of these tests, packaged by electron-builder with the settings that docs/electron.md tells.

import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execute } from "../support/children.mjs";
import { commandOf, fileOf, settings } from "../support/page.mjs";
import { copyPackage, TOOLS } from "../support/project.mjs";
import { WAYS } from "../support/recipe.mjs";
import { folder } from "./install.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const here = fileURLToPath(new URL("./", import.meta.url));
/** People's folders have such names. */
const OUTPUT = "Größe 測試 app";
/** Nothing that is alive takes so long. */
const PACKAGING_MS = 300_000;
const NAME = "pi-compaction-native";

/**
 * @param {import("./install.mjs").Electron} electron
 * @returns {Promise<string>} the folder of the packaged app
 */
export async function packageApp({ dist, electron }) {
  const app = join(folder, "app");
  rmSync(app, { recursive: true, force: true });
  cpSync(join(here, "app"), app, { recursive: true });
  copyPackage(join(app, "node_modules", NAME));
  cpSync(join(root, "tokens"), join(app, "node_modules", `${NAME}-tokens`), { recursive: true });
  for (const name of ["compaction-service.js", "preload.js", "start-agent.js"]) {
    writeFileSync(join(app, name), fileOf(name));
  }
  await bundleAgent(app);
  writeFileSync(join(app, "package.json"), JSON.stringify(manifest(dist, electron)));
  const builder = join(here, "node_modules", ".bin", "electron-builder");
  const failed = await execute(builder, ["--linux", "--dir", "--projectDir", app], { limit: PACKAGING_MS });
  if (failed) throw new Error(`electron-builder failed: ${failed}`);
  return join(app, OUTPUT, "linux-unpacked");
}

/** The drop-in for PI-Desktop's agent runtime, by the commands of the page. @param {string} app */
async function bundleAgent(app) {
  cpSync(join(root, "examples", "pi-desktop", "compaction.ts"), join(app, "compaction.ts"));
  cpSync(join(here, "agent.ts"), join(app, "agent.ts"));
  mkdirSync(join(app, "node_modules", ".bin"));
  symlinkSync(join(TOOLS, ".bin", "esbuild"), join(app, "node_modules", ".bin", "esbuild"));
  const commands = commandOf(WAYS["the package beside it"]);
  const failed = await execute("sh", ["-ec", `cd "$1"\n${commands}`, "sh", app], { limit: PACKAGING_MS });
  if (failed) throw new Error(`the agent runtime cannot be bundled: ${failed}`);
}

/** @param {string} electronDist @param {string} electronVersion */
function manifest(electronDist, electronVersion) {
  const { build } = settings();
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
