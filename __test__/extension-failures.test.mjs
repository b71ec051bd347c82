// Runs that fail or are given up: what the user hears, and what pi does then.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test, { before } from "node:test";
import { guestOf } from "./support/pi-guest.mjs";
import { checkpointsOf, entriesOf, ledgerOf, SMALL } from "./support/pi-home.mjs";
import { inEachPi } from "./support/pi-hosts.mjs";
import { KEY, until } from "./support/provider.mjs";
import { errorOf } from "./support/wire.mjs";

/** @param {number} status @param {object} failure */
const refused = (status, failure = {}) => ({
  status,
  body: errorOf("openai-completions", { message: "SECRET-ENDPOINT says no", ...failure }),
});

const QUOTA = { code: "insufficient_quota", message: "You exceeded your current quota. SECRET-ENDPOINT" };
const TOOL_CALL = { text: "", ending: /** @type {const} */ ("tool") };

/** What a model does wrong, and the code that the user reads. @type {[name: string, step: any, code: string, requests: number, says: RegExp][]} */
const FAULTS = [
  ["a key that is refused", refused(401, { code: "invalid_api_key" }), "summary_provider", 1, /401.*says no/],
  ["a server that fails, to the end", refused(500), "summary_provider", 3, /500.*says no/],
  ["a quota that is used up", refused(429, QUOTA), "summary_provider", 1, /429.*current quota/],
  ["an empty answer, to the end", { text: "" }, "summary_empty", 3, /^$/],
  ["a tool call", TOOL_CALL, "summary_refused", 1, /^$/],
];

/** In pi's own list since 0.74; the tests' environment has no key. */
const KEYLESS = "anthropic/claude-haiku-4-5";

/** Only the chosen model fails; pi itself would be answered well. @param {any} step */
const failing = (step) => [(/** @type {any} */ request) => (request.json.model === "small" ? step : "STOCK")];

