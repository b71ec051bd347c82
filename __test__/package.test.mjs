// What is published: the files, the manifests, and that it works when installed from its tarballs.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { nodes } from "../benches/support/nodes.mjs";
import { installed, tryIt } from "../scripts/try-packed.mjs";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../", import.meta.url));
const PACK = join(ROOT, "scripts/pack.mjs");
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
const read = (/** @type {string} */ path) => JSON.parse(readFileSync(join(ROOT, path), "utf8"));
const manifest = read("package.json");
const platforms = readdirSync(join(ROOT, "npm"));

const folder = mkdtempSync(join(tmpdir(), "pi-compaction-tarballs-"));
/** @type {string} Of a project in which it is installed. */
let project;

before(async () => {
  await run(process.execPath, [PACK, "--out", folder]);
  project = installed(folder);
});
after(() => {
  for (const path of [folder, project]) rmSync(path, { recursive: true, force: true });
});

/** The files of an installed package. @param {string} name */
function filesOf(name) {
  const entries = readdirSync(join(project, "node_modules", name), { recursive: true, withFileTypes: true });
  const root = join(project, "node_modules", name);
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1)).sort();
}

/** The manifest that users get. */
const packed = () =>
  JSON.parse(readFileSync(join(project, "node_modules/pi-compaction-native/package.json"), "utf8"));

test("the package holds what runs, its typings and its papers: no sources, no tests", () => {
  const files = filesOf("pi-compaction-native");
  const wanted = [
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "binding.js",
    "index.d.ts",
    "index.js",
    "package.json",
  ];
  for (const name of wanted) assert.ok(files.includes(name), `${name} is missing`);
  const folders = manifest.files.filter((/** @type {string} */ name) => !name.includes("."));
  for (const name of ["js", "bin"]) assert.ok(folders.includes(name), name);
  for (const name of files) {
    const known =
      wanted.includes(name) || manifest.files.includes(name) || folders.includes(name.split("/")[0]);
    assert.ok(known, `nobody asked for ${name}`);
    assert.doesNotMatch(name, /test|\.rs$|\.node$|\.tsbuildinfo$|\.tgz$/);
  }
});

test("the package of a platform holds its binary and nothing that runs beside it", () => {
  const platform = platforms.find((name) =>
    existsSync(join(project, "node_modules", `pi-compaction-native-${name}`)),
  );
  assert.ok(platform, "this platform's package is installed");
  const { name, main } = read(`npm/${platform}/package.json`);
  assert.deepEqual(filesOf(name), ["LICENSE", "README.md", "package.json", main]);
});

test("each platform's manifest says for which system it is, and nothing runs at install", () => {
  for (const platform of platforms) {
    const { name, version, os, cpu, libc, main, files, repository, engines, scripts } = read(
      `npm/${platform}/package.json`,
    );
    const [system, processor, library] = platform.split("-");
    assert.deepEqual([name, version], [`pi-compaction-native-${platform}`, manifest.version]);
    assert.deepEqual([os, cpu], [[system], [processor]]);
    assert.deepEqual(libc, system === "linux" ? [{ gnu: "glibc", musl: "musl" }[library]] : undefined);
    assert.deepEqual([main, files], [`pi-compaction-native.${platform}.node`, [main]]);
    assert.deepEqual(engines, manifest.engines);
    assert.equal(repository.url, manifest.repository.url);
    assert.deepEqual(Object.keys(scripts), ["prepack"]);
    const installedOne = join(project, "node_modules", name, "package.json");
    if (existsSync(installedOne))
      assert.equal(JSON.parse(readFileSync(installedOne, "utf8")).scripts, undefined);
  }
  const { dependencies, scripts, devDependencies } = packed();
  assert.deepEqual([dependencies, scripts, devDependencies], [undefined, undefined, undefined]);
});

test("the package wants the platforms that are packed beside it, each in its own version and optionally", async (t) => {
  const wanted = (/** @type {string[]} */ names) =>
    Object.fromEntries(names.map((name) => [`pi-compaction-native-${name}`, manifest.version]));
  const own = platforms.filter((name) => existsSync(join(ROOT, read(`npm/${name}/package.json`).main)));
  assert.deepEqual(packed().optionalDependencies, wanted(own));

  const every = mkdtempSync(join(tmpdir(), "pi-compaction-binaries-"));
  t.after(() => rmSync(every, { recursive: true, force: true }));
  const all = [PACK, "--all", "--binaries", every, "--out", every];
  await assert.rejects(run(process.execPath, all), /there is no .*\.node/);
  for (const name of platforms) writeFileSync(join(every, read(`npm/${name}/package.json`).main), "binary");
  await run(process.execPath, all);
  const tarball = join(every, `pi-compaction-native-${manifest.version}.tgz`);
  const { stdout } = await run("tar", ["xzOf", tarball, "package/package.json"]);
  assert.deepEqual(JSON.parse(stdout).optionalDependencies, wanted(platforms));
  assert.equal(readdirSync(every).filter((name) => name.endsWith(".tgz")).length, platforms.length + 2);
});

