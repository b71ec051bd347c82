// When the extension leaves a compaction to pi, and that it then touches nothing.

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { CHAT, checkpointsOf, EXTENSION, entriesOf, homeOf, ledgerOf } from "./support/pi-home.mjs";
import { inEachPi } from "./support/pi-hosts.mjs";
import { startRpc } from "./support/pi-rpc.mjs";

const VIRTUAL = fileURLToPath(new URL("./support/extensions/virtual-model.ts", import.meta.url));
const onlyNew = ({ version }) => version !== "1.6.0" && "has no virtual models";

/** A compaction, and everything of it that another must equal. @param {any} t @param {any} host @param {object} how @param {object} start */
async function compacted(t, host, how, start = {}) {
  const home = await homeOf(t, how);
  const pi = startRpc(t, host, home, start);
  const answer = await pi.ask({ type: "compact" });
  assert.deepEqual([pi.thrown, home.server.faults], [[], []]);
  return { home, pi, answer, entries: entriesOf(home.file), requests: home.requests };
}

/** What pi itself compacted, without what differs from run to run. */
function traceOf({ requests, entries, answer, home, pi }) {
  const bodies = requests.map(({ body }) => body.toString().replaceAll(home.folder, "HOME"));
  const added = entries.filter(({ type }) => type === "compaction");
  const checkpoints = added.map(({ id, timestamp, parentId, ...rest }) => rest);
  const { id, ...said } = answer;
  return { bodies: bodies.map(withoutIds), checkpoints, said, told: pi.notified };
}

/** pi makes up an id for each request's cache. @param {string} body */
const withoutIds = (body) =>
  body.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "ID");

/** @param {any} outcome */
function assertStock({ requests, entries, answer }) {
  assert.equal(answer.success, true, JSON.stringify(answer));
  assert.ok(requests.length > 0);
  for (const { json } of requests) assert.equal(json.model, "chat", "D12 never a silent switch");
  const [checkpoint] = checkpointsOf(entries);
  assert.equal(checkpoint.fromHook ?? false, false);
  assert.deepEqual(ledgerOf(entries), []);
}

inEachPi("D8 D106 no model: stock compaction, byte for byte", async (t, host) => {
  const without = await compacted(t, host, {}, { extensions: [] });
  assertStock(without);
  for (const how of [
    {},
    { chosen: { model: null } },
    { chosen: { charsPerToken: 4 } },
    { settingsText: "{}" },
  ]) {
    const within = await compacted(t, host, how);
    assert.deepEqual(traceOf(within), traceOf(without), JSON.stringify(how));
    assert.deepEqual(within.pi.notified, []);
  }
});

inEachPi("D12 D106 a model that pi has no more: a warning, and stock", async (t, host) => {
  const outcome = await compacted(t, host, { chosen: { model: "fake/gone" } });
  assertStock(outcome);
  assert.equal(outcome.pi.warnings.length, 1);
  assert.match(outcome.pi.warnings[0], /^refine-compact: fake\/gone is no model of pi any more/);
});

inEachPi(
  "D11 D106 a virtual summarizer: a warning, and stock",
  async (t, host) => {
    const extensions = [VIRTUAL, EXTENSION];
    const named = await compacted(t, host, { chosen: { model: "fake/auto" } }, { extensions });
    assertStock(named);
    assert.match(named.pi.warnings.join(), /^refine-compact: fake\/auto is a virtual model/);
    const start = { extensions, args: ["--model", "fake/auto"] };
    const followed = await compacted(t, host, { chosen: { model: "session" } }, start);
    assertStock(followed);
    assert.match(followed.pi.warnings.join(), /^refine-compact: fake\/auto is a virtual model/);
  },
  onlyNew,
);

inEachPi("D9 the chat's model, as it was when the compaction began", async (t, host) => {
  const home = await homeOf(t, {
    chosen: { model: "session", maxPromptTokens: 9_000 },
    steps: [async ({ index }) => (index === 0 ? switched.then(() => "SUMMARY") : "SUMMARY")],
  });
  const pi = startRpc(t, host, home);
  const compacting = pi.ask({ type: "compact" });
  const switched = pi
    .next(({ method }) => method === "notify", "the plan")
    .then(() => pi.ask({ type: "set_model", provider: "fake", modelId: "small" }));
  assert.equal((await switched).success, true);
  assert.equal((await compacting).success, true);
  assert.ok(home.requests.length > 2);
  assert.deepEqual([...new Set(home.requests.map(({ json }) => json.model))], ["chat"]);
  const [{ details }] = checkpointsOf(entriesOf(home.file));
  assert.equal(details.refineCompactModel, CHAT);
});
