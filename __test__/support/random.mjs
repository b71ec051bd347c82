/**
 * A seeded generator: the same seed gives the same sequence on every machine, so a failing case can be named
 * by its seed.
 *
 * @typedef {ReturnType<typeof random>} Random
 * @param {number} seed
 */
export function random(seed) {
  let state = (seed + 0x9e3779b9) | 0;
  /** A number in [0, 1); mulberry32. */
  function next() {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }
  /** An integer from `low` up to and including `high`. @param {number} low @param {number} high */
  function between(low, high) {
    return low + Math.floor(next() * (high - low + 1));
  }
  return {
    next,
    between,
    /** @param {number} probability */
    chance: (probability) => next() < probability,
    /** @template T @param {readonly T[]} list @returns {T} */
    pick: (list) => list[Math.floor(next() * list.length)],
    /** @template T @param {number} low @param {number} high @param {(index: number) => T} make */
    list: (low, high, make) => Array.from({ length: between(low, high) }, (_, index) => make(index)),
  };
}

/**
 * Freezes a value and all that it holds, so that a function that mutates its input throws.
 *
 * @template T @param {T} value @returns {T}
 */
export function frozen(value) {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) return value;
  if (Object.isFrozen(value) || ArrayBuffer.isView(value)) return value;
  Object.freeze(value);
  for (const key of Reflect.ownKeys(value)) {
    const member = Object.getOwnPropertyDescriptor(value, key);
    if (member !== undefined && "value" in member) frozen(member.value);
  }
  return value;
}
