"use strict";

// Where the package is asked: in each kind of process that an app has.

const { fork } = require("node:child_process");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { Worker } = require("node:worker_threads");
const electron = /** @type {any} */ (require("electron"));
const { reportOf } = require("./probe.js");

/** @param {string} name of a file of this folder */
const here = (name) => join(__dirname, name);

/** @param {any} emitter @param {string} event @returns {Promise<any>} */
function first(emitter, event) {
  return new Promise((resolve, reject) => {
    emitter.once(event, resolve);
    emitter.once("error", reject);
    emitter.once("exit", (/** @type {number} */ code) => reject(new Error(`it ended with ${code}`)));
  });
}

/** @param {any} probe */
function worker(probe) {
  return first(new Worker(here("worker.js"), { workerData: probe }), "message");
}

/** @param {any} probe */
async function utility(probe) {
  const child = electron.utilityProcess.fork(here("utility.js"));
  child.postMessage(probe);
  return first(child, "message");
}

/** @param {any} probe */
async function child(probe) {
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: "1", PROBE: JSON.stringify(probe) };
  await new Promise((resolve) => fork(here("alone.js"), { env }).once("exit", resolve));
  return undefined;
}

/** @param {any} probe @param {object} webPreferences */
async function inWindow(probe, webPreferences) {
  const preferences = { ...webPreferences, preload: here("renderer.js") };
  const window = new electron.BrowserWindow({ show: false, webPreferences: preferences });
  const report = new Promise((resolve) => electron.ipcMain.once("report", (_event, given) => resolve(given)));
  await window.loadFile(here("page.html"));
  window.webContents.send("probe", probe);
  return report;
}

const renderer = (/** @type {any} */ probe) => inWindow(probe, { sandbox: false });
const sandboxed = (/** @type {any} */ probe) => inWindow(probe, { sandbox: true });

/**
 * A sandboxed window that asks the main process, by the page's files.
 *
 * @param {any} probe `stopped`: the window gives up what it has asked for
 */
async function served({ input, stopped }) {
  const { messages, http } = JSON.parse(readFileSync(input, "utf8"));
  require("./compaction-service.js").serveCompaction(http.model, http.apiKey);
  const webPreferences = { sandbox: true, preload: here("preload.js") };
  const window = new electron.BrowserWindow({ show: false, webPreferences });
  await window.loadFile(here("page.html"));
  const asked = `compaction.compact(${JSON.stringify(messages)})`;
  if (!stopped) return window.webContents.executeJavaScript(asked);
  const given = `const outcome = ${asked}; compaction.stop(); outcome.catch(({ message }) => ({ message }))`;
  return window.webContents.executeJavaScript(given);
}

/** The agent runtime beside the archive. @param {any} probe */
function agent({ input }) {
  // Written from the page that tells how it is started.
  const runtime = require("./start-agent.js").startAgent();
  runtime.send(JSON.parse(readFileSync(input, "utf8")));
  return first(runtime, "message");
}

/** The main process and a worker at the same time. @param {any} probe */
async function together(probe) {
  const reports = await Promise.all([reportOf(probe), worker(probe), reportOf(probe)]);
  const failed = reports.find(({ error }) => error);
  return failed ?? { answers: reports.flatMap(({ answers }) => answers) };
}

module.exports = { agent, child, main: reportOf, renderer, sandboxed, served, together, utility, worker };
