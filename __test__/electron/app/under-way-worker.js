"use strict";

const { readFileSync } = require("node:fs");
const { parentPort, workerData } = require("node:worker_threads");
const { underWay } = require("./under-way.js");

const { entries, input } = workerData;
underWay(require(entries[0]), JSON.parse(readFileSync(input, "utf8"))).then(() =>
  parentPort?.postMessage("under way"),
);
