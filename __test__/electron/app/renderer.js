"use strict";

// A preload script: with Node in an unsandboxed window, without it in a sandboxed one.

const { ipcRenderer } = require("electron");

ipcRenderer.on("probe", async (_event, probe) => {
  ipcRenderer.send("report", await reported(probe));
});

/** @param {any} probe */
function reported(probe) {
  try {
    return require("./probe.js").reportOf(probe);
  } catch (/** @type {any} */ error) {
    return { error: error.message };
  }
}
