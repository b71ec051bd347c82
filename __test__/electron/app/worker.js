"use strict";

const { parentPort, workerData } = require("node:worker_threads");
const { reportOf } = require("./probe.js");

reportOf(workerData).then((report) => parentPort?.postMessage(report));
