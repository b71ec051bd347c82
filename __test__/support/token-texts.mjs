import { text } from "./texts.mjs";

/** @typedef {import("./random.mjs").Random} Random */

/** What the patterns of encodings tell apart: case, marks, digits, contractions, signs, blanks. */
const WORDS = [
  "const",
  "return",
  "HTTPServer",
  "getElementById",
  "it's",
  "DON'T",
  "we'LL",
  "l'été",
  "12345678",
  "3.14",
  "你好世界",
  "こんにちは",
  "안녕하세요",
  "привет",
  "שלום",
  "हिन्दी",
  "e\u0301te\u0301",
  "ǅungla",
  "Ⅻ",
  "<|endoftext|>",
  "👨‍👩‍👧",
  "🦀",
  "'s",
  "'Re",
];
const SIGNS = [
  " ",
  "  ",
  "\n",
  "\r\n",
  "\t",
  "\n\n    ",
  "        ",
  "(",
  ");",
  "{}",
  "//",
  "/*",
  "=>",
  "'",
  '"',
  "_",
  ".",
  "/\n/",
  "\u00a0",
  "\u3000",
  "\u2028",
  "\u001b[0m",
];

/** Writing that every version of Unicode in use knows alike: of letters that are younger, versions of Node differ. */
const BLOCKS = [
  [0, 0x52f],
  [0, 0x7f],
  [0x5d0, 0x5ea],
  [0x905, 0x939],
  [0xe01, 0xe3a],
  [0x2000, 0x206f],
  [0x2150, 0x2188],
  [0x3041, 0x3096],
  [0x4e00, 0x9fa5],
  [0xac00, 0xd7a3],
  [0xd800, 0xdfff],
  [0xe000, 0xe0ff],
  [0xfffc, 0xffff],
  [0x1d400, 0x1d454],
  [0x1f300, 0x1f5ff],
  [0xf0000, 0xf00ff],
];

/** @param {Random} rng */
function character(rng) {
  const [first, last] = rng.pick(BLOCKS);
  return String.fromCodePoint(rng.between(first, last));
}

/** Text as tokenizers meet it. @param {Random} rng */
export function mixedText(rng) {
  const piece = () => {
    const kind = rng.between(0, 9);
    if (kind < 4) return rng.pick(WORDS);
    if (kind < 7) return rng.pick(SIGNS);
    if (kind < 8) return rng.pick([...WORDS, ...SIGNS]).repeat(rng.between(0, 60));
    if (kind < 9) return text(rng, 4);
    return rng.list(0, 5, () => character(rng)).join("");
  };
  return rng.list(0, 12, piece).join("");
}
