// The extension in a program that embeds pi by its SDK.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test, { before } from "node:test";
import { checkpointsOf, entriesOf, homeOf, ledgerOf, SMALL } from "./support/pi-home.mjs";
import { inEachPi } from "./support/pi-hosts.mjs";
import { startSdk } from "./support/pi-sdk.mjs";
import { until } from "./support/provider.mjs";

inEachPi((host, scope) => {
  /** @type {import("./support/pi-home.mjs").Home} */
  let home;
  /** @type {ReturnType<typeof startSdk>} */
  let pi;
  before(async () => {
    home = await homeOf(scope);
    pi = startSdk(scope, host, home);
  });

  test("session.compact() is the chosen model's", async () => {
    home.choose({ model: SMALL });
    home.script([({ index }) => `SUMMARY-${index + 1}`]);
    const asked = home.requests.length;
    const file = home.session();
    const { answer, told, thrown, error } = await pi.ask("compact", file);
    const requests = home.requests.slice(asked);
    assert.deepEqual([error, thrown], [undefined, []]);
    assert.deepEqual([...new Set(requests.map(({ json }) => json.model))], ["small"]);
    const [checkpoint] = checkpointsOf(entriesOf(file));
    assert.equal(checkpoint.summary, answer.summary);
    assert.equal(checkpoint.firstKeptEntryId, answer.firstKeptEntryId);
    assert.equal(told.length, requests.length + 2);
  });

  test("D10 D106 the chat's model, where there is none: one line of information, and pi goes on", async () => {
    home.choose({ model: "session" });
    const { answer, told, thrown } = await pi.ask("compact without a model", home.session());
    assert.equal(answer, null, "nothing is said to pi");
    assert.deepEqual(told, [
      { message: "refine-compact: No chat model is selected, so pi compacts by itself.", type: "info" },
    ]);
    assert.deepEqual(thrown, []);
  });

  test("a compaction that is given up sends nothing more, and leaves no checkpoint", async () => {
    home.choose({ model: SMALL });
    home.script([{ end: "never" }]);
    const asked = home.requests.length;
    const file = home.session();
    const before = readFileSync(file, "utf8");
    const compacting = pi.ask("compact", file);
    await until(() => home.requests.length > asked, "the request");
    pi.abort();
    const { error, told, thrown } = await compacting;
    assert.match(error, /cancelled/);
    await until(() => home.requests[asked].isClosed, "the end of the request");
    assert.equal(home.requests.length, asked + 1);
    const entries = entriesOf(file);
    assert.deepEqual(checkpointsOf(entries), []);
    assert.deepEqual(ledgerOf(entries).at(-1), { step: "aborted", text: "given up" });
    assert.ok(readFileSync(file, "utf8").startsWith(before));
    assert.ok(told.every(({ type }) => type === "info"));
    assert.deepEqual([thrown, home.server.faults], [[], []]);
  });
});
