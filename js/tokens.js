"use strict";

// Exact tokens: the arguments are read here, the tables on the native side.

const { dirname, join } = require("node:path");
const { budgetLimits, choice, modelLimits, required, summaryInput } = require("./arguments.js");
const { binding } = require("./crossing.js");
const { fromFailure, invalidArgument } = require("./errors.js");

const ENCODINGS = binding.encodingNames();

/** In this repository. A bundle of ES modules has no `__dirname`, and no such folder. */
const BESIDE =
  typeof __dirname === "string" ? join(__dirname, "..", "tokens") : "pi-compaction-native-tokens";

/** @type {string | undefined} */
let folder;

/** The folder with the tables: the package's, else the one beside the code. */
function tables() {
  folder ??= unpacked(installed() ?? BESIDE);
  return folder;
}

/** Native code sees no file inside an archive of Electron, only what is unpacked beside it. @param {string} path */
function unpacked(path) {
  return path.replace(/\.asar(?=[\\/])/, ".asar.unpacked");
}

function installed() {
  try {
    return dirname(require.resolve("pi-compaction-native-tokens/package.json"));
  } catch {
    return undefined;
  }
}

/** What the native side calls back with. @param {(done: (answer: any) => void) => void} begin @returns {Promise<any>} */
function answered(begin) {
  return new Promise((resolve, reject) => {
    begin(({ failure, ...answer }) => {
      if (failure) reject(fromFailure(failure, undefined));
      else resolve(answer);
    });
  });
}

/** @param {string} text @param {string} encoding @returns {Promise<number>} */
async function countTokens(text, encoding) {
  if (typeof text !== "string") throw invalidArgument("text", "a string");
  choice(encoding, "encoding", ENCODINGS);
  const { tokens } = await answered((done) => binding.countTokens(text, encoding, tables(), done));
  return tokens;
}

/** @returns {Promise<boolean>} */
async function summaryFits(preparation, budget, summaryModel, options) {
  const encoding = choice(required(options, "options").encoding, "options.encoding", ENCODINGS);
  const limits = [...budgetLimits(budget, "budget"), ...modelLimits(summaryModel, "summaryModel")];
  const { history, prefix, previousSummary } = summaryInput(preparation, "preparation");
  const passages = [history.passage(), prefix.passage()];
  const numbers = Float64Array.from(limits);
  const { fits } = await answered((done) =>
    binding.summaryFits(passages, previousSummary, numbers, encoding, tables(), options, done),
  );
  return fits;
}

module.exports = { countTokens, summaryFits };
