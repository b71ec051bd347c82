// Does docs/pi.md say what the extension says?

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { parseRefineSettings } from "../index.js";
import { PACKAGE } from "./support/pi-home.mjs";

const GUIDE = readFileSync(join(PACKAGE, "docs/pi.md"), "utf8");
const SOURCES = join(PACKAGE, "extensions/refine-compact");
const source = readdirSync(SOURCES)
  .map((name) => readFileSync(join(SOURCES, name), "utf8"))
  .join("\n");

/** Cells of the first column of the table under this head. @param {string} head */
function firstColumn(head) {
  const [, table = ""] = GUIDE.split(`| ${head} |`);
  const rows = table.split("\n").slice(2);
  const end = rows.findIndex((row) => !row.startsWith("|"));
  return rows.slice(0, end).map((row) => row.split("|")[1].trim());
}

test("the settings of the guide are settings, all of them", () => {
  const { model, ...refine } = JSON.parse(/```json\n([\s\S]*?)```/.exec(GUIDE)?.[1] ?? "");
  assert.equal(typeof model, "string");
  assert.deepEqual(parseRefineSettings(refine), { settings: refine, problems: [] });
  const [first, ...names] = firstColumn("setting").map((cell) => cell.replaceAll("`", ""));
  assert.equal(first, "model");
  assert.equal(names.length, 4);
  const named = Object.fromEntries(names.map((name) => [name, 1]));
  assert.deepEqual(parseRefineSettings(named), { settings: named, problems: [] });
});

test("what the guide says that a user reads is what the extension says", () => {
  const said = firstColumn("what you read").map((cell) => /`([^`]+)`/.exec(cell)?.[1] ?? "");
  assert.ok(said.length > 7);
  const pieces = said.flatMap((words) => words.split(/…|CODE|FIELD|pi-compaction-native\.json/));
  const wanted = pieces
    .map((piece) => piece.replace(/^[):;, .]+|[(:. ]+$/g, ""))
    .filter((piece) => piece.length > 5);
  assert.ok(wanted.length > 7);
  for (const piece of wanted) assert.ok(source.includes(piece), piece);
});

test("every code that a run of the extension may end with stands in the guide", () => {
  const explained = firstColumn("code").join();
  const types = readFileSync(join(PACKAGE, "index.d.ts"), "utf8");
  const codes = /type CompactionErrorCode =([\s\S]*?)\n\n/.exec(types)?.[1].match(/(?<=\| ")\w+/g) ?? [];
  assert.ok(codes.length > 9);
  // The rest is of recovery, of other summarizers, of session files, and of arguments, which are the extension's own.
  const others = ["invalid_argument", "checkpoint_oversized", "unsupported_api", "session_file"];
  for (const code of codes) assert.equal(explained.includes(code), !others.includes(code), code);
});
