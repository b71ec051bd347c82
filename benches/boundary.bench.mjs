// What a Node user sees, side by side with pi's own code.
//
//   node benches/boundary.bench.mjs [--check] [--json FILE] [--only TEXT]
//
// Figures are medians: of the rounds in a process, of pi's time by ours in each round, and over processes.

import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

import { installOracle, run } from "../scripts/run.mjs";
import { nodes } from "./support/nodes.mjs";
import { leastRatio, rows } from "./support/rows.mjs";
import { sessionNames } from "./support/sessions.mjs";
import { versions } from "./support/sides.mjs";
import { medians } from "./support/timing.mjs";

/** @typedef {import("./support/rows.mjs").Row} Row */
/** @typedef {import("./support/timing.mjs").Figures} Figures */
/** @typedef {import("./support/nodes.mjs").NodeBinary} NodeBinary */
/** @typedef {Figures & { row: string, session: string, atLeast?: number }} Line */

const WORKER = fileURLToPath(new URL("support/worker.mjs", import.meta.url));
const STALL = fileURLToPath(new URL("support/stall.mjs", import.meta.url));
const ABORT = fileURLToPath(new URL("support/abort.mjs", import.meta.url));
/** Milliseconds within which an abort has to reject. */
const ABORT_WITHIN = 20;
const ORACLE = fileURLToPath(new URL("../__test__/oracle/node_modules", import.meta.url));
/** Fresh processes a row. */
const CHECKED = 5;
/** Pairs of processes that make up one sample of a first call. */
const PAIRS = 7;

const { values: wanted } = parseArgs({
  options: { check: { type: "boolean" }, json: { type: "string" }, only: { type: "string", default: "" } },
});
const processes = wanted.check ? CHECKED : 1;

if (!existsSync(ORACLE)) run([installOracle]);
process.exitCode = await main();

async function main() {
  const sessions = sessionNames();
  if (sessions.length === 0) {
    console.error(
      "No session to measure on: neither ../shared/sessions nor examples/session.jsonl is there.",
    );
    return 1;
  }
  const { package: own, pi } = versions();
  const machine = { cpu: cpus()[0]?.model.trim() ?? "unknown", cores: cpus().length };
  console.log(
    `pi-compaction-native ${own} and pi-agent-core ${pi} on ${machine.cpu}, ${machine.cores} cores`,
  );
  const measured = [];
  for (const node of nodes(console.log)) measured.push(await measureNode(node, sessions));
  if (wanted.json) {
    const record = { machine, package: own, pi, processes, nodes: measured };
    writeFileSync(wanted.json, `${JSON.stringify(record, undefined, 2)}\n`);
  }
  const slow = measured.flatMap(({ version, lines }) =>
    lines.filter(isBelow).map((line) => `Node ${version}, ${describe(line)}`),
  );
  const late = measured.flatMap(({ version, aborts }) =>
    aborts
      .filter(
        ({ rejected, closed }) => !(rejected.most <= ABORT_WITHIN && (closed?.most ?? 0) <= ABORT_WITHIN),
      )
      .map(({ stage }) => `Node ${version}, abort ${stage}`),
  );
  const stalled = measured.flatMap(({ version, stall }) =>
    stall && stall.held > stall.read ? [`Node ${version}, 10 MB through a model`] : [],
  );
  const failed = [...slow, ...late, ...stalled];
  for (const line of wanted.check ? failed : []) console.error(`Misses its threshold: ${line}`);
  return wanted.check && failed.length > 0 ? 1 : 0;
}

/** @param {NodeBinary} node @param {string[]} sessions */
async function measureNode(node, sessions) {
  console.log(
    `\nNode ${node.version}, ${processes} fresh ${processes === 1 ? "process" : "processes"} a row`,
  );
  console.log(columns(["", "session", "pi, ms", "ours, ms", "faster", "to reach"]));
  const lines = [];
  for (const row of rows.filter(({ name }) => name.includes(wanted.only))) {
    for (const session of sessions) lines.push(await measureLine(node, row, session));
  }
  return {
    version: node.version,
    lines,
    aborts: await measureAborts(node),
    stall: await measureStall(node),
  };
}