inEachPi((host, scope) => {
  /** @type {import("./support/pi-guest.mjs").Guest} */
  let guest;
  before(async () => {
    guest = await guestOf(scope, host);
  });

  for (const [name, step, code, requests, says] of FAULTS) {
    test(`A59 B26 B36 /compact: ${name} is told by its code, and nothing is compacted`, async () => {
      const outcome = await guest.compact({ chosen: { model: SMALL }, steps: failing(step) });
      const { answer, ledger, notified, file } = outcome;
      assert.equal(answer.success, false);
      assert.match(answer.error, /cancelled/);
      const asked = outcome.requests.map(({ json }) => json.model);
      assert.deepEqual(asked, Array(requests).fill("small"), "A59 B26 nobody else was asked");
      assert.deepEqual([outcome.checkpoints, outcome.thrown], [[], []]);
      assert.deepEqual(ledger.at(-1), { step: "failed", text: `failed: ${code}` });
      const errors = notified.filter(({ notifyType }) => notifyType === "error");
      assert.equal(errors.length, 1, JSON.stringify(notified));
      const words = `refine-compact: ${SMALL} wrote no checkpoint (${code}): `;
      assert.ok(errors[0].message.startsWith(words), errors[0].message);
      const [, heard = ""] = errors[0].message.split("\n");
      assert.match(heard, says, "what pi's client said");
      const text = readFileSync(file, "utf8");
      assert.ok(text.startsWith(outcome.before), "B30");
      assert.ok(!text.includes("SECRET-ENDPOINT"), "what a provider says is not kept");
    });
  }

  test("a model that pi has no key for is told so", async () => {
    const { answer, warnings, requests, ledger } = await guest.compact({ chosen: { model: KEYLESS } });
    assert.equal(answer.success, false);
    const why = "pi has neither key nor login for anthropic; /login gives one";
    assert.deepEqual(warnings, [`refine-compact: ${KEYLESS} wrote no checkpoint (summary_provider): ${why}`]);
    assert.deepEqual([requests, ledger.map(({ step }) => step)], [[], ["failed"]]);
  });

  test("no key and nothing of a prompt is in what is told of a failure", async () => {
    const echo = ({ headers, prompt }) =>
      refused(400, { message: `no: ${headers.authorization} sent ${prompt.slice(0, 120)}` });
    const { notified, file } = await guest.compact({ chosen: { model: SMALL }, steps: [echo] });
    const told = JSON.stringify(notified);
    assert.match(told, /400.*no: Bearer \[redacted\] sent/);
    assert.ok(!told.includes(KEY) && !told.includes("I am new to this code"), told);
    assert.ok(!readFileSync(file, "utf8").includes(KEY));
  });

  test("a fault that passed is not told of as the cause of a later one", async () => {
    const steps = [refused(503), "SUMMARY", TOOL_CALL];
    const { warnings } = await guest.compact({ chosen: { model: SMALL }, steps });
    assert.equal(warnings.length, 1);
    assert.match(warnings[0], /\(summary_refused\)/);
    assert.doesNotMatch(warnings[0], /503|says no/);
  });

  test("after a failure the finished chunks are not asked for again", async () => {
    const { home, pi } = guest;
    const steps = [({ index }) => (index < 3 ? `SUMMARY-${index}` : refused(401))];
    const watch = await guest.visit({ chosen: { model: SMALL }, steps });
    assert.equal((await pi.ask({ type: "compact" })).success, false);
    home.script(["SUMMARY"]);
    assert.equal((await pi.ask({ type: "compact" })).success, true);
    const [{ details }] = watch.seen().checkpoints;
    assert.equal(details.cacheHits, 3);
    assert.match(watch.seen().ledger.at(-1).text, /^done: \d+ chunks, 3 known from before,/);
  });

  for (const asked of [0, 2]) {
    test(`a second compaction after ${asked} requests of the first: one checkpoint, nothing answered twice`, async () => {
      const { home, pi } = guest;
      const steps = [{ text: "SUMMARY", beforeMs: 50 }];
      const watch = await guest.visit({ chosen: { model: SMALL }, steps });
      const first = pi.ask({ type: "compact" });
      await until(() => home.requests.length >= watch.asked + asked, "the requests");
      const answers = await Promise.all([first, pi.ask({ type: "compact" })]);
      const { checkpoints, requests, ledger, thrown } = watch.seen();
      assert.equal(answers.filter(({ success }) => success).length, 1, JSON.stringify(answers));
      assert.equal(checkpoints.length, 1);
      // pi 0.87 and later give up the first, with the request that is on its way then.
      const givenUp = ledger.filter(({ step }) => step === "aborted").length;
      assert.ok(requests.length - new Set(requests.map(({ prompt }) => prompt)).size <= givenUp);
      assert.deepEqual(thrown, []);
    });
  }

  const skip = host.version === "0.74.2" && "its RPC mode cannot give up a compaction";
  test("a compaction that is given up sends nothing more, and leaves no checkpoint", { skip }, async () => {
    const { home, pi } = guest;
    const watch = await guest.visit({ chosen: { model: SMALL }, steps: failing({ end: "never" }) });
    const compacting = pi.ask({ type: "compact" });
    await until(() => home.requests.length > watch.asked, "the request");
    await pi.ask({ type: "abort" });
    assert.equal((await compacting).success, false);
    await assertGivenUp(home, watch);
    assert.deepEqual(watch.seen().ledger.at(-1), { step: "aborted", text: "given up" });
    assert.deepEqual([watch.seen().warnings, watch.seen().thrown], [[], []]);
  });

  test("pi leaves the session in the middle of a compaction", async () => {
    const { home, pi } = guest;
    const watch = await guest.visit({ chosen: { model: SMALL }, steps: failing({ end: "never" }) });
    pi.ask({ type: "compact" }).catch(() => {});
    await until(() => home.requests.length > watch.asked, "the request");
    const next = home.session();
    const { success } = await pi.ask({ type: "switch_session", sessionPath: next });
    assert.equal(success, true);
    await assertGivenUp(home, watch);
    assert.deepEqual(ledgerOf(entriesOf(next)), [], "the next session hears nothing of it");
    assert.deepEqual(watch.seen().thrown, []);
  });

  test("pi ends in the middle of a compaction", async () => {
    const { home, pi } = guest;
    const watch = await guest.visit({ chosen: { model: SMALL }, steps: failing({ end: "never" }) });
    pi.ask({ type: "compact" }).catch(() => {});
    await until(() => home.requests.length > watch.asked, "the request");
    await pi.end();
    await assertGivenUp(home, watch);
    assert.deepEqual(watch.seen().thrown, []);
  });
});

/** @param {import("./support/pi-home.mjs").Home} home @param {{ file: string, asked: number }} watch */
async function assertGivenUp(home, { file, asked }) {
  await until(() => home.requests[asked].isClosed, "the end of the request");
  assert.equal(home.requests.length, asked + 1);
  assert.deepEqual(checkpointsOf(entriesOf(file)), []);
}
