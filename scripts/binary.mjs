// What is asked of each built binary: small, stripped, and content with an old C library.
//
//   node scripts/binary.mjs [--glibc HIGHEST]
//
// Without `--glibc` it only says which one the binary asks for: that of a build depends on the system that built it.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { root } from "./run.mjs";

/** The tables of the exact tokens are a package of their own. */
const MOST_BYTES = 8_000_000;

/** The highest glibc that a symbol asks for, as `2.17`; undefined where it asks for none. @param {string} bytes */
function glibcOf(bytes) {
  const versions = [...bytes.matchAll(/\0GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
  return versions.length > 0 ? `2.${Math.max(...versions)}` : undefined;
}

/** @param {string} version */
const minorOf = (version) => Number(version.split(".")[1]);

/** @param {string} name @param {string | undefined} floor @returns {string[]} */
function faultsOf(name, floor) {
  const bytes = readFileSync(join(root, name), "latin1");
  const glibc = glibcOf(bytes);
  console.log(`${name}: ${(bytes.length / 1e6).toFixed(1)} MB, ${glibc ? `glibc ${glibc}` : "no glibc"}`);
  const faults = [];
  if (bytes.length > MOST_BYTES) faults.push(`${name} is larger than ${MOST_BYTES / 1e6} MB`);
  if (name.includes(".linux-") && bytes.includes("\0.symtab\0")) faults.push(`${name} is not stripped`);
  if (floor && name.endsWith("-gnu.node") && !glibc) faults.push(`${name} names no glibc at all`);
  if (floor && glibc && minorOf(glibc) > minorOf(floor)) faults.push(`${name} asks for glibc ${glibc}`);
  return faults;
}

const { values } = parseArgs({ options: { glibc: { type: "string" } } });
const names = readdirSync(root).filter((name) => name.endsWith(".node"));
const faults = names.flatMap((name) => faultsOf(name, values.glibc));
if (names.length === 0) faults.push("there is no binary: npm run build");
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
