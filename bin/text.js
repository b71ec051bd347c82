"use strict";

// Text of a session on a terminal: no control character reaches it, and no line is wider than asked.

const { stripVTControlCharacters } = require("node:util");

/** Controls, and what would turn the reading direction of the rest of the line. */
const UNPRINTABLE = /[\p{Cc}\p{Co}\p{Cn}\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]+/gu;
const ZERO = /^[\p{M}\p{Cf}]+$/u;
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;
/** Asks for a symbol to be drawn as a picture. */
const PICTURE = "\ufe0f";
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/** Units that are looked at before clipping: enough for any width, whatever the message holds. */
const LOOKED_AT = 2_000;

/** One line without controls; a lone surrogate becomes U+FFFD. @param {string} text */
function printable(text) {
  const plain = stripVTControlCharacters(text.toWellFormed()).replace(/\s+/g, " ");
  return plain.replace(UNPRINTABLE, " ").replace(/ {2,}/g, " ").trim();
}

/** A text of many lines that cannot steer the terminal it is shown on. @param {string} text */
function harmless(text) {
  return stripVTControlCharacters(text).replace(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, "");
}

/** Columns that a grapheme takes. @param {string} grapheme */
function columns(grapheme) {
  if (ZERO.test(grapheme)) return 0;
  return WIDE.test(grapheme) || grapheme.includes(PICTURE) ? 2 : 1;
}

/** Columns that a line takes. @param {string} line */
function width(line) {
  let sum = 0;
  for (const { segment } of graphemes.segment(line)) sum += columns(segment);
  return sum;
}

/** The beginning of a text as one line of at most `most` columns. @param {string} text @param {number} most */
function clip(text, most) {
  const line = printable(text.slice(0, LOOKED_AT));
  let kept = "";
  let sum = 0;
  for (const { segment } of graphemes.segment(line)) {
    sum += columns(segment);
    if (sum > most - 1 && kept.length + segment.length < line.length) return `${kept.trimEnd()}…`;
    if (sum > most) return `${kept.trimEnd()}…`;
    kept += segment;
  }
  return kept;
}

const integers = new Intl.NumberFormat("en-US");
/** @param {number} value */
const count = (value) => integers.format(value);

module.exports = { clip, count, harmless, printable, width };