/** The main thread while a model compacts 10 MB; nothing of pi's to compare with. @param {NodeBinary} node */
async function measureStall(node) {
  if (!"10 MB through a model".includes(wanted.only)) return undefined;
  const { stdout } = await promisify(execFile)(node.path, [STALL]);
  const stall = JSON.parse(stdout);
  const [read, held, wall] = [stall.read, stall.held, stall.wall].map((ms) => ms.toFixed(1));
  console.log(
    `10 MB through a model, ${stall.chunks} chunks: read in ${read} ms, then held for at most ${held} ms, ${wall} ms in all`,
  );
  return stall;
}

/** From abort to rejection; nothing of pi's to compare with. @param {NodeBinary} node */
async function measureAborts(node) {
  if (!"abort to rejection".includes(wanted.only)) return [];
  const { stdout } = await promisify(execFile)(node.path, [ABORT]);
  const aborts = JSON.parse(stdout);
  for (const { stage, rejected, closed } of aborts) {
    const figures = `${described(rejected)}${closed ? `; socket closed ${described(closed)}` : ""}`;
    console.log(`abort to rejection, ${stage}: ${figures} (to stay within ${ABORT_WITHIN} ms)`);
  }
  return aborts;
}

/** @param {{ median: number, most: number }} figures */
function described({ median, most }) {
  return `${median.toFixed(2)} ms, at most ${most.toFixed(2)} ms`;
}

/** One line of the table; when checking, one that falls short is measured once more. */
async function measureLine(
  /** @type {NodeBinary} */ node,
  /** @type {Row} */ row,
  /** @type {string} */ session,
) {
  const atLeast = leastRatio(row, node.major, session);
  const measure = async () => ({
    row: row.name,
    session,
    ...(await overProcesses(node, row, session)),
    atLeast,
  });
  let line = await measure();
  print(line);
  if (wanted.check && isBelow(line)) {
    console.log(`  once more: ${describe(line)}`);
    line = await measure();
    print(line);
  }
  return line;
}

/** @param {NodeBinary} node @param {Row} row @param {string} session */
async function overProcesses(node, row, session) {
  /** @type {Figures[]} */
  const figures = [];
  // A process that measures both sides asserts their equality; first calls are too early for that.
  if (row.when === "first") await work(node, [row.name, session]);
  for (let i = 0; i < processes; i++) {
    const sample = row.when === "first" ? firstCalls(node, row, session) : work(node, [row.name, session]);
    figures.push(await sample);
  }
  return medians(figures);
}

/** @param {NodeBinary} node @param {Row} row @param {string} session */
async function firstCalls(node, row, session) {
  const pairs = [];
  for (let i = 0; i < PAIRS; i++) {
    const ours = await work(node, [row.name, session, "ours"]);
    const pi = await work(node, [row.name, session, "pi"]);
    pairs.push({ ours, pi, ratio: pi / ours });
  }
  return medians(pairs);
}

/** What a fresh process prints. @param {NodeBinary} node @param {string[]} args */
async function work(node, args) {
  const { stdout } = await promisify(execFile)(node.path, [WORKER, ...args]);
  return JSON.parse(stdout);
}

/** @param {Line} line */
function isBelow({ ratio, atLeast }) {
  return atLeast !== undefined && ratio < atLeast;
}

/** @param {Line} line */
function describe({ row, session, ratio, atLeast }) {
  return `${row}, ${session}: ${times(ratio)}, to reach ${times(atLeast)}`;
}

/** @param {Line} line */
function print(line) {
  const mark = isBelow(line) ? " below" : "";
  const { row, session, pi, ours, ratio, atLeast } = line;
  const goal = atLeast === undefined ? "" : `${times(atLeast)}${mark}`;
  console.log(columns([row, session, pi.toFixed(3), ours.toFixed(3), times(ratio), goal]));
}

/** @param {number | undefined} ratio */
function times(ratio) {
  return ratio === undefined ? "nothing" : `${Number(ratio.toFixed(1))}×`;
}

/** @param {string[]} cells */
function columns(cells) {
  const [first, session, ...numbers] = cells;
  return [first.padEnd(26), session.padEnd(8), ...numbers.map((cell) => cell.padStart(10))]
    .join(" ")
    .trimEnd();
}
