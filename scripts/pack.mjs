// Packs what is published: the package, the tables, and a package for each platform whose binary is there.
//
//   node scripts/pack.mjs [--out FOLDER] [--binaries FOLDER] [--all]
//
// The platforms become optional dependencies here and not in package.json, and only those that are packed beside it:
// `npm ci` fails over optional dependencies that no registry has, in a clone as in a project that installs the
// tarballs. `--all`, for what is published, fails where a platform's binary is missing.

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
const platforms = readdirSync(join(root, "npm"))
  .map((platform) => join("npm", platform))
  .filter((folder) => {
    const { main } = manifestOf(folder);
    if (values.all && !existsSync(join(binaries, main)))
      throw new Error(`there is no ${join(binaries, main)}`);
    return existsSync(join(binaries, main));
  });
if (platforms.length === 0) throw new Error(`there is no binary in ${binaries}: npm run build`);
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
  const { scripts, ...packed } = manifestOf(folder);
  const binary = { [packed.main]: join(binaries, packed.main) };
  pack(packed, { ...from(folder, ["README.md"]), ...from(".", ["LICENSE"]), ...binary });
}

mkdirSync(out, { recursive: true });
// What an earlier version left would be installed along with this one.
for (const name of readdirSync(out)) if (/^pi-compaction-native-.*\.tgz$/.test(name)) rmSync(join(out, name));
pack(published(), from(".", [...manifest.files, "README.md", "LICENSE"]));
pack(manifestOf("tokens"), from("tokens", [...manifestOf("tokens").files, "README.md", "LICENSE"]));
platforms.forEach(packPlatform);
