// Packs what is published: the package, the tables, and a package for each platform whose binary is there.
//
//   node scripts/pack.mjs [--out FOLDER] [--binaries FOLDER] [--all]
//
// The platforms become optional dependencies here and not in package.json, because `npm ci` in a clone must not ask
// for what is not yet published. `--all` fails where a platform's binary is missing.

import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { npm, root } from "./run.mjs";

const { values } = parseArgs({
  options: { out: { type: "string" }, binaries: { type: "string" }, all: { type: "boolean" } },
});
const out = resolve(values.out ?? join(root, "pack"));
const binaries = resolve(values.binaries ?? root);

/** @param {string} folder */
const manifestOf = (folder) => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
const manifest = manifestOf(".");
const platforms = readdirSync(join(root, "npm")).map((platform) => join("npm", platform));
const tables = manifestOf("tokens").name;

/** What stands in the published manifest and not in the clone's. */
function published() {
  const { devDependencies, scripts, napi, ...rest } = manifest;
  const { version } = manifest;
  return {
    ...rest,
    optionalDependencies: Object.fromEntries(platforms.map((folder) => [manifestOf(folder).name, version])),
    peerDependencies: { ...rest.peerDependencies, [tables]: version },
    peerDependenciesMeta: { ...rest.peerDependenciesMeta, [tables]: { optional: true } },
  };
}

/** Packs a folder of its own that holds these files. @param {any} packed @param {Record<string, string>} files by their names in it */
function pack(packed, files) {
  const stage = mkdtempSync(join(tmpdir(), "pi-compaction-pack-"));
  for (const [name, source] of Object.entries(files)) cpSync(source, join(stage, name), { recursive: true });
  writeFileSync(join(stage, "package.json"), `${JSON.stringify(packed, null, 2)}\n`);
  const args = ["pack", "--silent", "--pack-destination", out];
  const { status, stdout, error } = spawnSync(npm, args, {
    cwd: stage,
    encoding: "utf8",
    shell: npm !== "npm",
  });
  rmSync(stage, { recursive: true });
  if (status !== 0) throw error ?? new Error(`npm pack ${packed.name}: exit code ${status}`);
  console.log(join(out, stdout.trim()));
}

/** @param {string} folder @param {string[]} names */
const from = (folder, names) => Object.fromEntries(names.map((name) => [name, join(root, folder, name)]));

/** @param {string} folder of a platform */
function packPlatform(folder) {
  const packed = manifestOf(folder);
  const binary = join(binaries, packed.main);
  if (existsSync(binary)) {
    pack(packed, { ...from(folder, ["README.md"]), ...from(".", ["LICENSE"]), [packed.main]: binary });
  } else if (values.all) {
    throw new Error(`there is no ${binary}`);
  }
}

mkdirSync(out, { recursive: true });
pack(published(), from(".", [...manifest.files, "README.md", "LICENSE"]));
pack(manifestOf("tokens"), from("tokens", [...manifestOf("tokens").files, "README.md", "LICENSE"]));
platforms.forEach(packPlatform);
