// The fenced snippets of the documentation, and how each kind is run.

import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/**
 * @typedef {{
 *   file: string, line: number, language: string, text: string, setup?: string, notRun?: string, folder?: string,
 * }} Snippet `line` is that of the fence
 */
/**
 * What a setup's default export answers with: `replace` maps texts of the snippet to what stands there in the test.
 *
 * @typedef {{
 *   env?: Record<string, string>, cwd?: string, replace?: Record<string, string>,
 *   after?: (output: { stdout: string, stderr: string }) => unknown,
 * }} Prepared
 */

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SETUPS = new URL("./snippets/", import.meta.url);
const MODULES = join(ROOT, "node_modules");
const ORACLE = join(ROOT, "__test__/oracle/node_modules");
/** Longer than any machine should take, in milliseconds. */
const HANG = 120_000;

const FENCE = /^( *)```(\S*)[^\n]*\n([\s\S]*?)^ *```$/gm;
const COMMENT = /<!-- (run|not run): (.+?) -->\s*$/;

/** Every fence of a text, with the comment that stands right before it. @param {string} file @param {string} text */
export function snippetsOf(file, text) {
  return [...text.matchAll(FENCE)].map((match) => {
    const [, indent, language, body] = match;
    const before = text.slice(0, match.index);
    const [, kind, words] = before.match(COMMENT) ?? [];
    const lines = body.split("\n").map((line) => line.slice(line.startsWith(indent) ? indent.length : 0));
    const line = before.split("\n").length;
    /** @type {Snippet} */
    const snippet = { file, line, language, text: lines.join("\n") };
    if (kind === "run") snippet.setup = words;
    else if (kind) snippet.notRun = words;
    return snippet;
  });
}

/** How each language is run; any other must say why it is not. */
const RUNNERS = { js: runModule, cjs: runCommonJs, ts: runTyped, sh: runShell, json: readJson };
export const LANGUAGES = Object.keys(RUNNERS);

/** Runs a snippet in a folder of its own. @param {any} t @param {Snippet} snippet */
export async function runSnippet(t, snippet) {
  const folder = folderOf(t);
  const url = snippet.setup && new URL(`${snippet.setup}.mjs`, SETUPS);
  if (url && !existsSync(url)) throw new Error(`there is no setup ${fileURLToPath(url)}`);
  const setup = url ? await import(url.href) : {};
  /** @type {Prepared} */
  const prepared = (await setup.default?.({ t, folder, snippet })) ?? {};
  const replaced = Object.entries(prepared.replace ?? {}).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the snippet no longer says ${from}`);
    return text.replaceAll(from, to);
  }, snippet.text);
  const runner = RUNNERS[/** @type {keyof typeof RUNNERS} */ (snippet.language)];
  const output = await runner({
    folder,
    text: replaced,
    prepared,
    setup: url ? fileURLToPath(url) : undefined,
  });
  await prepared.after?.(output);
}

/** An empty project in which the package is installed by name, beside pi's own. @param {any} t */
export function folderOf(t) {
  const folder = mkdtempSync(join(tmpdir(), "pi-compaction-snippet-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "package.json"), '{ "name": "project", "private": true }\n');
  // Links to packages and never to a folder of them, into which an npm of the snippet would reach.
  const links = {
    "pi-compaction-native": ROOT,
    ".bin/pi-compaction": join(ROOT, "bin/pi-compaction.js"),
    "@types/node": join(MODULES, "@types/node"),
    "@earendil-works/pi-agent-core": join(ORACLE, "pi-0.87"),
    "@earendil-works/pi-ai": join(ORACLE, "@earendil-works/pi-ai"),
    "@earendil-works/pi-coding-agent": join(ORACLE, "pi-1.6"),
  };
  for (const [name, target] of Object.entries(links)) {
    const at = join(folder, "node_modules", name);
    mkdirSync(dirname(at), { recursive: true });
    symlinkSync(target, at);
  }
  return folder;
}

/** @typedef {{ folder: string, text: string, prepared: Prepared, setup?: string }} Run */

/** What a setup exports by name is there as a global variable; its `afterwards` is called at the end. @param {Run} run @param {string} file */
function runFile({ folder, prepared, setup }, file) {
  const flags = [];
  if (setup) {
    const given = join(folder, "given.mjs");
    const lines = [
      `import * as given from ${JSON.stringify(pathToFileURL(setup).href)};`,
      "Object.assign(globalThis, given);",
      'process.once("beforeExit", () => given.afterwards?.());',
    ];
    writeFileSync(given, lines.join("\n"));
    flags.push("--import", pathToFileURL(given).href);
  }
  return outputOf(process.execPath, [...flags, file], folder, prepared);
}

/** @param {Run} run */
function runModule(run) {
  const file = join(run.folder, "snippet.mjs");
  writeFileSync(file, run.text);
  return runFile(run, file);
}

/** @param {Run} run */
function runCommonJs(run) {
  const file = join(run.folder, "snippet.cjs");
  writeFileSync(file, run.text);
  return runFile(run, file);
}

/** Checks the types with those of the setup's exports, then runs what is left. @param {Run} run */
async function runTyped(run) {
  const { folder, setup } = run;
  writeFileSync(join(folder, "snippet.mts"), `${run.text}\nexport {};\n`);
  const names = setup ? namesOf(readFileSync(setup, "utf8")) : [];
  const variables = names.map((name) => `  var ${name}: typeof import(${JSON.stringify(setup)}).${name};\n`);
  writeFileSync(join(folder, "given.d.mts"), `declare global {\n${variables.join("")}}\nexport {};\n`);
  const compilerOptions = {
    ...{ strict: true, target: "es2023", module: "nodenext", types: ["node"], skipLibCheck: true },
    ...{ allowJs: true, noEmitOnError: true, rootDir: "/", outDir: "out" },
  };
  const files = ["snippet.mts", "given.d.mts"];
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  await outputOf(process.execPath, [join(MODULES, "typescript/bin/tsc"), "-p", "."], folder);
  return runFile(run, join(folder, "out", folder, "snippet.mjs"));
}

/** What a setup exports by name. @param {string} source */
function namesOf(source) {
  return [...source.matchAll(/^export (?:const|let|class|(?:async )?function) (\w+)/gm)].map(
    ([, name]) => name,
  );
}

/** @param {Run} run */
function runShell({ folder, text, prepared }) {
  return outputOf("bash", ["-euo", "pipefail", "-c", text], prepared.cwd ?? folder, prepared);
}

/** @param {Run} run */
async function readJson({ text }) {
  JSON.parse(text);
  return { stdout: text, stderr: "" };
}

/**
 * @param {string} command @param {string[]} args @param {string} cwd @param {Prepared} prepared
 * @returns {Promise<{ stdout: string, stderr: string }>}
 */
function outputOf(command, args, cwd, { env = {} } = {}) {
  const PATH = [join(cwd, "node_modules/.bin"), dirname(process.execPath), process.env.PATH].join(delimiter);
  // Whoever runs the tests behind a proxy: the loopback is not reached through it.
  const direct = { NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" };
  const options = { cwd, timeout: HANG, env: { ...process.env, ...direct, PATH, ...env } };
  return new Promise((resolve, reject) => {
    execFile(command, args, options, (error, stdout, stderr) => {
      if (!error) resolve({ stdout, stderr });
      else reject(new Error(`${error.signal ?? `exit code ${error.code}`}\n${stdout}${stderr}`));
    });
  });
}
