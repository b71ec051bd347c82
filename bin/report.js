"use strict";

// Tables and bars for a terminal of 80 columns.

const { clip, printable, width } = require("./text.js");

/** Eighths of a column, from none to seven. */
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar of at most `most` columns; what is not nothing shows. @param {number} share @param {number} most */
function bar(share, most) {
  const eighths = Math.round(Math.min(Math.max(share, 0), 1) * most * 8);
  const shown = share > 0 ? Math.max(eighths, 1) : 0;
  return "█".repeat(Math.floor(shown / 8)) + EIGHTHS[shown % 8];
}

/** @param {string} cell @param {number} columns @param {boolean} right */
function pad(cell, columns, right) {
  const gap = " ".repeat(Math.max(columns - width(cell), 0));
  return right ? gap + cell : cell + gap;
}

/**
 * Rows under their heads. A head that begins with ">" aligns its column to the right.
 *
 * @param {readonly string[]} heads @param {readonly (readonly string[])[]} rows
 * @returns {string[]}
 */
function table(heads, rows) {
  const right = heads.map((head) => head.startsWith(">"));
  const cells = [heads.map((head) => head.replace(/^>/, "")), ...rows];
  const columns = heads.map((_, at) => Math.max(...cells.map((row) => width(row[at] ?? ""))));
  return cells.map((row) =>
    `  ${row.map((cell, at) => pad(cell, columns[at], right[at])).join("  ")}`.trimEnd(),
  );
}

/** A sentence as lines of at most `most` columns, indented as tables are. @param {string} text @param {number} most */
function wrapped(text, most) {
  const lines = /** @type {string[]} */ ([]);
  let line = " ";
  for (const word of printable(text).split(" ")) {
    if (line.trim() !== "" && width(line) + 1 + width(word) > most) {
      lines.push(line);
      line = " ";
    }
    line += ` ${clip(word, most - 2)}`;
  }
  return [...lines, line];
}

/** Writes sections. Headings are bold on a terminal that takes it. @param {NodeJS.WriteStream} stream */
function reporter(stream) {
  const styled = stream.isTTY === true && process.env.NO_COLOR === undefined;
  let begun = false;
  return (/** @type {string} */ heading, /** @type {readonly string[]} */ lines) => {
    const title = styled ? `\u001b[1m${heading}\u001b[22m` : heading;
    stream.write(`${begun ? "\n" : ""}${[title, ...lines].join("\n")}\n`);
    begun = true;
  };
}

module.exports = { bar, reporter, table, wrapped };
