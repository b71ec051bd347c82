// A binary that cannot be loaded: what a person reads, and what a host can catch.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const binary = readdirSync(ROOT).find((name) => name.endsWith(".node"));
assert.ok(binary, "the addon is built");
/** This platform, as its package is named. */
const platform = binary.split(".")[1];
/** Longer than any machine should take, in milliseconds. */
const HANG = 60_000;

/** The package without its binary, as npm leaves it. @param {any} t */
function withoutBinary(t) {
  const folder = mkdtempSync(join(tmpdir(), "pi-compaction-load-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const part of ["index.js", "binding.js", "package.json", "js"]) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  }
  return folder;
}

/** A package of the platform that was installed beside it. @param {string} folder @param {string} source of its main file */
function installed(folder, source) {
  const at = join(folder, "node_modules", `pi-compaction-native-${platform}`);
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, "package.json"), JSON.stringify({ version: manifest.version, main: "main.js" }));
  writeFileSync(join(at, "main.js"), source);
}

/** What is thrown by `require`. @param {string} folder @param {string} before @returns {Promise<any>} */
function thrown(folder, before = "") {
  const program = `${before}; try { require(${JSON.stringify(join(folder, "index.js"))}); console.log("{}"); } catch (error) {
    console.log(JSON.stringify({ name: error.name, code: error.code, message: error.message, shown: require("util").inspect(error) }));
  }`;
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ["-e", program], { timeout: HANG }, (error, stdout) => {
      if (error) reject(error);
      else resolve(JSON.parse(stdout));
    });
  });
}

test("the platform's package is missing: platform, C library, Node, what was tried, and the ways out", async (t) => {
  const { name, code, message, shown } = await thrown(withoutBinary(t));
  assert.deepEqual([name, code], ["Error", "ERR_ADDON_NOT_LOADED"]);
  assert.ok(message.startsWith(`pi-compaction-native ${manifest.version}: no binary`), message);
  assert.ok(message.includes(`${process.platform}-${process.arch}`));
  assert.ok(message.includes(`Node ${process.versions.node}`));
  if (platform.endsWith("-gnu")) assert.match(message, /glibc \d+\.\d+/);
  assert.ok(message.includes(`- Cannot find module './${binary}'`));
  assert.ok(message.includes(`- Cannot find module 'pi-compaction-native-${platform}'`));
  assert.ok(message.includes(`npm install pi-compaction-native-${platform}@${manifest.version}`));
  for (const way of ["--omit=optional", "lock file", "npm/cli/issues/4828", "bundle", "npm run build"]) {
    assert.ok(message.includes(way), way);
  }
  assert.doesNotMatch(message, /wasi/, "there is no such build");
  assert.equal(
    shown.split("Cannot find module").length,
    3,
    "no chain of errors behind it says the same again",
  );
});

test("a binary that the system refuses: its own words, and no talk of missing packages", async (t) => {
  const folder = withoutBinary(t);
  writeFileSync(join(folder, binary), "no binary");
  const { code, message } = await thrown(folder);
  assert.equal(code, "ERR_ADDON_NOT_LOADED");
  assert.ok(message.includes(join(folder, binary)), message);
  assert.match(message, /found and refused/);
  assert.doesNotMatch(message, /--omit/);
});

test("a platform that no binary is made for is told which there are", async (t) => {
  const before = 'Object.defineProperty(process, "platform", { value: "sunos" })';
  const { message } = await thrown(withoutBinary(t), before);
  assert.match(message, /no binary could be loaded for sunos-/);
  assert.match(message, /- Unsupported OS: sunos/);
  for (const name of readdirSync(join(ROOT, "npm"))) assert.ok(message.includes(name), name);
  assert.match(message, /from source/);
});

test("under Electron its version is named too", async (t) => {
  const before =
    'Object.defineProperty(process, "versions", { value: { ...process.versions, electron: "22.3.25" } })';
  assert.match((await thrown(withoutBinary(t), before)).message, /Electron 22\.3\.25, Node \d/);
});

test("a binary of another version is refused with both versions", async (t) => {
  for (const [source, found] of [
    ['exports.version = () => "0.0.9";', "0.0.9"],
    ["exports.nothing = 1;", "0 (it does not say)"],
  ]) {
    const folder = withoutBinary(t);
    installed(folder, source);
    const { code, message } = await thrown(folder);
    assert.equal(code, "ERR_ADDON_NOT_LOADED");
    assert.ok(
      message.includes(`the binary is of version ${found}, the JavaScript of ${manifest.version}`),
      message,
    );
    assert.ok(message.includes(`npm install pi-compaction-native@${manifest.version}`));
  }
});

test("the binary at hand is of this version, and what is loaded is nothing else", async (t) => {
  const folder = withoutBinary(t);
  cpSync(join(ROOT, binary), join(folder, binary));
  assert.deepEqual(await thrown(folder), {});
});
