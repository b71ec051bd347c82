"use strict";

// One native client per environment, gone with it: this module's own variable holds it. Proxies and certificates are
// read here and not natively, so that a worker's own `process.env` counts.

const { binding } = require("./crossing.js");

/** @type {{ key: string, held: object } | undefined} */
let current;

/** A variable in lower case comes first, as for curl. @param {string} name */
function variable(name) {
  return process.env[name.toLowerCase()] || process.env[name] || "";
}

/** Connections for what `process.env` says now; the same as before while it says the same. */
function connections() {
  const network = {
    httpsProxy: variable("HTTPS_PROXY"),
    httpProxy: variable("HTTP_PROXY"),
    noProxy: variable("NO_PROXY"),
    extraCertificates: process.env.NODE_EXTRA_CA_CERTS ?? "",
  };
  const key = JSON.stringify(network);
  if (current?.key !== key) current = { key, held: binding.connect(network) };
  return current.held;
}

module.exports = { connections };