test("npm's own pack takes a platform's binary along, or says that it is not built", async (t) => {
  const plain = mkdtempSync(join(tmpdir(), "pi-compaction-plain-"));
  t.after(() => rmSync(plain, { recursive: true, force: true }));
  const pack = (/** @type {string} */ path) =>
    run("npm", ["pack", "--pack-destination", plain], { cwd: join(ROOT, path) });
  for (const platform of platforms) {
    const { main } = read(`npm/${platform}/package.json`);
    if (existsSync(join(ROOT, main))) await pack(`npm/${platform}`);
    else await assert.rejects(pack(`npm/${platform}`), /there is no .*\.node: npm run build/);
    rmSync(join(ROOT, "npm", platform, main), { force: true });
  }
  for (const path of [".", "tokens"]) await pack(path);
  const other = installed(plain);
  t.after(() => rmSync(other, { recursive: true, force: true }));
  assert.match(tryIt(other, process.execPath), /^required\nimported\n/);
});

test("there is a platform for each target that is built", () => {
  const built = manifest.napi.targets.map((/** @type {string} */ target) => {
    const [cpu, vendor, system, library] = target.split("-");
    const os = vendor === "apple" ? "darwin" : { windows: "win32", linux: "linux" }[system];
    const processor = { x86_64: "x64", aarch64: "arm64" }[cpu];
    return [os, processor, library].filter(Boolean).join("-");
  });
  assert.deepEqual(built.sort(), platforms);
});

test("installed from its tarballs it works by require, by import and in workers that are terminated", (t) => {
  for (const { path, version } of nodes((line) => t.diagnostic(line))) {
    const output = tryIt(project, path);
    assert.equal(output, "required\nimported\n30 workers terminated\n", version);
  }
});

test("npm ci in the project installs it again", async () => {
  await run("npm", ["ci", "--offline", "--cache", join(project, ".cache"), "--no-audit"], { cwd: project });
  assert.ok(existsSync(join(project, "node_modules/pi-compaction-native/index.js")));
});

test("the command runs", async () => {
  const sample = join(ROOT, "examples/session.jsonl");
  const command = join(project, "node_modules/.bin/pi-compaction");
  const { stdout } = await run(command, ["compact", sample]);
  assert.match(stdout, /^## Goal/);
});

const PROGRAM = `
import { findCut, generateCompaction, type CompactionResult } from "pi-compaction-native";
const messages = [{ role: "user", content: "Port it." }];
const cut: number = findCut(messages, 100).firstKeptIndex;
const preparation = { messagesToSummarize: messages.slice(0, cut) };
export const result: Promise<CompactionResult<typeof preparation>> = generateCompaction({
  preparation,
  budget: { hardLimit: 1000, requestHeadroom: 10 },
  summarizer: { kind: "extractive" },
});
`;

const RESOLUTIONS = [
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "esnext", moduleResolution: "bundler" },
];
const LIBRARIES = [
  { lib: ["es2022"], types: ["node"], typeRoots: [join(ROOT, "node_modules/@types")] },
  { lib: ["es2022", "dom"], types: [] },
  { lib: ["es2022"], types: [] },
];

/** @param {string} file @param {string} source @param {object} options */
async function typed(file, source, options) {
  writeFileSync(join(project, file), source);
  const compilerOptions = { strict: true, noEmit: true, target: "es2022", skipLibCheck: false, ...options };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [file] }));
  await run(process.execPath, [TSC, "-p", project]);
}

for (const resolution of RESOLUTIONS) {
  test(`the typings compile by ${resolution.moduleResolution}: with Node's types, the browser's, or neither`, async () => {
    for (const library of LIBRARIES) await typed("program.mts", PROGRAM, { ...resolution, ...library });
    await typed("program.cts", PROGRAM, { ...resolution, ...LIBRARIES[0] });
    const wrong = PROGRAM.replace("cut: number", "cut: string");
    await assert.rejects(
      typed("program.mts", wrong, { ...resolution, ...LIBRARIES[0] }),
      /TS2322|Command failed/,
    );
  });
}

test("tables that are not installed are an optional wish of exactly this version", () => {
  const { peerDependencies, peerDependenciesMeta } = packed();
  assert.equal(peerDependencies["pi-compaction-native-tokens"], manifest.version);
  assert.deepEqual(peerDependenciesMeta["pi-compaction-native-tokens"], { optional: true });
});
