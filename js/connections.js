"use strict";

// One native client per environment, gone with it: this module's own variable holds it. Proxies and certificates are
// read here and not natively, so that a worker's own `process.env` counts.

const { binding } = require("./crossing.js");

/** @type {{ key: string, held: object } | undefined} */
let current;

/** What the environment says of the network: variables in lower case come first, as for curl. */
function network() {
  // By plain names, and no more of them than count: each reading asks the system.
  const { env } = process;
  const httpsProxy = env.https_proxy || env.HTTPS_PROXY || "";
  const httpProxy = env.http_proxy || env.HTTP_PROXY || "";
  // Where there is no proxy, none is gone around.
  const noProxy = httpsProxy || httpProxy ? env.no_proxy || env.NO_PROXY || "" : "";
  return { httpsProxy, httpProxy, noProxy, extraCertificates: env.NODE_EXTRA_CA_CERTS ?? "" };
}

/** Connections for what `process.env` says now; the same as before while it says the same. */
function connections() {
  const said = network();
  const key = JSON.stringify(said);
  if (current?.key !== key) current = { key, held: binding.connect(said) };
  return current.held;
}

module.exports = { connections };
