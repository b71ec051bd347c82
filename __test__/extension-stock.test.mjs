// When the extension leaves a compaction to pi, and that it then touches nothing.

import assert from "node:assert/strict";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import test, { before } from "node:test";
import { fileURLToPath } from "node:url";
import { guestOf } from "./support/pi-guest.mjs";
import { CHAT, EXTENSION, homeOf, PACKAGE, SMALL } from "./support/pi-home.mjs";
import { inEachPi } from "./support/pi-hosts.mjs";
import { startRpc } from "./support/pi-rpc.mjs";

const VIRTUAL = fileURLToPath(new URL("./support/extensions/virtual-model.ts", import.meta.url));

inEachPi((host, scope) => {
  /** @type {import("./support/pi-guest.mjs").Guest} */
  let guest;
  const hasVirtual = host.version === "1.6.0";
  before(async () => {
    guest = await guestOf(scope, host, {}, { extensions: hasVirtual ? [VIRTUAL, EXTENSION] : [EXTENSION] });
  });

  test("D8 D106 no model: stock compaction, byte for byte", async (t) => {
    const bare = await guestOf(t, host, {}, { extensions: [] });
    const without = await bare.compact();
    assertStock(without);
    for (const chosen of [undefined, { model: null, charsPerToken: 4 }, "\uFEFF{}\n"]) {
      const within = await guest.compact({ chosen });
      assert.deepEqual(traceOf(within, guest), traceOf(without, bare), JSON.stringify(chosen));
      assert.deepEqual(within.notified, []);
    }
  });

  test("D12 D106 a model that pi has no more: a warning, and stock", async () => {
    const outcome = await guest.compact({ chosen: { model: "fake/gone" } });
    assertStock(outcome, outcome.warnings);
    assert.equal(outcome.warnings.length, 1);
    assert.match(outcome.warnings[0], /^refine-compact: fake\/gone is no model of pi any more/);
  });

  test("D12 a provider with a slash in its name is one that pi has", async (t) => {
    const own = await guestOf(t, host, { provider: "gateway/eu" });
    const { checkpoints, warnings } = await own.compact({ chosen: { model: "gateway/eu/small" } });
    assert.deepEqual(warnings, []);
    assert.equal(checkpoints[0].details.refineCompactModel, "gateway/eu/small");
  });

  const skip = !hasVirtual && `pi ${host.version} has no virtual models`;
  test("D11 D106 a virtual summarizer: a warning, and stock", { skip }, async () => {
    const named = await guest.compact({ chosen: { model: "fake/auto" } });
    const followed = await guest.compact({ chosen: { model: "session" }, model: "auto" });
    for (const outcome of [named, followed]) {
      assertStock(outcome, outcome.warnings);
      assert.equal(outcome.warnings.length, 1);
      assert.match(outcome.warnings[0], /^refine-compact: fake\/auto is a virtual model/);
    }
  });

  test("D9 the chat's model, as it was when the compaction began", async () => {
    const { pi } = guest;
    const heard = pi.lines.length;
    let switched;
    const steps = [async ({ index }) => (index === 0 ? switched.then(() => "SUMMARY") : "SUMMARY")];
    const isPlan = ({ method, message }) => method === "notify" && /planned/.test(message);
    switched = pi
      .next(isPlan, "the plan", heard)
      .then(() => pi.ask({ type: "set_model", provider: "fake", modelId: "small" }));
    const outcome = await guest.compact({ chosen: { model: "session", maxPromptTokens: 9_000 }, steps });
    assert.equal((await switched).success, true);
    assert.equal(outcome.answer.success, true);
    assert.ok(outcome.requests.length > 2);
    assert.deepEqual([...new Set(outcome.requests.map(({ json }) => json.model))], ["chat"]);
    assert.equal(outcome.checkpoints[0].details.refineCompactModel, CHAT);
  });

  test("without its native core it says so once, and leaves pi alone", async (t) => {
    const home = await homeOf(t);
    const pi = startRpc(t, host, home, { extensions: [withoutCore(home.folder)] });
    home.choose({ model: SMALL });
    home.script([{ status: 401, body: { error: { message: "no" } } }]);
    const first = await pi.ask({ type: "compact" });
    home.script(["STOCK"]);
    const second = await pi.ask({ type: "compact" });
    const told = pi.lines.filter(({ method }) => method === "notify");
    assert.deepEqual([first.success, second.success], [false, true], "pi's own answers");
    assert.match(second.data.summary, /STOCK/);
    assert.equal(told.length, 1, JSON.stringify(told));
    assert.match(
      told[0].message,
      /^refine-compact: The native core cannot be loaded, so pi compacts by itself\. ./,
    );
    assert.equal(told[0].notifyType, "warning");
    assert.deepEqual(
      pi.lines.filter(({ type }) => type === "extension_error"),
      [],
    );
  });
});

/** The package as it is where there is no binary for the platform. @param {string} folder */
function withoutCore(folder) {
  const copy = join(folder, "pi-compaction-native");
  mkdirSync(copy);
  for (const name of ["package.json", "index.js", "binding.js", "js", "extensions"]) {
    cpSync(join(PACKAGE, name), join(copy, name), { recursive: true });
  }
  return copy;
}

/** What pi itself compacted, without what differs from run to run. @param {any} outcome @param {any} guest */
function traceOf({ requests, checkpoints, answer, entries }, { home }) {
  const bodies = requests.map(({ body }) => body.toString().replaceAll(home.folder, "HOME"));
  const { id: _, ...said } = answer;
  const kept = checkpoints.map(({ id, timestamp, parentId, ...rest }) => rest);
  return { bodies: bodies.map(withoutIds), kept, said, types: entries.map(({ type }) => type) };
}

/** pi makes up an id for each request's cache. @param {string} body */
const withoutIds = (body) =>
  body.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(-\d+)?/g, "ID");

/** @param {import("./support/pi-guest.mjs").Outcome} outcome @param {string[]} told also stays in the session */
function assertStock({ requests, checkpoints, ledger, answer, thrown }, told = []) {
  assert.equal(answer.success, true, JSON.stringify(answer));
  assert.ok(requests.length > 0);
  for (const { json } of requests) assert.equal(json.model, "chat", "D12 never a silent switch");
  assert.equal(checkpoints[0].fromHook ?? false, false);
  const lines = told.map((words) => ({ step: "stock", text: words.replace("refine-compact: ", "") }));
  assert.deepEqual([ledger, thrown], [lines, []]);
}
