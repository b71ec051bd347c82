// What a Node user sees, side by side with pi's own code, on Node 20 and Node 24.
//
//   npm run bench                   every row; writes a record with its picture to benches/record
//   npm run bench -- --check        the same; fails where a row misses its threshold twice
//   npm run bench -- --quick        one process a row in place of five, no record
//   npm run bench -- --only TEXT    rows whose name holds TEXT, no record
//   npm run bench -- --json FILE    what was measured, to a file of your own
//   npm run bench -- --readme       measures nothing: README.md shows the newest record
//
// Figures are medians: of the rounds in a process, of pi's time by ours in each round, and over processes.

import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { installOracle, run } from "../scripts/run.mjs";
import { described, HEADINGS, isMissed, printed } from "./support/lines.mjs";
import { measurements } from "./support/measurements.mjs";
import { nodes } from "./support/nodes.mjs";
import { showRecord } from "./support/readme.mjs";
import { drawRecord, newestRecord, recordOf, recordText, writeRecord } from "./support/record.mjs";
import { sessionNames } from "./support/sessions.mjs";
import { isInstalled, versions } from "./support/sides.mjs";

/** @typedef {import("./support/lines.mjs").Line} Line */
/** @typedef {import("./support/measurements.mjs").Measurement} Measurement */
/** @typedef {import("./support/measurements.mjs").Under} Under */
/** @typedef {import("./support/record.mjs").BenchRecord} BenchRecord */

/** Fresh processes a row. */
const PROCESSES = 5;

const { values: wanted } = parseArgs({
  options: {
    check: { type: "boolean" },
    quick: { type: "boolean" },
    readme: { type: "boolean" },
    json: { type: "string" },
    only: { type: "string" },
  },
});

// What runs until an interrupt may have left files behind.
process.once("SIGINT", () => process.exit(130));
process.exitCode = wanted.readme ? updateReadme() : await measureAll();

function updateReadme() {
  const record = newestRecord();
  if (record === undefined) {
    console.error("No record is there yet: npm run bench makes one.");
    return 1;
  }
  drawRecord(record);
  showRecord(record);
  console.log(`README.md shows ${record}.`);
  return 0;
}

async function measureAll() {
  // A file that cannot be written is better known before than after all the work.
  if (wanted.json !== undefined) writeFileSync(wanted.json, "");
  if (!isInstalled()) run([/** @type {[string, string, string[]]} */ (installOracle)]);
  const sessions = sessionNames();
  if (sessions.length === 0) {
    console.error("No session is there: neither ../shared/sessions nor examples/session.jsonl.");
    return 1;
  }
  const taken = new Date();
  const processes = wanted.quick ? 1 : PROCESSES;
  const chosen = measurements.filter(({ name }) => name.includes(wanted.only ?? ""));
  const measured = [];
  console.log(
    Object.entries(versions())
      .map(([name, version]) => `${name} ${version}`)
      .join(", "),
  );
  for (const node of nodes(console.log)) {
    console.log(`\nNode ${node.version}, V8 ${node.v8}; fresh processes a row: ${processes}\n${HEADINGS}`);
    const lines = await measureNode({ node, processes }, chosen, sessions);
    measured.push({ node: node.version, v8: node.v8, lines });
  }
  save(recordOf({ taken, processes, sessions, nodes: measured }));
  return verdict(measured);
}

/** @param {Under} under @param {Measurement[]} chosen @param {string[]} sessions */
async function measureNode(under, chosen, sessions) {
  /** @type {Line[]} */
  const lines = [];
  for (const measurement of chosen) {
    for (const session of measurement.perSession ? sessions : [""]) {
      lines.push(...(await measured(measurement, under, session)));
    }
  }
  return lines;
}

/** When checking, what misses its threshold is measured once more. */
async function measured(
  /** @type {Measurement} */ measurement,
  /** @type {Under} */ under,
  /** @type {string} */ session,
) {
  const print = (/** @type {Line[]} */ lines) => lines.forEach((line) => void console.log(printed(line)));
  const lines = await measurement.lines(under, session);
  print(lines);
  if (!wanted.check || !lines.some(isMissed)) return lines;
  for (const line of lines.filter(isMissed)) console.log(`  once more: ${described(line)}`);
  const again = await measurement.lines(under, session);
  print(again);
  return again;
}

/** A part of the table, or one process a row, is no record. @param {BenchRecord} record */
function save(record) {
  if (wanted.json !== undefined) writeFileSync(wanted.json, recordText(record));
  if (wanted.quick || wanted.only !== undefined) return;
  const path = writeRecord(record);
  console.log(`\nWritten to ${path}. To show it in README.md: npm run bench -- --readme`);
}

/** @param {BenchRecord["nodes"]} measured */
function verdict(measured) {
  const missed = measured.flatMap(({ node, lines }) =>
    lines.filter(isMissed).map((line) => `Node ${node}, ${described(line)}`),
  );
  for (const line of missed) console.error(`Misses its threshold: ${line}`);
  return wanted.check && missed.length > 0 ? 1 : 0;
}
