// Runs that fail or are given up: what the user hears, and what pi does then.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { checkpointsOf, entriesOf, homeOf, ledgerOf, SMALL } from "./support/pi-home.mjs";
import { inEachPi } from "./support/pi-hosts.mjs";
import { startRpc } from "./support/pi-rpc.mjs";
import { until } from "./support/provider.mjs";
import { errorOf } from "./support/wire.mjs";

/** @param {number} status @param {object} failure */
const refused = (status, failure = {}) => ({
  status,
  body: errorOf("openai-completions", { message: "SECRET-ENDPOINT says no", ...failure }),
});

const QUOTA = { code: "insufficient_quota", message: "You exceeded your current quota. SECRET-ENDPOINT" };

/** What a model does wrong, and the code that the user reads. @type {[name: string, step: any, code: string, requests: number][]} */
const FAULTS = [
  ["a key that is refused", refused(401, { code: "invalid_api_key" }), "summary_provider", 1],
  ["a server that fails, to the end", refused(500), "summary_provider", 3],
  ["a quota that is used up", refused(429, QUOTA), "summary_provider", 1],
  ["an empty answer, to the end", { text: "" }, "summary_empty", 3],
  ["a filter, which pi reports as an error", { text: "I ca", ending: "filter" }, "summary_provider", 1],
];

/** @param {any} t @param {any} host @param {any} step of the chosen model; pi itself is answered well */
async function failing(t, host, step, how = {}) {
  const steps = [(/** @type {any} */ request) => (request.json.model === "small" ? step : "STOCK")];
  const home = await homeOf(t, { chosen: { model: SMALL }, steps, ...how });
  return { home, pi: startRpc(t, host, home) };
}

const bySmall = ({ requests }) => requests.filter(({ json }) => json.model === "small");

for (const [name, step, code, requests] of FAULTS) {
  inEachPi(`A59 B26 B36 /compact: ${name} is told by its code, and nothing is compacted`, async (t, host) => {
    const { home, pi } = await failing(t, host, step);
    const before = readFileSync(home.file, "utf8");
    const answer = await pi.ask({ type: "compact" });
    assert.equal(answer.success, false);
    assert.match(answer.error, /cancelled/);
    assert.deepEqual(
      [bySmall(home).length, home.requests.length],
      [requests, requests],
      "A59 B26 pi asked nobody",
    );
    const entries = entriesOf(home.file);
    assert.deepEqual(checkpointsOf(entries), []);
    assert.deepEqual(ledgerOf(entries).at(-1), { step: "failed", text: `failed: ${code}` });
    const told = pi.notified.filter(({ notifyType }) => notifyType === "error");
    assert.equal(told.length, 1, JSON.stringify(pi.notified));
    assert.ok(
      told[0].message.startsWith(`refine-compact: ${SMALL} wrote no checkpoint (${code}).`),
      told[0].message,
    );
    assert.ok(readFileSync(home.file, "utf8").startsWith(before.trimEnd()), "B30");
    assert.ok(
      !readFileSync(home.file, "utf8").includes("SECRET-ENDPOINT"),
      "what a provider says is not kept",
    );
    assert.deepEqual(pi.thrown, []);
  });
}

/** A reply after which the context counts as full. */
const FULL = {
  text: "Done.",
  usage: { prompt_tokens: 190_000, completion_tokens: 10, total_tokens: 190_010 },
};
const AUTOMATIC = { compaction: { enabled: true } };
/** @param {any} request */
const isSummary = ({ prompt }) => prompt.includes("<conversation>");

/** @param {any} step */
const automatic = (step) => [
  (/** @type {any} */ request) => {
    if (request.json.model === "small") return step;
    return isSummary(request) ? "STOCK" : FULL;
  },
];

/** @param {any} pi */
const compactionEnd = (pi) =>
  pi.next(({ type }) => /compaction_end$/.test(type), "the end of the compaction");

