"use strict";

// The binary of this platform and of this version, or an error that says what was tried and what to do.

const { name, version } = require("../package.json");

/** Platforms that have a package of their own. */
const PREBUILT = new Set([
  "linux-x64-gnu",
  "linux-arm64-gnu",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "win32-x64-msvc",
  "win32-arm64-msvc",
]);

function load() {
  /** @type {any} */
  let binding;
  try {
    binding = require("../binding.js");
  } catch (error) {
    throw notLoaded(error);
  }
  const found = binding.version?.();
  if (found !== version) throw otherVersion(found);
  return binding;
}

/** @param {string | undefined} found */
function otherVersion(found) {
  const platform = target();
  return failure(
    `the binary is of version ${found ?? "0 (it does not say)"}, the JavaScript of ${version}. ` +
      `Install both in one version: npm install ${name}@${version} (which brings ${name}-${platform}@${version}); ` +
      "in a clone: npm run build; beside a bundle: copy the binary again.",
  );
}

/** @param {unknown} cause of the generated loader, whose chain of causes holds one for each file that it tried */
function notLoaded(cause) {
  const tried = causesOf(cause);
  const lines = [`no binary could be loaded for ${here()}.`, "Tried:"];
  lines.push(...tried.map((message) => `- ${message}`), ...adviceOn(tried));
  return failure(lines.join("\n"));
}

/** What went wrong with each file, the first tried first. @param {any} cause */
function causesOf(cause) {
  const messages = [];
  for (let error = cause?.cause ?? cause; error; error = error.cause) {
    const [line] = String(error.message).split("\n");
    // The generated loader asks for a WebAssembly build too, which there is none of.
    if (!line.includes("wasi")) messages.unshift(line);
  }
  return messages;
}

/** @param {string[]} tried */
function adviceOn(tried) {
  const platform = target();
  const fromSource = "Building it from source takes Rust and a clone: npm ci && npm run build.";
  if (!PREBUILT.has(platform)) {
    return [`There are binaries for ${[...PREBUILT].join(", ")} only. ${fromSource}`];
  }
  if (tried.some((message) => !/^Cannot find module/.test(message))) {
    return [
      "A binary was found and refused, for the reason above: it may be of another platform, damaged, or too new for " +
        `this system's C library. Install again for this platform: npm install ${name}@${version}. ${fromSource}`,
    ];
  }
  return [
    `The package ${name}-${platform} is missing. It is an optional dependency, which --omit=optional (--no-optional, ` +
      "optional=false) leaves out, and so does a lock file or node_modules made on another platform " +
      "(https://github.com/npm/cli/issues/4828): delete both and install again, or install it by name: " +
      `npm install ${name}-${platform}@${version}. In a bundle, keep ${name} external, or copy its .node file beside ` +
      `the bundle. ${fromSource}`,
  ];
}

/** This system in words. */
function here() {
  const { node, electron, modules } = process.versions;
  const { platform, arch } = process;
  const libc = glibc();
  const library = libc ? `glibc ${libc}` : "musl, or another C library than glibc";
  const system = platform === "linux" ? `linux-${arch} (${library})` : `${platform}-${arch}`;
  return `${system}, ${electron ? `Electron ${electron}, ` : ""}Node ${node} (ABI ${modules})`;
}

/** This system in the name of its package. */
function target() {
  const { platform, arch } = process;
  if (platform === "linux") return `linux-${arch}-${glibc() ? "gnu" : "musl"}`;
  return platform === "win32" ? `win32-${arch}-msvc` : `${platform}-${arch}`;
}

/** The version of glibc, where that is the C library. Takes long, and so is asked for an error only. */
function glibc() {
  /** @type {any} */
  const { report } = process;
  if (!report) return undefined;
  const { excludeNetwork } = report;
  try {
    // Without it, every open socket is looked up by name.
    report.excludeNetwork = true;
    return report.getReport().header.glibcVersionRuntime;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}

/** It holds all that the generated loader's chain of errors says, and stands alone. @param {string} message */
function failure(message) {
  return Object.assign(new Error(`${name} ${version}: ${message}`), { code: "ERR_ADDON_NOT_LOADED" });
}

module.exports = load();
