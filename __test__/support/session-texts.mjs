// JSON as other programs write it, and as disks break it: the same values in odd spellings, then mutations.

/** @typedef {import("./random.mjs").Random} Random */

const BLANKS = ["", "", "", "", " ", "\t", "\r", "  \t"];
const SHORT = /** @type {Record<string, string>} */ ({
  '"': '\\"',
  "\\": "\\\\",
  "/": "\\/",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
});
/** Numbers of every spelling; what JSON.parse makes of them is what counts. */
export const NUMBERS = [
  "1.50",
  "1e3",
  "1E+3",
  "-0",
  "-0.0",
  "0e5",
  "1e400",
  "-1e400",
  "1e-400",
  "12345678901234567890",
  "0.1000000000000000055511151231257827",
  "1e21",
  "123456789012345680000",
  "1e-7",
  "0.000001",
  "5e-324",
  "9007199254740993",
  "1.7976931348623157e308",
  "100e-2",
];
const KEYS = [
  "7",
  "10",
  "2",
  "-1",
  "01",
  "4294967295",
  "__proto__",
  "constructor",
  "toJSON",
  "a",
  "",
  "é",
  "\ud83d",
];

/** @param {string} unit @param {Random} rng */
function escaped(unit, rng) {
  const hex = unit.charCodeAt(0).toString(16).padStart(4, "0");
  return `\\u${rng.chance(0.5) ? hex.toUpperCase() : hex}`;
}

/** @param {Random} rng @param {string} value */
function spelledString(rng, value) {
  const share = rng.pick([0, 0, 0.05, 0.5, 1]);
  let text = "";
  for (let at = 0; at < value.length; at++) {
    const unit = value.charAt(at);
    const must = unit < " " || unit === '"' || unit === "\\";
    if (!must && share < 1 && !rng.chance(share)) text += unit;
    else text += unit in SHORT && rng.chance(0.7) ? SHORT[unit] : escaped(unit, rng);
  }
  // Half a pair has no UTF-8; it stands in a file as an escape alone.
  return `"${text.replace(/\p{Surrogate}/gu, (unit) => escaped(unit, rng))}"`;
}

/** @param {Random} rng @param {object} value */
function spelledMembers(rng, value) {
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  if (rng.chance(0.3)) members.sort(() => rng.next() - 0.5);
  const blank = () => rng.pick(BLANKS);
  const said = members.map(([key, member]) => [spelledString(rng, key), spelled(rng, member)]);
  if (rng.chance(0.06))
    said.push([spelledString(rng, rng.pick(KEYS)), spelled(rng, rng.pick([1, "x", null, [2]]))]);
  if (rng.chance(0.05) && said.length > 0) {
    const twice = [rng.pick(said)[0] ?? "", spelled(rng, rng.pick(["earlier", 3, null, [], {}]))];
    if (rng.chance(0.85)) said.unshift(twice);
    else said.push(twice);
  }
  return said.map(([key, member]) => `${blank()}${key}${blank()}:${blank()}${member}${blank()}`).join(",");
}

/**
 * JSON text of a value in a spelling of its own; now and then with members twice or more than were there.
 *
 * @param {Random} rng @param {any} value @returns {string}
 */
export function spelled(rng, value) {
  if (typeof value === "string") return spelledString(rng, value);
  if (typeof value === "number") return rng.chance(0.3) ? rng.pick(NUMBERS) : JSON.stringify(value);
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const blank = rng.pick(BLANKS);
  if (Array.isArray(value)) return `[${blank}${value.map((item) => spelled(rng, item)).join(`${blank},`)}]`;
  return `{${blank}${spelledMembers(rng, value)}}`;
}

const SPLINTERS = [
  '"',
  "\\",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "\\u",
  "\\ud83d",
  "\\uDE00",
  "\\x",
  "\\/",
  "0",
  "-",
  ".5",
  "e9",
  "null",
  "true",
  "tru",
  "NaN",
  "\u0000",
  "\u001f",
  "\t",
  "\r",
  "\u007f",
  "\u00a0",
  "\u0085",
  "\u2028",
  "\ufeff",
  "😀",
  '"content":null,',
  '"role":"user",',
  '"type":"text",',
  "//",
  "'",
].map((text) => Buffer.from(text));
const NO_UTF8 = [
  "ff",
  "c080",
  "eda080",
  "f09f98",
  "e282",
  "f5808080",
  "80",
  "edb080eda080",
  "f0808080",
  "c3",
].map((bytes) => Buffer.from(bytes, "hex"));

/** One break somewhere in a line. @param {Random} rng @param {Buffer} line @param {Buffer} other */
function broken(rng, line, other) {
  const at = rng.between(0, line.length);
  const to = Math.min(line.length, at + rng.pick([1, 1, 1, 2, 5, 40]));
  const around = (/** @type {Uint8Array} */ middle) =>
    Buffer.concat([line.subarray(0, at), middle, line.subarray(rng.chance(0.5) ? at : to)]);
  const kind = rng.between(0, 8);
  if (kind < 3) return around(rng.pick(SPLINTERS));
  if (kind === 3) return around(rng.pick(NO_UTF8));
  if (kind === 4) return Buffer.concat([line.subarray(0, at), line.subarray(to)]);
  if (kind === 5) return Buffer.concat([line.subarray(0, to), line.subarray(at)]);
  if (kind === 6) return line.subarray(0, at);
  if (kind === 7) return Buffer.concat([line, rng.chance(0.7) ? other : Buffer.from(" ")]);
  return Buffer.concat([line.subarray(0, at), other.subarray(rng.between(0, other.length))]);
}

/** A line with up to three breaks, on one line still. @param {Random} rng @param {Buffer} line @param {Buffer} other */
export function mutated(rng, line, other) {
  let found = line;
  for (let breaks = rng.between(1, 3); breaks > 0; breaks--) found = broken(rng, found, other);
  return found;
}
