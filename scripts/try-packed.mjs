// Installs what was packed into an empty project, asking no registry, and tries it with the Node that runs this.
//
//   node scripts/try-packed.mjs [FOLDER OF TARBALLS]
//
// Runs on every Node that the package supports, unlike the other scripts.

import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { npm, root } from "./run.mjs";

const PROGRAMS = join(root, "__test__/packed");

/** Whether a platform's manifest says that it is for this system. @param {any} manifest */
function fits({ os, cpu, libc = ["glibc", "musl"] }) {
  const report = /** @type {any} */ (process.report?.getReport());
  const own = report?.header.glibcVersionRuntime ? "glibc" : "musl";
  return os.includes(process.platform) && cpu.includes(process.arch) && libc.includes(own);
}

/** The tarballs that belong on this system. @param {string} folder */
function tarballs(folder) {
  const names = readdirSync(join(root, "npm"));
  const manifests = names.map((name) =>
    JSON.parse(readFileSync(join(root, "npm", name, "package.json"), "utf8")),
  );
  const others = manifests
    .filter((manifest) => !fits(manifest))
    .map(({ name, version }) => `${name}-${version}.tgz`);
  const ours = readdirSync(folder).filter((name) => name.endsWith(".tgz") && !others.includes(name));
  if (ours.length < 3)
    throw new Error(`${folder}: the package, its tables and the binary of this system, not ${ours}`);
  return ours.map((name) => join(folder, name));
}

/** @param {string} cwd @param {string} command @param {string[]} args */
function run(cwd, command, args) {
  const shell = command === npm && npm.endsWith(".cmd");
  const { status, signal, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    shell,
  });
  if (status === 0) return stdout;
  throw (
    error ?? new Error(`${command} ${args.join(" ")}: ${signal ?? `exit code ${status}`}\n${stdout}${stderr}`)
  );
}

/** An empty project with the package in it. @param {string} folder of tarballs @returns {string} */
export function installed(folder) {
  const project = mkdtempSync(join(tmpdir(), "pi-compaction-packed-"));
  writeFileSync(
    join(project, "package.json"),
    '{ "name": "project", "version": "1.0.0", "private": true }\n',
  );
  const cache = join(project, ".cache");
  mkdirSync(cache);
  const flags = ["install", "--offline", "--cache", cache, "--no-audit", "--no-fund", "--loglevel", "error"];
  run(project, npm, [...flags, ...tarballs(resolve(folder))]);
  for (const name of readdirSync(PROGRAMS)) copyFileSync(join(PROGRAMS, name), join(project, name));
  return project;
}

/** Each use of it, with the Node at this path. @param {string} project @param {string} node */
export function tryIt(project, node) {
  const output = ["require.cjs", "import.mjs", "workers.cjs"].map((name) => run(project, node, [name]));
  return output.join("");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const project = installed(process.argv[2] ?? join(root, "pack"));
  process.stdout.write(`Node ${process.version} on ${process.platform}-${process.arch}\n`);
  process.stdout.write(tryIt(project, process.execPath));
  rmSync(project, { recursive: true, force: true });
}
