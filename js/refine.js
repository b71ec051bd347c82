"use strict";

// Settings and budgets of the refine strategy.

const { ABSENT, modelLimits, optionalCount, required, settingsOf } = require("./arguments.js");
const { binding } = require("./crossing.js");
const { invalidArgument } = require("./errors.js");
const { isRecord } = require("./values.js");

const TOKENS = "a non-negative safe integer";
const RATIO = "a finite number above 0";
const isTokens = (/** @type {unknown} */ value) => Number.isSafeInteger(value) && Number(value) >= 0;

const isRatio = (/** @type {unknown} */ value) => Number.isFinite(value) && Number(value) > 0;

/** What each setting has to be. */
const SETTINGS = new Map([
  ["maxPromptTokens", { expected: TOKENS, holds: isTokens }],
  ["maxOutputTokens", { expected: TOKENS, holds: isTokens }],
  ["summaryCeilingTokens", { expected: TOKENS, holds: isTokens }],
  ["charsPerToken", { expected: RATIO, holds: isRatio }],
]);

function parseRefineSettings(value) {
  /** @type {Record<string, any>} */
  const settings = {};
  /** @type {{ field: string, expected: string }[]} */
  const problems = [];
  for (const [field, read] of fieldsOf(value, problems)) {
    const setting = SETTINGS.get(field);
    const given = setting && told(read);
    if (!setting) problems.push({ field, expected: `one of ${[...SETTINGS.keys()].join(", ")}` });
    // Without the sign of a zero.
    else if (setting.holds(given)) settings[field] = given + 0;
    else if (given !== undefined) problems.push({ field, expected: setting.expected });
  }
  return { settings, problems };
}

const UNREADABLE = Symbol("unreadable");

/** What a getter answers, or that it throws. @param {() => unknown} read */
function told(read) {
  try {
    return read();
  } catch {
    return UNREADABLE;
  }
}

/**
 * Names of a value's fields with a way to read each.
 *
 * @param {any} value @param {{ field: string, expected: string }[]} problems
 * @returns {[string, () => unknown][]}
 */
function fieldsOf(value, problems) {
  const isPlain = value !== null && value !== undefined && told(() => isRecord(value)) === true;
  const names = isPlain ? told(() => Object.keys(value)) : UNREADABLE;
  if (Array.isArray(names)) return names.map((name) => [name, () => value[name]]);
  problems.push({ field: "", expected: "an object" });
  return [];
}

/** Settings that a caller states: none may be wrong. @param {any} value @param {string} name */
function checkedSettings(value, name) {
  if (value === undefined || value === null) return {};
  const { settings, problems } = parseRefineSettings(value);
  if (problems.length > 0) {
    const [{ field, expected }] = problems;
    throw invalidArgument(field ? `${name}.${field}` : name, expected);
  }
  return settings;
}

/** The settings' ratio, else the caller's. @param {any} settings @param {any} charsPerToken @param {string} name */
function ratioOf(settings, charsPerToken, name) {
  const ratio = settings.charsPerToken ?? charsPerToken ?? ABSENT;
  if (ratio !== ABSENT && !isRatio(ratio)) throw invalidArgument(name, RATIO);
  return ratio;
}

/** Numbers of a run, as the native side takes them. */
function runNumbers(/** @type {number} */ main, /** @type {any} */ reserve, /** @type {any} */ settings) {
  const { maxPromptTokens, maxOutputTokens, summaryCeilingTokens } = settings;
  const numbers = [reserve, maxPromptTokens, maxOutputTokens, summaryCeilingTokens];
  return [main, ...numbers.map((number) => number ?? ABSENT)];
}

function refineBudgets(input) {
  const { mainModel, summaryModel, reserveTokens, previousSummaryTokens, charsPerToken } = required(
    input,
    "input",
  );
  const settings = checkedSettings(input.settings, "input.settings");
  const limits = [
    ABSENT,
    ABSENT,
    ...modelLimits(required(summaryModel, "input.summaryModel"), "input.summaryModel"),
  ];
  const [main] = modelLimits(mainModel, "input.mainModel");
  optionalCount(reserveTokens, "input.reserveTokens");
  const previous = optionalCount(previousSummaryTokens, "input.previousSummaryTokens");
  const ratio = ratioOf(settings, charsPerToken, "input.charsPerToken");
  return binding.refineBudgets(limits, runNumbers(main, reserveTokens, settings), previous, ratio, input);
}

/** What the native side is told of a refine run. @param {any} request */
function refineInput({ preparation, mainModel, refine, charsPerToken, now }) {
  const settings = checkedSettings(refine, "request.refine");
  const [main] = modelLimits(mainModel, "request.mainModel");
  const { reserveTokens } = settingsOf(preparation, "request.preparation");
  return {
    numbers: runNumbers(main > 0 ? main : ABSENT, reserveTokens, settings),
    charsPerToken: ratioOf(settings, charsPerToken, "request.charsPerToken"),
    ...(now === undefined || now === null ? {} : { writtenAt: timeOf(now) }),
  };
}

const FIRST = Date.parse("0000-01-01T00:00:00Z");
const LAST = Date.UTC(9999, 11, 31, 23, 59);

/** `YYYY-MM-DD HH:MM UTC` (requirement D86). @param {any} now */
function timeOf(now) {
  const time = new Date(typeof now === "number" ? now : Number.NaN);
  // Beyond these, a year has no four digits.
  if (!(time.getTime() >= FIRST && time.getTime() <= LAST))
    throw invalidArgument("request.now", "milliseconds since the epoch");
  return `${time
    .toISOString()
    .replace("T", " ")
    .replace(/:\d\d\.\d+Z$/, "")} UTC`;
}

module.exports = { parseRefineSettings, refineBudgets, refineInput };
