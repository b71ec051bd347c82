import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";
import * as namespace from "../index.js";

const required = createRequire(import.meta.url)("../index.js");
const typings = readFileSync(new URL("../index.d.ts", import.meta.url), "utf8");

/** Names that exist at run time by the typings: functions, classes, constants. */
const declared = [
  ...typings.matchAll(/^export (?:declare )?(?:abstract )?(function|class|const|let|enum) (\w+)/gm),
];
const names = [...new Set(declared.map(([, , name]) => name))].sort();

test("index.js exports what index.d.ts declares, no more and no less", () => {
  assert.ok(names.length > 10, "the typings were read");
  assert.deepEqual(Object.keys(required).sort(), names);
});

test("every export is also a named ESM import", () => {
  const imported = Object.keys(namespace).filter((name) => name !== "default" && name !== "module.exports");
  assert.deepEqual(imported.sort(), names);
  for (const name of names) assert.equal(Reflect.get(namespace, name), required[name], name);
});

test("each export is of the declared kind", () => {
  for (const [, kind, name] of declared) {
    const expected = kind === "function" || kind === "class" ? "function" : "object";
    assert.equal(typeof required[name], expected, name);
  }
});

test("the typings declare no const enum, which breaks isolated modules", () => {
  assert.doesNotMatch(typings, /const enum/);
});

test("CompactionError is an Error with its own name", () => {
  assert.ok(required.CompactionError.prototype instanceof Error);
  assert.throws(
    () => required.findCut("no list", 5),
    (/** @type {any} */ error) =>
      error instanceof required.CompactionError && error.name === "CompactionError",
  );
});

test("package.json points at the files that are tested", () => {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  assert.equal(manifest.exports["."].default, "./index.js");
  assert.equal(manifest.exports["."].types, "./index.d.ts");
  assert.ok(!("dependencies" in manifest), "no run-time npm dependency");
});
