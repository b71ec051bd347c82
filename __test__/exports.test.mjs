import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";
import * as main from "../index.js";
import * as prism from "../prism.js";

const require = createRequire(import.meta.url);

test("a turn after it was loaded, everything is, whatever becomes of the files", () => {
  const script = `const { readdirSync } = require("node:fs");
    const { basename, resolve } = require("node:path");
    require("./index.js");
    setImmediate(() => {
      const missing = readdirSync("js").filter((name) => name.endsWith(".js") && !require.cache[resolve("js", name)]);
      console.log(JSON.stringify(missing));
    });`;
  const root = new URL("../", import.meta.url);
  const missing = execFileSync(process.execPath, ["-e", script], { cwd: root, encoding: "utf8" });
  assert.deepEqual(JSON.parse(missing), []);
});
/** @type {Record<string, any>} */
const imported = { index: main, prism };

for (const [entry, namespace] of Object.entries(imported)) {
  const required = require(`../${entry}.js`);
  const typings = readFileSync(new URL(`../${entry}.d.ts`, import.meta.url), "utf8");
  /** Names that exist at run time by the typings: functions, classes, constants. */
  const declared = [
    ...typings.matchAll(/^export (?:declare )?(?:abstract )?(function|class|const|let|enum) (\w+)/gm),
  ];
  /** Names that are handed on, as `export { Name } from`. */
  const handedOn = [...typings.matchAll(/^export \{ (\w+) \} from/gm)].map(([, name]) => name);
  const names = [...new Set([...declared.map(([, , name]) => name), ...handedOn])].sort();

  test(`${entry}.js exports what ${entry}.d.ts declares, no more and no less`, () => {
    assert.ok(names.length > 10, "the typings were read");
    assert.deepEqual(Object.keys(required).sort(), names);
  });

  test(`every export of ${entry}.js is also a named ESM import`, () => {
    const found = Object.keys(namespace).filter((name) => name !== "default" && name !== "module.exports");
    assert.deepEqual(found.sort(), names);
    for (const name of names) assert.equal(Reflect.get(namespace, name), required[name], name);
  });

  test(`each export of ${entry}.js is of the declared kind`, () => {
    for (const [, kind, name] of declared) {
      const expected = kind === "function" || kind === "class" ? "function" : "object";
      assert.equal(typeof required[name], expected, name);
    }
  });

  test(`${entry}.d.ts declares no const enum, which breaks isolated modules`, () => {
    assert.doesNotMatch(typings, /const enum/);
  });
}

test("CompactionError is an Error with its own name, and one class for both entries", () => {
  assert.ok(main.CompactionError.prototype instanceof Error);
  assert.throws(
    () => main.findCut(/** @type {any} */ ("no list"), 5),
    (/** @type {any} */ error) => error instanceof main.CompactionError && error.name === "CompactionError",
  );
  assert.equal(prism.CompactionError, main.CompactionError);
});

test("package.json points at the files that are tested", () => {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const entries = { ".": "index", "./prism": "prism" };
  for (const [path, entry] of Object.entries(entries)) {
    assert.deepEqual(manifest.exports[path], { types: `./${entry}.d.ts`, default: `./${entry}.js` });
    for (const file of [`${entry}.js`, `${entry}.d.ts`]) {
      assert.ok(manifest.files.includes(file) && existsSync(new URL(`../${file}`, import.meta.url)), file);
    }
  }
  assert.ok(!("dependencies" in manifest), "no run-time npm dependency");
});
