import assert from "node:assert/strict";
import test from "node:test";
import { asNode, ENTRIES, inApp } from "./electron.mjs";
import { answered, question } from "./question.mjs";

const PROCESSES = ["main", "worker", "utility", "child", "renderer"];

/** @param {import("./electron.mjs").Ended} outcome @returns {any[]} */
function answersOf({ code, said, report }) {
  assert.equal(report?.error, undefined, `${report?.error}\n${said}`);
  assert.equal(code, 0, said);
  assert.ok(report, `no report\n${said}`);
  return report.answers;
}

/** @param {any} t @param {"answers" | "others"} name @param {(probe: any) => Promise<any>} start @param {string[]} entries */
async function sameAsNode(t, name, start, entries) {
  const { input, summary, silent } = await question(t);
  const answers = answersOf(await start({ question: name, entries, input }));
  const expected = await answered(name, input);
  for (const answer of answers) assert.deepEqual(answer, expected);
  assert.ok(answers.length >= entries.length, "each copy was asked");
  if (name === "others") return;
  assert.match(expected.http.summary, /^SUMMARY/);
  assert.equal(expected.abort, "rejected with the reason");
  const times = answers.length + 1;
  assert.deepEqual(
    [summary.requests.length, silent.requests.length],
    [times * expected.http.details.requests, times],
  );
  await Promise.all(silent.requests.map(({ closed }) => closed));
}

for (const inside of PROCESSES) {
  test(`the four functions in the ${inside} process, in app.asar.unpacked and beside the asar`, (t) =>
    sameAsNode(t, "answers", (probe) => inApp({ ...probe, inside }), Object.values(ENTRIES)));
}

for (const [where, entry] of Object.entries(ENTRIES)) {
  test(`the four functions as Node, ${where}`, (t) => sameAsNode(t, "answers", asNode, [entry]));

  test(`every other function as Node, ${where}`, (t) => sameAsNode(t, "others", asNode, [entry]));
}

test("two copies, in the main process and in a worker at once", (t) =>
  sameAsNode(t, "answers", (probe) => inApp({ ...probe, inside: "together" }), Object.values(ENTRIES)));

test("a sandboxed preload loads no addon, and says so", async (t) => {
  const { input } = await question(t);
  const probe = { question: "answers", entries: Object.values(ENTRIES), input };
  const { report, said } = await inApp({ ...probe, inside: "sandboxed" });
  assert.match(report?.error ?? "", /module not found/, said);
});

test("a sandboxed window asks the main process, as the page tells", async (t) => {
  const { input, summary } = await question(t);
  const { report, said } = await inApp({ inside: "served", entries: [], input });
  assert.equal(report?.kind, "summary", `${JSON.stringify(report)}\n${said}`);
  assert.match(report.checkpoint.summary, /^SUMMARY/);
  assert.ok(report.checkpoint.retainedTail.length > 0);
  assert.equal(summary.requests.length, report.checkpoint.details.requests);
});

test("a sandboxed window gives up what it has asked for, as the page tells", async (t) => {
  const { input } = await question(t);
  const { report, said } = await inApp({ inside: "served", stopped: true, entries: [], input });
  assert.match(report?.message ?? "", /AbortError/, `${JSON.stringify(report)}\n${said}`);
});
