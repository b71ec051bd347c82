import assert from "node:assert/strict";
import test from "node:test";
import { ENTRIES, inApp } from "./electron.mjs";
import { question } from "./question.mjs";

const ENDINGS = {
  quit: "the app quits while runs are under way",
  exit: "the app exits while runs are under way",
  process: "the process exits while runs are under way",
  worker: "the app quits while runs are under way in a worker too",
  terminated: "workers are terminated while runs are under way",
};

for (const [ending, title] of Object.entries(ENDINGS)) {
  // One that waited for its runs would be killed: the first of them ends in five minutes.
  test(title, async (t) => {
    const { input, silent } = await question(t);
    const { code, said, report } = await inApp({ ending, entries: [ENTRIES["app.asar.unpacked"]], input });
    assert.equal(report?.error, undefined, said);
    assert.equal(report?.reached, ending === "terminated" ? "terminated" : "under way", said);
    assert.equal(code, 0, said);
    assert.doesNotMatch(said, /panicked|FATAL|SIG[A-Z]+|core dumped/);
    assert.ok(silent.requests.length > 0, "a request was under way");
    await Promise.all(silent.requests.map(({ closed }) => closed));
  });
}
