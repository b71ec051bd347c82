"use strict";

// The app: puts one question inside one kind of process, or ends while a run is under way.

const { writeFileSync } = require("node:fs");
const { app } = /** @type {any} */ (require("electron"));
const endings = require("./endings.js");
const processes = require("./processes.js");

const probe = JSON.parse(String(process.env.PROBE));
const tell = (/** @type {any} */ report) => writeFileSync(probe.report, JSON.stringify(report));

/** @returns {Promise<unknown>} */
async function main() {
  await app.whenReady();
  if (probe.ending) return endings[probe.ending](probe, tell);
  const report = await processes[probe.inside](probe);
  if (report) tell(report);
  app.exit(0);
}

main().catch((/** @type {Error} */ error) => {
  tell({ error: error.stack });
  app.exit(1);
});
