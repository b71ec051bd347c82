// What exact tokens refuse, where they find their tables, and who may ask.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import * as ours from "../index.js";
import { budgetOf, encodings } from "./support/encodings.mjs";
import { outputOf } from "./support/process.mjs";

/** The functions, as a caller without types has them. @type {any} */
const { CompactionError, countTokens, summaryFits, Transcript } = ours;
const WORKER = new URL("./support/programs/counting-worker.mjs", import.meta.url);
const preparation = { messagesToSummarize: [{ role: "user", content: "hi" }] };
const budget = budgetOf(1_000);
const options = { encoding: "o200k_base" };

/** @param {() => Promise<unknown>} call @param {string} argument that the message begins with */
async function assertRefuses(call, argument) {
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof CompactionError, String(error));
    assert.equal(error.code, "invalid_argument", error.message);
    assert.ok(error.message.startsWith(`${argument}: expected`), `${argument}: ${error.message}`);
    return true;
  });
}

test("a text that is no string is refused", async () => {
  for (const text of [undefined, null, 1, {}, ["a"], Buffer.from("a"), Symbol("a"), new String("a")]) {
    await assertRefuses(() => countTokens(text, "o200k_base"), "text");
  }
});

test("an unknown encoding is refused, and the message names those that are known", async () => {
  for (const encoding of [
    undefined,
    null,
    "",
    "p50k_base",
    "O200K_BASE",
    "o200k_base ",
    1,
    {},
    ["o200k_base"],
  ]) {
    await assertRefuses(() => countTokens("a", encoding), "encoding");
    await assertRefuses(() => summaryFits(preparation, budget, undefined, { encoding }), "options.encoding");
  }
  await assert.rejects(() => countTokens("a", "claude"), /"o200k_base" or "cl100k_base"/);
});

test("the arguments of the guard are refused as the guard refuses them, never synchronously", async () => {
  const fits =
    (/** @type {any[]} */ ...args) =>
    () =>
      summaryFits(...args);
  for (const [call, argument] of /** @type {[() => Promise<unknown>, string][]} */ ([
    [fits(), "options"],
    [fits(preparation, budget, undefined), "options"],
    [fits(preparation, budget, undefined, "o200k_base"), "options"],
    [fits(undefined, budget, undefined, options), "preparation"],
    [fits({ messagesToSummarize: "no list" }, budget, undefined, options), "preparation.messagesToSummarize"],
    [fits({ ...preparation, previousSummary: 1 }, budget, undefined, options), "preparation.previousSummary"],
    [fits({ messagesToSummarize: [1] }, budget, undefined, options), "preparation.messagesToSummarize[0]"],
    [fits(preparation, undefined, undefined, options), "budget"],
    [fits(preparation, { hardLimit: -1, requestHeadroom: 0 }, undefined, options), "budget.hardLimit"],
    [fits(preparation, budget, { contextWindow: 1.5 }, options), "summaryModel.contextWindow"],
    [fits(preparation, budget, undefined, { ...options, dialect: "pi-2" }), "options.dialect"],
    [
      fits(preparation, budget, undefined, { ...options, customInstructions: 1 }),
      "options.customInstructions",
    ],
    [
      fits(preparation, budget, undefined, { ...options, prompts: { initial: 1 } }),
      "options.prompts.initial",
    ],
    [fits(preparation, budget, undefined, { ...options, charsPerToken: 0 }), "charsPerToken"],
  ])) {
    await assertRefuses(call, argument);
  }
});

test("a disposed transcript is refused, a range of an earlier one is not", async () => {
  const transcript = new Transcript(preparation.messagesToSummarize);
  const range = transcript.range();
  transcript.dispose();
  await assert.rejects(summaryFits({ messagesToSummarize: transcript }, budget, undefined, options), {
    code: "invalid_argument",
  });
  assert.equal(await summaryFits({ messagesToSummarize: range }, budget, undefined, options), true);
});

