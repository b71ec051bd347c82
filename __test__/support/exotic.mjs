import { text } from "./texts.mjs";

/** @typedef {import("./random.mjs").Random} Random */

class Point {
  x = 1;
  label = "p\n";
  get hidden() {
    return 2;
  }
}

class Money {
  amount = 5;
  toJSON() {
    return `€${this.amount}`;
  }
}

/** Values that JSON prints in its own way, or not at all. @type {((rng: Random) => unknown)[]} */
const EXOTIC = [
  () => Number.NaN,
  () => Number.POSITIVE_INFINITY,
  () => Number.NEGATIVE_INFINITY,
  () => -0,
  () => 1e21,
  () => 2 ** 53,
  () => 5e-324,
  () => 0.1 + 0.2,
  () => undefined,
  () => function named() {},
  () => Symbol("s"),
  () => 10n,
  () => new Date(0),
  () => new Date(Number.NaN),
  () => /x/g,
  () => new Map([[1, 2]]),
  () => new Point(),
  () => new Money(),
  () => new String('boxed "text"'),
  () => new Number(-0),
  () => new Boolean(false),
  () => Object.assign(Object.create(null), { a: 1, b: "\u2028" }),
  () => Object.assign(() => {}, { toJSON: () => "called" }),
  () => Object.assign(Object.create({ inherited: "from the prototype", a: 2 }), { a: 1 }),
  () => Object.defineProperty(Object.create({ a: 1 }), "a", { value: "hidden", enumerable: false }),
  () => Object.assign(Object.create([1, 2]), { [Symbol("key")]: 1, own: true }),
  () => ({ toJSON: () => undefined }),
  () => ({ toJSON: () => 1n }),
  () => ({ toJSON: (/** @type {string} */ key) => `at <${key}>` }),
  () => ({
    toJSON() {
      throw new Error("toJSON of the host");
    },
  }),
  () => ({ toJSON: "no function", a: undefined }),
  () => [undefined, () => {}, Symbol("in a list"), null],
  () => Object.assign(new Array(4), { 1: "between holes" }),
  () => ({ deep: { deeper: [{ end: undefined }, Number.NaN, "\ud83d"] } }),
  () => ({ big: { nested: 1n } }),
  cycle,
  (rng) => ({ 10: text(rng), 2: text(rng), b: 1, a: 2 }),
  (rng) => JSON.parse('{"__proto__":{"x":1},"constructor":null}', (_, value) => value ?? text(rng)),
];

function cycle() {
  /** @type {Record<string, unknown>} */
  const value = { name: "cycle" };
  value.self = value;
  return value;
}

/** @param {Random} rng @returns {unknown} */
function value(rng) {
  if (rng.chance(0.4)) return text(rng);
  if (rng.chance(0.3)) return rng.pick([0, 1, -1, 1.5, 42, true, false, null]);
  if (rng.chance(0.3)) return rng.list(0, 3, () => value(rng));
  if (rng.chance(0.3)) return members(rng);
  return rng.pick(EXOTIC)(rng);
}

/** @param {Random} rng */
function key(rng) {
  if (rng.chance(0.1)) return rng.pick(["", "0", "7", "10", "__proto__", "toJSON", "length", '"', "\ud83d"]);
  return rng.pick(["path", "command", "content", "oldText", "limit", "ключ", text(rng, 2)]);
}

/** @param {Random} rng */
function members(rng) {
  /** @type {Record<string, unknown>} */
  const object = {};
  for (let count = rng.between(0, 3); count > 0; count--) {
    const name = key(rng);
    // As `JSON.parse` makes them: `__proto__` is a member like any other.
    Object.defineProperty(object, name, { value: value(rng), enumerable: true, configurable: true });
  }
  return object;
}

/** Arguments of a tool call: most are objects, and providers also sent everything else. @param {Random} rng */
export function callArguments(rng) {
  if (rng.chance(0.75)) return members(rng);
  if (rng.chance(0.4)) return rng.pick([null, undefined, "", "null", "text\n😀", 7, 0, true, false, 3n]);
  if (rng.chance(0.3)) return rng.list(0, 3, () => value(rng));
  if (rng.chance(0.2)) return { ...members(rng), toJSON: () => rng.pick(["whole", "whole"]) };
  return rng.pick(EXOTIC)(rng);
}
