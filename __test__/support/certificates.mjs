// A certificate authority of the tests' own, made by openssl when they run.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Why there can be no certificates here; `false` when there can. @returns {string | false} */
export function withoutOpenssl() {
  const { status } = spawnSync("openssl", ["version"]);
  return status === 0 ? false : "openssl is not installed";
}

/** Makes an authority, a certificate of it for the loopback and some public names, and one for another host. */
export function certificates() {
  const folder = mkdtempSync(join(tmpdir(), "pi-compaction-certificates-"));
  const at = (/** @type {string} */ name) => join(folder, name);
  const openssl = (/** @type {string[]} */ ...args) => {
    const { status, stderr } = spawnSync("openssl", args, { cwd: folder });
    if (status !== 0) throw new Error(`openssl ${args[0]}: ${stderr}`);
  };
  const subject = (/** @type {string} */ name) => ["-subj", `/CN=${name}`];
  const key = (/** @type {string} */ name) => ["-newkey", "rsa:2048", "-nodes", "-keyout", at(`${name}.key`)];
  openssl("req", "-x509", ...key("ca"), "-out", at("ca.pem"), "-days", "2", ...subject("Test authority"));
  const issue = (
    /** @type {string} */ name,
    /** @type {string} */ names,
    /** @type {string[]} */ ...dates
  ) => {
    writeFileSync(at(`${name}.ext`), `subjectAltName=${names}\nextendedKeyUsage=serverAuth\n`);
    openssl("req", "-new", ...key(name), "-out", at(`${name}.csr`), ...subject(name));
    const by = [
      "-CA",
      at("ca.pem"),
      "-CAkey",
      at("ca.key"),
      "-CAcreateserial",
      "-extfile",
      at(`${name}.ext`),
    ];
    openssl("x509", "-req", "-in", at(`${name}.csr`), ...by, "-out", at(`${name}.pem`), ...dates);
    return { key: readFileSync(at(`${name}.key`)), cert: readFileSync(at(`${name}.pem`)) };
  };
  const hosts = [
    "localhost",
    "api.openai.com",
    "openrouter.ai",
    "api.example.test",
    "api.openai.com.example.test",
  ];
  const good = issue("good", ["IP:127.0.0.1", ...hosts.map((host) => `DNS:${host}`)].join(), "-days", "2");
  const elsewhere = issue("elsewhere", "DNS:elsewhere.test", "-days", "2");
  return { ca: at("ca.pem"), folder, good, elsewhere, remove: () => rmSync(folder, { recursive: true }) };
}