const folder = mkdtempSync(join(tmpdir(), "pi-compaction-tokens-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const root = fileURLToPath(new URL("..", import.meta.url));

/** The package as it is installed, without the folder of tables beside it. @param {string} name */
function installed(name) {
  const path = join(folder, name);
  const native = readdirSync(root).filter((file) => file.endsWith(".node"));
  for (const part of ["index.js", "binding.js", "package.json", "js", ...native])
    cpSync(join(root, part), join(path, part), { recursive: true });
  return path;
}

/** What a process of its own gets from it. @param {string} path */
async function counted(path) {
  const { code, stdout, stderr } = await outputOf("counts-tokens.mjs", [], {
    args: [join(path, "index.js")],
  });
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

test("without its table a count is unsupported_api, and the message says what to install", async () => {
  for (const { code, message } of (await counted(installed("bare"))).errors) {
    assert.equal(code, "unsupported_api");
    assert.match(message, /o200k_base.*install the package pi-compaction-native-tokens/);
    assert.ok(!message.includes(folder), "no path of this machine");
  }
});

test("the tables are a package of the same version, with nothing that runs", () => {
  const manifest = (/** @type {string} */ path) => JSON.parse(readFileSync(join(root, path), "utf8"));
  const { name, version, files } = manifest("tokens/package.json");
  assert.deepEqual([name, version], ["pi-compaction-native-tokens", manifest("package.json").version]);
  assert.deepEqual(
    files,
    encodings.map((encoding) => `${encoding}.tokens`),
  );
});

test("the tables are found as a package, and beside the code", async () => {
  const tables = join(root, "tokens");
  const beside = installed("beside");
  cpSync(tables, join(beside, "tokens"), { recursive: true });
  const packaged = installed("packaged");
  cpSync(tables, join(packaged, "node_modules", "pi-compaction-native-tokens"), { recursive: true });
  for (const path of [beside, packaged]) {
    assert.deepEqual(await counted(path), { tokens: 2, fits: true, errors: [] }, path);
  }
});

test("a table that is cut off, padded or another's is none", async () => {
  const table = (/** @type {string} */ name) => readFileSync(join(root, "tokens", `${name}.tokens`));
  const whole = table("o200k_base");
  const broken = [
    whole.subarray(0, -1),
    Buffer.alloc(0),
    table("cl100k_base"),
    Buffer.concat([whole, Buffer.of(0)]),
  ];
  for (const [i, bytes] of broken.entries()) {
    const path = installed(`broken-${i}`);
    mkdirSync(join(path, "tokens"));
    writeFileSync(join(path, "tokens", "o200k_base.tokens"), bytes);
    const { errors } = await counted(path);
    assert.deepEqual(
      errors.map(({ code }) => code),
      ["unsupported_api", "unsupported_api"],
    );
  }
});

test("workers count too, at the same time, and one that ends early takes nothing with it", async () => {
  const text = "a text to count, of several words\n".repeat(20_000);
  const expected = await Promise.all(encodings.map((name) => countTokens(text, name)));
  const workers = Array.from({ length: 4 }, () => new Worker(WORKER, { workerData: { text, encodings } }));
  const answers = workers.map(
    (worker) => new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject)),
  );
  for (const answer of await Promise.all(answers)) assert.deepEqual(answer, expected);
  const early = new Worker(WORKER, { workerData: { text: text.repeat(10), encodings, early: true } });
  await new Promise((resolve) => early.once("message", resolve));
  await early.terminate();
  assert.deepEqual(await Promise.all(encodings.map((name) => countTokens(text, name))), expected);
});

test("many counts at once, each with its own answer", async () => {
  const counts = Array.from({ length: 200 }, (_, i) => countTokens(" word".repeat(i), "o200k_base"));
  assert.deepEqual(
    await Promise.all(counts),
    Array.from({ length: 200 }, (_, i) => i),
  );
});
