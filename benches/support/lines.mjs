// One line of what was measured, and how it is printed.

/**
 * @typedef {object} Line
 * @property {string} row
 * @property {string} [session] none where it does not matter
 * @property {"ms" | "MB"} unit of `pi`, `pure`, `ours` and `most`
 * @property {number} [pi] none where pi has nothing of the kind
 * @property {number} [pure] of the best that JavaScript alone does, where we wrote that
 * @property {number} ours
 * @property {number} [ratio] pi's by ours: the median of the rounds' ratios
 * @property {number} [pureRatio] pi's by that of JavaScript alone
 * @property {number} [most] the slowest of the calls, where that is what counts
 * @property {Record<string, [least: number, most: number]>} spread of each of these over the processes
 * @property {number} [atLeast] what `ratio` has to reach
 * @property {number} [atMost] what `most`, or else `ours`, has to stay within
 */

/** Whether a line misses its threshold. @param {Line} line */
export function isMissed({ ratio, most, ours, atLeast, atMost }) {
  if (atLeast !== undefined) return !(ratio !== undefined && ratio >= atLeast);
  return atMost !== undefined && !((most ?? ours) <= atMost);
}

/** Of these the slowest stage stands for all where there is little room. */
const STAGED = ["abort to rejection", "abort to closed socket"];

/** @param {Line[]} lines */
export function withoutStages(lines) {
  const most = (/** @type {Line} */ line) => line.most ?? line.ours;
  const slowest = STAGED.flatMap((name) => {
    const stages = lines.filter(({ row }) => row.startsWith(`${name}, `));
    if (stages.length === 0) return [];
    return [{ ...stages.reduce((a, b) => (most(b) > most(a) ? b : a)), row: `${name}, slowest stage` }];
  });
  return [...lines.filter(({ row }) => !STAGED.some((name) => row.startsWith(`${name}, `))), ...slowest];
}

/** What was measured and what was asked. @param {Line} line */
export function described(line) {
  const { row, session, unit, ratio, most, ours, atMost } = line;
  const name = session === undefined ? row : `${row}, ${session}`;
  const figure = atMost === undefined ? times(ratio) : `${rounded(most ?? ours)} ${unit}`;
  return `${name}: ${figure}, ${asked(line)}`;
}

/** @param {Line} line */
export function asked({ atLeast, atMost, unit }) {
  if (atLeast !== undefined) return `to reach ${times(atLeast)}`;
  return atMost === undefined ? "" : `to stay within ${rounded(atMost)} ${unit}`;
}

/** @param {number | undefined} ratio */
export function times(ratio) {
  return ratio === undefined ? "" : `${rounded(ratio)}×`;
}

/** Two digits, or all before the point. @param {number} value */
export function rounded(value) {
  const digits = value >= 100 ? value.toFixed(0) : value.toPrecision(2);
  return Number(digits).toLocaleString("en-US", { maximumFractionDigits: 6 });
}

export const HEADINGS = columns(["", "session", "pi", "JavaScript", "ours", "", "faster", ""]);

/** @param {Line} line */
export function printed(line) {
  const { row, session = "", pi, pure, ours, most, unit, ratio } = line;
  const slowest = most === undefined ? "" : `at most ${rounded(most)}`;
  const goal = isMissed(line) ? `${asked(line)}: missed` : asked(line);
  const figures = [pi, pure, ours].map((value) => (value === undefined ? "" : rounded(value)));
  return columns([row, session, ...figures, unit, times(ratio) || slowest, goal]);
}

/** @param {string[]} cells */
function columns([first, session, pi, pure, ours, unit, faster, goal]) {
  const numbers = [pi, pure, ours].map((cell) => cell.padStart(10));
  return [first.padEnd(45), session.padEnd(8), ...numbers, unit.padEnd(2), faster.padStart(13), goal]
    .join(" ")
    .trimEnd();
}
