// What README.md says of speed: the figures of a record, between two markers, and nothing else.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { isMissed, rounded, times, withoutStages } from "./lines.mjs";
import { picturePath, ROOT, readRecord } from "./record.mjs";

/** @typedef {import("./lines.mjs").Line} Line */
/** @typedef {import("./record.mjs").BenchRecord} BenchRecord */

const README = join(ROOT, "README.md");
const SECTION = /<!-- bench: (?<record>\S+) -->\n[\s\S]*?<!-- \/bench -->/;
const NOTHING = "–";

/** Puts a record into README.md. @param {string} path */
export function showRecord(path) {
  const text = readFileSync(README, "utf8");
  if (!SECTION.test(text)) throw new Error("README.md has no markers <!-- bench: … --> and <!-- /bench -->");
  writeFileSync(
    README,
    text.replace(SECTION, () => section(path)),
  );
}

/** What README.md shows, and of which record. */
export function shownSection() {
  const found = SECTION.exec(readFileSync(README, "utf8"));
  return { text: found?.[0], record: found?.groups?.record };
}

/** @param {string} path of a record */
export function section(path) {
  const record = readRecord(path);
  const parts = [
    introduction(record),
    `![${altOf(record)}](${picturePath(path)})`,
    comparedTable(record),
    aloneTable(record),
    missedText(record),
  ];
  return [`<!-- bench: ${path} -->`, ...parts.filter(Boolean), "<!-- /bench -->"].join("\n\n");
}

/** @param {BenchRecord} record */
function introduction({ taken, commit, machine, packages, processes, sessions, nodes }) {
  const [first, ...others] = sessions.map(
    ({ name, messages, bytes }) => `${messages} messages and ${(bytes / 1e6).toFixed(1)} MB (\`${name}\`)`,
  );
  const onSessions = [`a session of ${first}`, ...others.map((other) => `in brackets one of ${other}`)];
  const { "pi-compaction-native": own, ...compared } = packages;
  const against = Object.entries(compared).map(([name, version]) => `${name} ${version}`);
  const from = commit === undefined ? "" : `, commit ${commit.hash.slice(0, 7)}`;
  const changed = commit?.changed ? " with changes" : "";
  const on = [machine.cpu, `${machine.cores} cores`, machine.memory, machine.system].join(", ");
  const engines = nodes.map(({ node, v8 }) => `${node} (V8 ${v8})`);
  return [
    "Side by side with pi's own JavaScript in one process, rounds interleaved, equal answers asserted first.",
    `Medians over ${processes === 1 ? "one fresh process" : `${processes} fresh processes`}: milliseconds on Node ${majorOf(nodes[0].node)}, and the rounds' ratios; ${onSessions.join(", ")}.`,
    `Version ${own}${from}${changed}, ${taken.slice(0, 10)}, beside ${against.join(", ")}; ${on}; Node ${engines.join(" and ")}.`,
    "On your machine: `npm run bench`.",
  ].join(" ");
}

/** @param {string} version of Node */
function majorOf(version) {
  return version.split(".")[0];
}

/** @param {BenchRecord} record */
function altOf({ nodes: [{ node }] }) {
  return `Each row of the table on a logarithmic scale, native against pi's code, on Node ${node}`;
}

/** @param {BenchRecord} record */
function comparedTable({ nodes, sessions }) {
  const rows = new Set(nodes[0].lines.filter(({ pi }) => pi !== undefined).map(({ row }) => row));
  const majors = nodes.map(({ node }) => `faster, Node ${majorOf(node)}`);
  const head = ["", "pi", "JavaScript alone", "this", ...majors];
  /** The figures of a row over the sessions. @param {Line[]} lines @param {string} row @param {(line: Line) => string} figure */
  const cell = (lines, row, figure) => {
    const found = sessions.map(({ name }) => lines.find((line) => line.row === row && line.session === name));
    const [first = NOTHING, ...others] = found.map((line) => line && (figure(line) || NOTHING));
    return first === NOTHING ? first : [first, ...others.map((other) => `(${other ?? NOTHING})`)].join(" ");
  };
  const body = [...rows].map((row) => {
    const { lines } = nodes[0];
    const unit = lines.find((line) => line.row === row)?.unit;
    return [
      `${row}, ${unit}`,
      cell(lines, row, ({ pi }) => number(pi)),
      cell(lines, row, ({ pure }) => number(pure)),
      cell(lines, row, ({ ours }) => number(ours)),
      ...nodes.map((node) => cell(node.lines, row, ({ ratio }) => times(ratio))),
    ];
  });
  return table(head, body);
}

/** What pi has nothing of. @param {BenchRecord} record */
function aloneTable({ nodes }) {
  const alone = nodes.map(({ lines }) => withoutStages(lines).filter(({ pi }) => pi === undefined));
  if (alone[0].length === 0) return "";
  const majors = nodes.map(({ node }) => `this, Node ${majorOf(node)}`);
  const body = alone[0].map(({ row, unit, atMost }) => {
    const found = alone.map((lines) => lines.find((line) => line.row === row));
    const figures = found.map((line) => (line === undefined ? NOTHING : medianAndMost(line)));
    return [`${row}, ${unit}`, ...figures, number(atMost)];
  });
  return table(["median (slowest)", ...majors, "to stay within"], body);
}

/** @param {Line} line */
function medianAndMost({ ours, most }) {
  return most === undefined ? number(ours) : `${number(ours)} (${number(most)})`;
}

/** @param {BenchRecord} record */
function missedText({ nodes }) {
  /** @type {Map<string, string[]>} */
  const byRow = new Map();
  for (const { node, lines } of nodes) {
    for (const line of lines.filter(isMissed)) {
      const on = [line.session, `Node ${majorOf(node)}`].filter(Boolean).join(", ");
      byRow.set(line.row, [...(byRow.get(line.row) ?? []), `${figureAndGoal(line)} (${on})`]);
    }
  }
  if (byRow.size === 0) return "Every row reaches what was aimed at.";
  const items = [...byRow].map(([row, figures]) => `- ${row}: ${figures.join(", ")}`);
  return ["Short of what was aimed at:", "", ...items].join("\n");
}

/** @param {Line} line */
function figureAndGoal({ ratio, most, ours, unit, atLeast, atMost }) {
  if (atLeast !== undefined) return `${times(ratio)} of ${times(atLeast)}`;
  return `${number(most ?? ours)} of at most ${number(atMost)} ${unit}`;
}

/** @param {number | undefined} value */
function number(value) {
  return value === undefined ? NOTHING : rounded(value);
}

/** @param {string[]} head @param {string[][]} body */
function table(head, body) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...body.map(line)].join("\n");
}
