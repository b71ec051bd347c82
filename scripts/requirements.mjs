// Lists the requirement lines, sections A to E, whose number no test names: in a title, in a message, in Rust also in
// a comment. A range (`A43–A54`) names nothing: it does not say what is proved of what is inside.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Letters say who satisfies a line: L the library, X the extension, D the host, T a test or a measurement.
 * @typedef {Record<string, string>} Tags the letters of each line
 * @typedef {{ named: string[], gaps: string[], host: string[], unknown: string[] }} Report
 */

const NUMBER = /\b[A-E]\d{1,3}\b/g;
const RANGE = /\b([A-E])\d{1,3}\s*(?:[–—-]|\.\.|to)\s*\1\d{1,3}\b/g;
const STRING = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/g;
const COMMENT = /^\s*(?:\/\/|\/\*|\*).*$|\s\/\/ .*$/;

/** @param {string} text */
const numbers = (text) => text.replace(RANGE, " ").match(NUMBER) ?? [];

/** What the strings of a JavaScript test name. @param {string} source @returns {string[]} */
export function namedByScript(source) {
  const lines = source.split("\n").map((line) => line.replace(COMMENT, ""));
  return lines.flatMap((line) => line.match(STRING) ?? []).flatMap(numbers);
}

/** What the tests at the end of a Rust file name; `fn a17_c3_…` names both. @param {string} source */
export function namedByRust(source) {
  const start = source.search(/^#\[cfg\(test\)\]\s+(?:pub(?:\(\w+\))? )?mod /m);
  if (start < 0) return [];
  const tests = source.slice(start);
  const functions = [...tests.matchAll(/\bfn ((?:[a-e]\d{1,3}_)+)/g)];
  return [
    ...numbers(tests),
    ...functions.flatMap(([, ids]) => numbers(ids.toUpperCase().replaceAll("_", " "))),
  ];
}

/** @param {Tags} tags @param {Iterable<string>} names @returns {Report} */
export function reportOf(tags, names) {
  const seen = new Set(names);
  const open = Object.keys(tags).filter((id) => !seen.has(id));
  return {
    named: Object.keys(tags).filter((id) => seen.has(id)),
    gaps: open.filter((id) => /[LXT]/.test(tags[id])),
    host: open.filter((id) => tags[id] === "D"),
    unknown: [...seen].filter((id) => !(id in tags)),
  };
}

/** Folders of other people's code. */
const INSTALLED = new Set(["oracle", "node_modules"]);

/** @param {string} folder @param {string} ending @returns {string[]} */
function files(folder, ending) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return INSTALLED.has(entry.name) ? [] : files(path, ending);
    return entry.name.endsWith(ending) ? [path] : [];
  });
}

/** @param {string} folder of a repository */
export function inspect(folder) {
  const read = (/** @type {string} */ path) => readFileSync(path, "utf8");
  /** @type {Tags} */
  const tags = JSON.parse(read(join(folder, "__test__/fixtures/requirements.json")));
  // The test of this script makes up its numbers.
  const scripts = files(join(folder, "__test__"), ".mjs").filter(
    (path) => !path.endsWith("requirements.test.mjs"),
  );
  const names = [
    ...scripts.flatMap((path) => namedByScript(read(path))),
    ...files(join(folder, "src"), ".rs").flatMap((path) => namedByRust(read(path))),
  ];
  return { tags, report: reportOf(tags, names) };
}

/** @param {string} title @param {string[]} ids @param {Tags} tags */
function print(title, ids, tags) {
  console.log(`\n${title}: ${ids.length}`);
  for (const section of new Set(ids.map((id) => id[0]))) {
    const ofSection = ids.filter((id) => id[0] === section);
    console.log(`  ${ofSection.map((id) => `${id} ${tags[id] ?? ""}`.trim()).join(", ")}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { tags, report } = inspect(fileURLToPath(new URL("..", import.meta.url)));
  console.log(`named by a test: ${report.named.length} of ${Object.keys(tags).length}`);
  print("named by none", report.gaps, tags);
  print("for the host alone", report.host, tags);
  print("named, but no line", report.unknown, tags);
  process.exitCode = report.gaps.length > 0 ? 1 : 0;
}
