// The picture of a record: each row a pair of dots on a logarithmic scale, native against pi's code.

import { rounded, times, withoutStages } from "./lines.mjs";

/** @typedef {import("./lines.mjs").Line} Line */
/** @typedef {import("./record.mjs").BenchRecord} BenchRecord */
/** @typedef {(ms: number) => number} Scale where a time stands, in pixels */

const WIDTH = 900;
const LEFT = 325;
const RIGHT = 790;
const TOP = 92;
const ROW = 28;
const FOOT = 40;
const DOT = 5.5;

// Shapes differ as well as colours, and the ground is our own: a page may be dark when its reader's system is not.
const STYLE = `
  .ground { fill: #ffffff; stroke: #d1d9e0 }
  text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
  .title { font-size: 16px; font-weight: 600 }
  .note { font-size: 12px; fill: #59636e }
  .faster { font-weight: 600 }
  .grid { stroke: #d1d9e0 }
  .span { stroke: #afb8c1; stroke-width: 2 }
  .pi { fill: #ffffff; stroke: #59636e; stroke-width: 2 }
  .pure { fill: #bc4c00 }
  .ours { fill: #0969da }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; stroke: #3d444d }
    text { fill: #f0f6fc }
    .note { fill: #9198a1 }
    .grid { stroke: #2a313c }
    .span { stroke: #656c76 }
    .pi { fill: #0d1117; stroke: #b7bdc8 }
    .pure { fill: #f0883e }
    .ours { fill: #4493f8 }
  }
`;

/** @param {BenchRecord} record */
export function chart(record) {
  const [{ node, lines }] = record.nodes;
  const [session] = record.sessions;
  const shown = linesOf(lines, session.name);
  const foot = TOP + shown.length * ROW;
  const [least, most] = decades(shown);
  const scale = scaleOf(least, most);
  const title = "pi-compaction-native against pi's own JavaScript";
  const bytes = `${(session.bytes / 1e6).toFixed(1)} MB`;
  const note = `Milliseconds, logarithmic: left is faster. Node ${node}, a session of ${session.messages} messages and ${bytes}.`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${foot + FOOT}" width="${WIDTH}" height="${foot + FOOT}" role="img" aria-labelledby="title note">
<style>${STYLE}</style>
<rect class="ground" x="0.5" y="0.5" width="${WIDTH - 1}" height="${foot + FOOT - 1}" rx="8"/>
${label(20, 30, title, "title", 'id="title"')}
${label(20, 50, note, "note", 'id="note"')}
${legend()}
${grid(least, most, scale, foot)}
${shown.map((line, i) => rowOf(line, TOP + ROW * (i + 0.5), scale)).join("\n")}
</svg>
`;
}

/** What is in milliseconds and of the first session, or of none. @param {Line[]} lines @param {string} session */
function linesOf(lines, session) {
  const timed = withoutStages(lines).filter(({ unit, ours }) => unit === "ms" && ours > 0);
  return timed.filter((line) => (line.session ?? session) === session);
}

/** Powers of ten around all times. @param {Line[]} lines @returns {[least: number, most: number]} */
function decades(lines) {
  const all = lines.flatMap(({ pi, pure, ours }) => [pi, pure, ours]).filter((ms) => ms !== undefined);
  const powers = all.map(Math.log10);
  return [Math.floor(Math.min(...powers)), Math.ceil(Math.max(...powers))];
}

/** @param {number} least @param {number} most @returns {Scale} */
function scaleOf(least, most) {
  return (ms) => LEFT + ((RIGHT - LEFT) * (Math.log10(ms) - least)) / (most - least);
}

/** @param {number} least @param {number} most @param {Scale} scale @param {number} foot */
function grid(least, most, scale, foot) {
  const marks = Array.from({ length: most - least + 1 }, (_, i) => 10 ** (least + i));
  return marks
    .map((ms) => {
      const x = px(scale(ms));
      const line = `<line class="grid" x1="${x}" x2="${x}" y1="${TOP}" y2="${foot}"/>`;
      return `${line}${label(x, foot + 20, duration(ms), "note", 'text-anchor="middle"')}`;
    })
    .join("\n");
}

/** @param {number} ms */
function duration(ms) {
  if (ms < 1) return `${rounded(ms * 1e3)} µs`;
  return ms < 1e3 ? `${rounded(ms)} ms` : `${rounded(ms / 1e3)} s`;
}

/** @param {Line} line @param {number} y @param {Scale} scale */
function rowOf({ row, pi, pure, ours, ratio }, y, scale) {
  const [own, theirs] = [px(scale(ours)), pi === undefined ? undefined : px(scale(pi))];
  const span =
    theirs === undefined ? "" : `<line class="span" x1="${own}" x2="${theirs}" y1="${y}" y2="${y}"/>`;
  const faster = ratio === undefined ? duration(ours) : times(ratio);
  return [
    label(20, y + 4, row),
    span,
    theirs === undefined ? "" : piMark(theirs, y),
    pure === undefined ? "" : pureMark(px(scale(pure)), y),
    ourMark(own, y),
    label(WIDTH - 20, y + 4, faster, "faster", 'text-anchor="end"'),
  ].join("");
}

function legend() {
  const y = 74;
  const entry = (/** @type {number} */ x, /** @type {string} */ mark, /** @type {string} */ name) =>
    `${mark}${label(x + 12, y + 4, name, "note")}`;
  return [
    entry(LEFT, ourMark(LEFT, y), "native"),
    entry(LEFT + 80, piMark(LEFT + 80, y), "pi"),
    entry(LEFT + 130, pureMark(LEFT + 130, y), "the best that JavaScript alone does"),
  ].join("");
}

/** @param {number} x @param {number} y */
const ourMark = (x, y) => `<circle class="ours" cx="${x}" cy="${y}" r="${DOT}"/>`;
/** @param {number} x @param {number} y */
const piMark = (x, y) => `<circle class="pi" cx="${x}" cy="${y}" r="${DOT - 1}"/>`;
/** @param {number} x @param {number} y */
const pureMark = (x, y) => `<path class="pure" d="M${x} ${y - 6}l6 6l-6 6l-6 -6z"/>`;

/** @param {number} x @param {number} y @param {string} text @param {string} [name] of the class @param {string} [more] */
function label(x, y, text, name = "row", more = "") {
  return `<text class="${name}" x="${x}" y="${y}"${more && ` ${more}`}>${escaped(text)}</text>`;
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** A tenth of a pixel is enough. @param {number} x */
function px(x) {
  return Math.round(x * 10) / 10;
}
