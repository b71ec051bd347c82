// README's figures are a record's figures, and its picture is drawn from the same. Only texts are compared here.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

import { chart } from "../benches/support/chart.mjs";
import { section, shownSection } from "../benches/support/readme.mjs";
import { picturePath, ROOT, readRecord, recordText } from "../benches/support/record.mjs";

const HOW = "npm run bench -- --readme puts the newest record into README.md";
const shown = shownSection();
const path = shown.record ?? "";

test("README shows a record of the bench, to the letter", () => {
  assert.ok(existsSync(join(ROOT, path)), `README.md names no record that is there: ${path}. ${HOW}`);
  assert.equal(shown.text, section(path), HOW);
});

test("README's picture is drawn from the same record", () => {
  const picture = picturePath(path);
  assert.equal(readFileSync(join(ROOT, picture), "utf8"), chart(readRecord(path)), HOW);
  assert.ok(shown.text?.includes(`](${picture})`), "README.md shows the picture");
});

test("a record is whole: machine, versions, commit, and each figure with its spread over the processes", () => {
  const record = readRecord(path);
  assert.equal(recordText(record), readFileSync(join(ROOT, path), "utf8"));
  assert.ok(record.machine.cpu && record.machine.cores && record.packages["pi-compaction-native"]);
  assert.match(record.commit?.hash ?? "", /^[\da-f]{40}$/);
  assert.deepEqual(
    record.nodes.map(({ node }) => node.split(".")[0]),
    ["20", "24"],
  );
  for (const { v8, lines } of record.nodes) {
    assert.ok(v8);
    for (const line of lines) {
      for (const [name, [least, most]] of Object.entries(line.spread)) {
        const figure = /** @type {any} */ (line)[name];
        assert.ok(least <= figure && figure <= most, `${line.row}, ${line.session}: ${name}`);
      }
      assert.ok(line.spread.ours, line.row);
    }
  }
});

test("no newer record is committed than the one that README shows", (t) => {
  const listed = spawnSync("git", ["ls-files", "benches/record"], { cwd: ROOT, encoding: "utf8" });
  if (listed.status !== 0) return t.skip("not in a git repository");
  const records = listed.stdout.split("\n").filter((name) => name.endsWith(".json"));
  assert.deepEqual(
    records.filter((name) => name > path),
    [],
    HOW,
  );
});
