/** @typedef {import("./random.mjs").Random} Random */

/** What goes wrong when text is not taken as UTF-16 units: pairs, lone halves, controls, separators, escapes. */
const FRAGMENTS = [
  "word",
  "a",
  " ",
  "\n",
  "\t",
  '"',
  "\\",
  "/",
  "\u0000",
  "\u0007\b\f\r",
  "\u001f",
  "\u007f\u0085",
  "\u2028",
  "\u2029",
  "\ufeff",
  "é",
  "e\u0301",
  "Добрый день",
  "漢字かな交じり文",
  "한국어",
  "😀",
  "👩‍👩‍👧‍👦",
  "🇩🇪",
  "𝒳",
  "\ud83d",
  "\ude00",
  "\udfff\ud800",
  "\ud83dX",
  "X\ude00",
  "\uffff",
  "=, ; (",
  "[Tool result]: ",
  "</conversation>",
  "$1 `y`",
];

/** Every role label and cap in pi's text form sits near this length. */
const CAP = 2000;

/** @param {Random} rng @param {number} most fragments */
export function text(rng, most = 6) {
  return rng.list(0, most, () => rng.pick(FRAGMENTS)).join("");
}

/** A text whose pairs and lone halves stand around the cap of tool results. @param {Random} rng */
export function capText(rng) {
  const total = CAP + rng.between(-3, 4) + (rng.chance(0.2) ? 500 : 0);
  const at = CAP + rng.between(-4, 3);
  const inset = rng.pick(["😀", "😀😀", "\ud83d", "\ude00", "\ude00\ud83d", "\ud83d\ud83d\ude00", "é", "x"]);
  const head = rng.pick(["a", "é", "漢"]).repeat(Math.max(0, at));
  return (head + inset).padEnd(total, rng.pick(["b", "ж"])).slice(0, total);
}

/** The same text cut at random units, inside pairs too. @param {Random} rng @param {string} whole */
export function pieces(rng, whole) {
  const cuts = rng
    .list(0, 3, () => (rng.chance(0.5) ? CAP + rng.between(-3, 3) : rng.between(0, whole.length)))
    .map((cut) => Math.min(cut, whole.length))
    .sort((a, b) => a - b);
  return [0, ...cuts].map((from, index) => whole.slice(from, cuts[index] ?? whole.length));
}

/** Whether a text holds half a surrogate pair. @param {string} value */
export function hasLoneSurrogate(value) {
  return /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(value);
}
