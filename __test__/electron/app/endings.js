"use strict";

// Ends while runs are under way that would not end by themselves.

const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { Worker } = require("node:worker_threads");
const { app } = /** @type {any} */ (require("electron"));
const { underWay } = require("./under-way.js");

const WORKERS = 10;

/** @typedef {(report: object) => void} Tell */

/** @param {any} probe */
async function begun({ entries, input }) {
  await underWay(require(entries[0]), JSON.parse(readFileSync(input, "utf8")));
}

/** A worker whose runs are under way. @param {any} probe @returns {Promise<Worker>} */
function begunWorker(probe) {
  const worker = new Worker(join(__dirname, "under-way-worker.js"), { workerData: probe });
  return new Promise((resolve, reject) => {
    worker.once("message", () => resolve(worker));
    worker.once("error", reject);
  });
}

/** What the app does last. @type {Record<string, () => void>} */
const LAST = { quit: () => app.quit(), exit: () => app.exit(0), process: () => process.exit(0) };

/** @param {string} last */
const inMain = (last) => async (/** @type {any} */ probe, /** @type {Tell} */ tell) => {
  await begun(probe);
  tell({ reached: "under way" });
  LAST[last]();
};

/** The runs of a worker, and those of the main process. @param {any} probe @param {Tell} tell */
async function worker(probe, tell) {
  await Promise.all([begun(probe), begunWorker(probe)]);
  tell({ reached: "under way" });
  app.quit();
}

/** Workers that are terminated, then a worker that does its work. @param {any} probe @param {Tell} tell */
async function terminated(probe, tell) {
  for (let i = 0; i < WORKERS; i++) await (await begunWorker(probe)).terminate();
  tell({ reached: "terminated" });
  app.quit();
}

module.exports = {
  quit: inMain("quit"),
  exit: inMain("exit"),
  process: inMain("process"),
  terminated,
  worker,
};
