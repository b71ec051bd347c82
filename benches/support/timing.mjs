// Both sides in one process, round by round.

/** Milliseconds that each side takes in a round, where a call of pi's does not take longer. */
const ROUND = 3;
const WARM_ROUNDS = 150;
const COLD_ROUNDS = 40;
/** Rounds that warm up the compilers and are not counted. */
const DISCARDED = 40;

/** Milliseconds of a call of pi's that is measured in few rounds, one call each; of ours some more, up to these. */
const LONG = 500;
const LONG_ROUNDS = 3;
const OURS_IN_LONG = 20;
/** The same for one that takes long, but not that long. */
const SLOW = 50;
const SLOW_ROUNDS = 15;
const CALLS_UNTIL_KNOWN = 4;

/** One word in each line of 64 bytes. */
const LINE_WORDS = 16;
const SWEPT_BYTES = 96 * 1024 * 1024;

/** @typedef {() => unknown} Call */
/** @typedef {{ ours: number, pi: number, ratio: number }} Figures milliseconds a call; pi's by ours */

/** @param {number[]} numbers */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * The medians of many figures, by name. All have the same names.
 *
 * @template {Record<string, number>} T @param {T[]} figures @returns {T}
 */
export function medians(figures) {
  return overAll(figures, median);
}

/**
 * The least and the most of many figures, by name.
 *
 * @template {Record<string, number>} T @param {T[]} figures @returns {{ [name in keyof T]: [least: number, most: number] }}
 */
export function spread(figures) {
  return overAll(figures, (numbers) => [Math.min(...numbers), Math.max(...numbers)]);
}

/** @param {Record<string, number>[]} figures @param {(numbers: number[]) => any} summed @returns {any} */
function overAll(figures, summed) {
  const names = Object.keys(figures[0]);
  return Object.fromEntries(names.map((name) => [name, summed(figures.map((each) => each[name]))]));
}

/** Milliseconds a call. @param {Call} call @param {number} times */
export async function timed(call, times) {
  const start = performance.now();
  for (let i = 0; i < times; i++) {
    const answer = call();
    if (answer instanceof Promise) await answer;
  }
  return (performance.now() - start) / times;
}

/**
 * Interleaved rounds; in each, both sides are called for about the same time, so that neither only ever runs with
 * the caches as the other left them.
 *
 * @param {Call} ours @param {Call} pi
 */
export async function warm(ours, pi) {
  const fewRounds = (await timed(pi, 1)) > LONG ? LONG_ROUNDS : await slowRounds(pi);
  if (fewRounds > 0) {
    const inRound = Math.round((await timed(pi, 1)) / (await timed(ours, CALLS_UNTIL_KNOWN)));
    const ourTimes = Math.min(OURS_IN_LONG, Math.max(1, inRound));
    return rounds(
      fewRounds,
      () => timed(ours, ourTimes),
      () => timed(pi, 1),
    );
  }
  const { ourTimes, piTimes } = await timesInRound(ours, pi);
  return rounds(
    WARM_ROUNDS,
    () => timed(ours, ourTimes),
    () => timed(pi, piTimes),
  );
}

/** A first call says little: compilers had no time yet. @param {Call} pi */
async function slowRounds(pi) {
  return (await timed(pi, CALLS_UNTIL_KNOWN)) > SLOW ? SLOW_ROUNDS : 0;
}

/** Interleaved single calls, each after a sweep. @param {Call} ours @param {Call} pi */
export async function cold(ours, pi) {
  const swept = new Uint32Array(SWEPT_BYTES / Uint32Array.BYTES_PER_ELEMENT).fill(1);
  const after = (/** @type {Call} */ call) => () => {
    if (sweep(swept) === 0) throw new Error("the sweep reads ones");
    return timed(call, 1);
  };
  await warmedUp(ours);
  await warmedUp(pi);
  return rounds(COLD_ROUNDS, after(ours), after(pi));
}

/**
 * Interleaved rounds as for warm calls; of ours the milliseconds that it reports.
 *
 * @param {"main" | "wall"} part
 */
export function reported(part) {
  return async (/** @type {() => any} */ ours, /** @type {Call} */ pi) => {
    const { ourTimes, piTimes } = await timesInRound(ours, pi);
    const own = async () => {
      let sum = 0;
      for (let i = 0; i < ourTimes; i++) sum += (await ours())[part];
      return sum / ourTimes;
    };
    return rounds(WARM_ROUNDS, own, () => timed(pi, piTimes));
  };
}

/** Evicts other data from the caches; reads only. @param {Uint32Array} words */
function sweep(words) {
  let sum = 0;
  for (let i = 0; i < words.length; i += LINE_WORDS) sum += words[i];
  return sum;
}

/** Warms both sides up, and answers with how many calls of each fill a round, which holds one of pi's at least. @param {Call} ours @param {Call} pi */
async function timesInRound(ours, pi) {
  const [own, theirs] = [await warmedUp(ours), await warmedUp(pi)];
  const round = Math.max(ROUND, theirs);
  const times = (/** @type {number} */ milliseconds) => Math.max(1, Math.round(round / milliseconds));
  return { ourTimes: times(own), piTimes: times(theirs) };
}

/** Milliseconds a call, once the compilers had their time. @param {Call} call */
async function warmedUp(call) {
  const samples = [];
  for (let i = 0; i < DISCARDED; i++) samples.push(await timed(call, 4));
  return median(samples.slice(DISCARDED >> 1));
}

/**
 * @param {number} count @param {() => Promise<number>} ours @param {() => Promise<number>} pi
 * @returns {Promise<Figures>}
 */
async function rounds(count, ours, pi) {
  const figures = [];
  for (let i = 0; i < count; i++) {
    const early = i % 2 === 0 ? await ours() : undefined;
    const theirs = await pi();
    const own = early ?? (await ours());
    figures.push({ ours: own, pi: theirs, ratio: theirs / own });
  }
  return medians(figures);
}
