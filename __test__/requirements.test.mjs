// The script that lists the requirement lines which no test names. All numbers here are made up.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import { inspect, namedByRust, namedByScript, reportOf } from "../scripts/requirements.mjs";

const folder = mkdtempSync(join(tmpdir(), "pi-compaction-requirements-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const SCRIPT = `
// A1 in a comment
/** A2 in documentation */
test("A3 B4: a title", () => {
  const A5 = value; // A6 behind code
  assert.equal(A5, value, \`C7 a message \${value}\`);
  get("http://host/x", 'D8 E9');
});
test("A10–A12 A13 to A15 A16-A18 A19..A20 E10–E12 ranges", () => {});
test("XA21 A22x A2345 U+D83D are no numbers", () => {});
`;

const RUST = `
//! A1 of the module
#[cfg(test)]
fn helper() {} // A2
pub fn built() {}
#[cfg(test)]
mod tests {
    // A3 a comment
    #[test]
    fn a4_b5_waits_double() { assert_eq!(1, 1, "C6"); }
    #[test]
    fn e6_holds() {}
    fn area_d7() { assert!(true, "A8 to A9") }
}
`;

test("strings of a script name lines; comments, identifiers and ranges do not", () => {
  assert.deepEqual(namedByScript(SCRIPT), ["A3", "B4", "C7", "D8", "E9"]);
});

test("tests of a Rust file name lines by function, comment and message; what is tested does not", () => {
  assert.deepEqual(namedByRust(RUST).sort(), ["A3", "A4", "B5", "C6", "E6"]);
  assert.deepEqual(namedByRust("// A1\nfn a2_x() {}"), []);
});

test("each unnamed line stands in one list, by its letters", () => {
  const tags = {
    A1: "L",
    A2: "LD",
    A3: "T",
    A4: "LX",
    A5: "X",
    A6: "DX",
    A7: "D",
    A8: "DT",
    A9: "LDX",
    A10: "L",
  };
  assert.deepEqual(reportOf(tags, ["A10", "B1"]), {
    named: ["A10"],
    gaps: ["A1", "A2", "A3", "A4", "A5", "A6", "A8", "A9"],
    host: ["A7"],
    unknown: ["B1"],
  });
});

/** @param {Record<string, string>} tags @param {string} title */
function repository(tags, title) {
  const path = mkdtempSync(join(folder, "repository-"));
  for (const name of [
    "__test__/fixtures",
    "__test__/deeper",
    "__test__/oracle",
    "__test__/tools/node_modules",
    "src",
  ])
    mkdirSync(join(path, name), { recursive: true });
  writeFileSync(join(path, "__test__/fixtures/requirements.json"), JSON.stringify(tags));
  writeFileSync(join(path, "__test__/deeper/one.test.mjs"), `test("${title}")`);
  writeFileSync(join(path, "__test__/requirements.test.mjs"), 'test("B1")');
  writeFileSync(join(path, "__test__/oracle/one.mjs"), 'test("B1")');
  writeFileSync(join(path, "__test__/tools/node_modules/one.mjs"), 'test("B1")');
  writeFileSync(join(path, "src/one.rs"), RUST);
  return path;
}

test("only what tests name counts: not what is installed beside them, nor what this test makes up", () => {
  const tags = { A3: "L", A30: "T", A31: "X", A32: "D", B1: "L" };
  assert.deepEqual(inspect(repository(tags, "A30")).report.gaps, ["A31", "B1"]);
  assert.deepEqual(inspect(repository(tags, "A30 A31 B1")).report.gaps, []);
});

test("the script fails as long as a line of the library, the extension or a test is unnamed", () => {
  const script = fileURLToPath(new URL("../scripts/requirements.mjs", import.meta.url));
  for (const [title, status] of /** @type {const} */ ([
    ["A30", 1],
    ["A30 A31 B1", 0],
  ])) {
    const path = repository({ A3: "L", A30: "T", A31: "X", A32: "D", B1: "L" }, title);
    mkdirSync(join(path, "scripts"));
    copyFileSync(script, join(path, "scripts/requirements.mjs"));
    assert.equal(spawnSync(process.execPath, [join(path, "scripts/requirements.mjs")]).status, status, title);
  }
});
