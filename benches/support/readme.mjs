// What README.md says of speed: the figures of a record, between two markers, and nothing else.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { asked, isMissed, rounded, times } from "./lines.mjs";
import { picturePath, ROOT, readRecord } from "./record.mjs";

/** @typedef {import("./lines.mjs").Line} Line */
/** @typedef {import("./record.mjs").BenchRecord} BenchRecord */

const README = join(ROOT, "README.md");
const SECTION = /<!-- bench: (?<record>\S+) -->\n[\s\S]*?\n<!-- \/bench -->/;
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
    leftOutText(record),
  ];
  return [`<!-- bench: ${path} -->`, ...parts.filter(Boolean), "<!-- /bench -->"].join("\n\n");
}

/** @param {BenchRecord} record */
function introduction({ taken, commit, machine, packages, processes, sessions, nodes }) {
  const [first, second] = sessions.map(
    ({ messages, bytes }) => `${messages} messages and ${(bytes / 1e6).toFixed(1)} MB`,
  );
  const other = second === undefined ? "" : ` (in brackets: one of ${second})`;
  const versions = nodes.map(({ node, v8 }) => `${node} (V8 ${v8})`).join(" and ");
  const from = commit === undefined ? "" : `, commit ${commit.hash.slice(0, 7)}`;
  const compared = Object.entries(packages).filter(([name]) => name !== "pi-compaction-native");
  return `Side by side with pi's own JavaScript in one process, rounds interleaved, equal answers asserted first; medians over ${processes} fresh processes, of milliseconds on Node ${nodes[0].node.split(".")[0]} and of the rounds' ratios, on a session of ${first}${other}. Measured on ${taken.slice(0, 10)}${from}, with ${compared.map(([name, version]) => `${name} ${version}`).join(", ")}; ${machine.cpu}, ${machine.cores} cores, ${machine.memory}, ${machine.system}; Node ${versions}. Again on yours: \`npm run bench\`.`;
}

/** @param {BenchRecord} record */
function altOf({ nodes: [{ node }] }) {
  return `Each row of the table on a logarithmic scale, native against pi's code, on Node ${node}`;
}

/** @param {BenchRecord} record */
function comparedTable({ nodes, sessions }) {
  const rows = new Set(nodes[0].lines.filter(({ pi }) => pi !== undefined).map(({ row }) => row));
  const majors = nodes.map(({ node }) => `faster, Node ${node.split(".")[0]}`);
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
  const alone = nodes[0].lines.filter(({ pi }) => pi === undefined);
  if (alone.length === 0) return "";
  const majors = nodes.map(({ node }) => `Node ${node.split(".")[0]}`);
  const body = alone.map(({ row }) => {
    const found = nodes.map(({ lines }) => lines.find((line) => line.row === row));
    const figures = found.map((line) => (line === undefined ? NOTHING : medianAndMost(line)));
    return [`${row}, ${alone.find((line) => line.row === row)?.unit}`, ...figures];
  });
  return table(["on its own: median (slowest)", ...majors], body);
}

/** @param {Line} line */
function medianAndMost({ ours, most }) {
  return most === undefined ? number(ours) : `${number(ours)} (${number(most)})`;
}

/** @param {BenchRecord} record */
function missedText({ nodes }) {
  const missed = nodes.flatMap(({ node, lines }) =>
    lines.filter(isMissed).map((line) => {
      const { row, session, ratio, most, ours, unit } = line;
      const figure = line.atLeast === undefined ? `${number(most ?? ours)} ${unit}` : times(ratio);
      const on = [session, `Node ${node.split(".")[0]}`].filter(Boolean).join(", ");
      return `${row} (${on}): ${figure}, ${asked(line)}`;
    }),
  );
  if (missed.length === 0) return "Every row reaches what was aimed at.";
  return `Short of what was aimed at: ${missed.join("; ")}.`;
}

/** @param {BenchRecord} record */
function leftOutText({ leftOut }) {
  const names = leftOut.map(({ row, needs }) => `${row} (\`${needs}\`)`);
  return names.length === 0 ? "" : `Not built yet: ${names.join(", ")}.`;
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