/** @param {any} home @param {any} pi */
function assertLeftToPi(home, pi) {
  const [checkpoint, ...more] = checkpointsOf(entriesOf(home.file));
  assert.deepEqual(more, []);
  assert.match(checkpoint.summary, /^STOCK/);
  assert.equal(checkpoint.fromHook ?? false, false);
  const warned = pi.warnings.filter((/** @type {string} */ message) =>
    message.includes("wrote no checkpoint"),
  );
  assert.equal(warned.length, 1, JSON.stringify(pi.notified));
  assert.match(warned[0], /\(summary_provider\).* pi compacts by itself\.$/);
  assert.deepEqual(
    pi.notified.filter(({ notifyType }) => notifyType === "error"),
    [],
  );
  assert.deepEqual(pi.thrown, []);
}

inEachPi("an automatic compaction that fails is pi's own, with a warning", async (t, host) => {
  const home = await homeOf(t, { chosen: { model: SMALL }, steps: automatic(refused(401)), ...AUTOMATIC });
  const pi = startRpc(t, host, home);
  await pi.ask({ type: "prompt", message: "Go on." });
  await compactionEnd(pi);
  assertLeftToPi(home, pi);
});

inEachPi("so is one before a prompt is sent", async (t, host) => {
  const home = await homeOf(t, { chosen: { model: SMALL }, steps: automatic(refused(401)), ...AUTOMATIC });
  writeFileSync(home.file, filled(readFileSync(home.file, "utf8")));
  const pi = startRpc(t, host, home);
  await pi.ask({ type: "prompt", message: "Go on." });
  await compactionEnd(pi);
  assertLeftToPi(home, pi);
});

/** A session whose last reply reports a full context. @param {string} text */
function filled(text) {
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const last = lines.findLast(({ message }) => message?.role === "assistant").message;
  Object.assign(last, { provider: "fake", model: "chat", api: "openai-completions" });
  last.usage = {
    ...last.usage,
    input: 190_000,
    output: 10,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 190_010,
  };
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

inEachPi("an automatic compaction by the chosen model", async (t, host) => {
  const home = await homeOf(t, { chosen: { model: SMALL }, steps: automatic("REFINED"), ...AUTOMATIC });
  const pi = startRpc(t, host, home);
  await pi.ask({ type: "prompt", message: "Go on." });
  await compactionEnd(pi);
  const [checkpoint] = checkpointsOf(entriesOf(home.file));
  assert.match(checkpoint.summary, /REFINED/);
  assert.equal(checkpoint.fromHook, true);
  assert.deepEqual(pi.warnings, []);
});

inEachPi(
  "a compaction that is given up sends nothing more, and leaves no checkpoint",
  async (t, host) => {
    const { home, pi } = await failing(t, host, { end: "never" });
    const compacting = pi.ask({ type: "compact" });
    await until(() => home.requests.length === 1, "the request");
    await pi.ask({ type: "abort" });
    assert.equal((await compacting).success, false);
    await until(() => home.requests[0].isClosed, "the end of the request");
    assert.equal(home.requests.length, 1);
    const entries = entriesOf(home.file);
    assert.deepEqual(checkpointsOf(entries), []);
    assert.deepEqual(ledgerOf(entries).at(-1), { step: "aborted", text: "given up" });
    assert.deepEqual([pi.warnings, pi.thrown], [[], []]);
  },
  ({ version }) => version === "0.74.2" && "its RPC mode cannot give up a compaction",
);

inEachPi("pi ends in the middle of a compaction", async (t, host) => {
  const { home, pi } = await failing(t, host, { end: "never" });
  pi.ask({ type: "compact" }).catch(() => {});
  await until(() => home.requests.length === 1, "the request");
  await pi.end();
  await until(() => home.requests[0].isClosed, "the end of the request");
  assert.deepEqual(checkpointsOf(entriesOf(home.file)), []);
  assert.deepEqual(pi.thrown, []);
});
