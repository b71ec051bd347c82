// Compactions that nobody asked for: by the chosen model, or, where that fails, by pi itself.

import assert from "node:assert/strict";
import test, { before } from "node:test";
import { fileURLToPath } from "node:url";
import { guestOf } from "./support/pi-guest.mjs";
import { EXTENSION, SMALL } from "./support/pi-home.mjs";
import { inEachPi } from "./support/pi-hosts.mjs";

/** In pi 0.74 it is the call stack that says who asked: it must hold beside extensions that change stacks. */
const STACKLESS = fileURLToPath(new URL("./support/extensions/stackless.ts", import.meta.url));
const USAGE = { prompt_tokens: 190_000, completion_tokens: 10, total_tokens: 190_010 };
/** A reply after which the context counts as full. */
const FULL = { text: "Done.", usage: USAGE };
const REFUSED = { status: 401, body: { error: { message: "SECRET-ENDPOINT says no" } } };

/** What the chosen model does; pi's own requests are answered well. @param {any} step */
const chosenDoes = (step) => [
  ({ json, prompt }) => {
    if (json.model === "small") return step;
    return prompt.includes("<conversation>") ? "STOCK" : FULL;
  },
];

inEachPi((host, scope) => {
  /** @type {import("./support/pi-guest.mjs").Guest} */
  let guest;
  before(async () => {
    const extensions = [STACKLESS, EXTENSION];
    guest = await guestOf(scope, host, { compaction: { enabled: true } }, { extensions });
  });

  /** A prompt, and the compaction that follows or precedes it. @param {import("./support/pi-guest.mjs").Visit} visit */
  async function prompted(visit) {
    const { pi } = guest;
    const watch = await guest.visit({ chosen: { model: SMALL }, ...visit });
    const ended = pi.next(
      ({ type }) => /compaction_end$/.test(type),
      "the end of the compaction",
      watch.heard,
    );
    await pi.ask({ type: "prompt", message: "Go on." });
    await ended;
    return watch.seen();
  }

  test("an automatic compaction is the chosen model's", async () => {
    const { checkpoints, warnings, thrown } = await prompted({ steps: chosenDoes("REFINED") });
    assert.equal(checkpoints.length, 1);
    assert.match(checkpoints[0].summary, /REFINED/);
    assert.equal(checkpoints[0].fromHook, true);
    assert.deepEqual([warnings, thrown], [[], []]);
  });

  test("one that fails is pi's own, with a warning", async () => {
    assertLeftToPi(await prompted({ steps: chosenDoes(REFUSED) }));
  });

  test("so is one before a prompt is sent", async () => {
    assertLeftToPi(await prompted({ steps: chosenDoes(REFUSED), change: filled }));
  });
});

/** @param {Awaited<ReturnType<Awaited<ReturnType<import("./support/pi-guest.mjs").Guest["visit"]>>["seen"]>>} seen */
function assertLeftToPi({ checkpoints, notified, warnings, ledger, thrown }) {
  assert.equal(checkpoints.length, 1);
  assert.match(checkpoints[0].summary, /^STOCK/);
  assert.equal(checkpoints[0].fromHook ?? false, false);
  assert.equal(warnings.length, 1, JSON.stringify(notified));
  const text = "failed: summary_provider, so pi compacts by itself";
  assert.deepEqual(ledger.at(-1), { step: "failed", text });
  assert.match(
    warnings[0],
    /wrote no checkpoint \(summary_provider\), so pi compacts by itself: .*\n401.*says no/,
  );
  assert.deepEqual(
    notified.filter(({ notifyType }) => notifyType === "error"),
    [],
  );
  assert.deepEqual(thrown, []);
}

/** A session whose last reply reports a full context. @param {string} text */
function filled(text) {
  const lines = text.trimEnd().split("\n");
  const entries = lines.map((line) => JSON.parse(line));
  const { message } = entries.findLast((entry) => entry.message?.role === "assistant");
  Object.assign(message, { provider: "fake", model: "chat", api: "openai-completions" });
  Object.assign(message.usage, {
    input: 190_000,
    output: 10,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 190_010,
  });
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
}
