// The drop-in for PI-Desktop's agent runtime: bundled, moved beside the archive, run by Electron as Node.

import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import test from "node:test";
import { followed, WAYS } from "../support/recipe.mjs";
import { EXECUTABLE, HANG_MS, inApp, RESOURCES } from "./electron.mjs";
import { question } from "./question.mjs";

const AGENT = `${RESOURCES}/agent/agent.mjs`;

/** What the runtime answers. @param {object} input @param {import("node:child_process").ForkOptions} options */
function asked(input, options) {
  const child = fork(AGENT, { ...options, timeout: HANG_MS, stdio: ["ignore", "inherit", "inherit", "ipc"] });
  child.send(input);
  return new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new Error(`it ended with ${code ?? signal}`)));
  });
}

test("the bundle holds the adapter, and imports the package", () => {
  const text = readFileSync(AGENT, "utf8");
  assert.match(text, /from "pi-compaction-native"/);
  assert.doesNotMatch(text, /\.node\b|__dirname|@earendil-works/);
});

test("the runtime answers by every name in Electron as it does in Node", async (t) => {
  const { input, summary, silent } = await question(t);
  const env = { ...process.env, NODE_OPTIONS: "", ELECTRON_RUN_AS_NODE: "1" };
  const inElectron = await asked(input, { execPath: EXECUTABLE, env });
  assert.equal(inElectron.error, undefined);
  assert.deepEqual(inElectron, await asked(input, {}));
  const { exceeds, written, aborted, chunks } = inElectron;
  assert.deepEqual([typeof exceeds, written.kind, aborted], ["boolean", "summary", "given up"]);
  assert.ok(chunks.length > 1);
  const requests = 2 * written.report.requests;
  assert.deepEqual([summary.requests.length, silent.requests.length], [requests, 2]);
});

test("the app starts it as the page tells", async (t) => {
  const { input } = await question(t);
  const { code, said, report } = await inApp({ inside: "agent", entries: [], input });
  assert.equal(report?.error, undefined, said);
  assert.equal(code, 0, said);
  assert.deepEqual(report, await asked(input, {}));
});

for (const way of /** @type {(keyof typeof WAYS)[]} */ (Object.keys(WAYS))) {
  test(`the page's recipe from an empty project, ${way}`, async (t) => {
    const inElectron = await followed(t, way, EXECUTABLE);
    assert.deepEqual(inElectron, await followed(t, way, process.execPath));
    assert.match(inElectron.said, /^too large for one request: \w+\nchunks: \d+\nkept: \d+\n$/);
  });
}
