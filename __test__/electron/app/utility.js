"use strict";

const { reportOf } = require("./probe.js");

const { parentPort } = /** @type {any} */ (process);
parentPort.once("message", async (/** @type {any} */ { data }) => {
  parentPort.postMessage(await reportOf(data));
});
