"use strict";

// The probe where Electron is a Node: started as one, or forked by the app.

const { writeFileSync } = require("node:fs");
const { reportOf } = require("./probe.js");

const probe = JSON.parse(String(process.env.PROBE));
reportOf(probe).then((report) => writeFileSync(probe.report, JSON.stringify(report)));
