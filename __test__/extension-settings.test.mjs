// The settings file: read at each compaction, each setting for itself, and what is wrong with it is told.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import test, { before } from "node:test";
import { refineBudgets } from "../index.js";
import { guestOf } from "./support/pi-guest.mjs";
import { MODELS, PACKAGE, SMALL } from "./support/pi-home.mjs";
import { inEachPi } from "./support/pi-hosts.mjs";

const [MAIN, SUMMARY] = MODELS;
/** pi's own setting, which is not 16,384 here. */
const RESERVE = 12_000;
/** Each usable, and unlike what the formulas give. */
const SETTINGS = {
  maxPromptTokens: 10_000,
  maxOutputTokens: 1_800,
  summaryCeilingTokens: 900,
  charsPerToken: 4,
};

/** What a value that cannot be used is told to be. @type {[field: string, value: unknown, expected: RegExp][]} */
const UNUSABLE = [
  ["maxPromptTokens", -1, /integer/],
  ["maxOutputTokens", 1.5, /integer/],
  ["summaryCeilingTokens", "many", /integer/],
  ["charsPerToken", 0, /above 0/],
  ["max_prompt_tokens", 9_000, /./],
  ["ratio", 3, /./],
  ["chunkBudget", 9_000, /./],
  ["reserveTokens", 9_000, /./],
];

/** Files that cannot be used, and what is told of each. @type {[name: string, text: string, told: RegExp][]} */
const BROKEN = [
  ["no JSON", "{", /is not valid JSON/],
  ["a list", "[]", /expected an object/],
  ["a model that is a number", '{"model": 7}', /model: expected null, "session" or "provider\/id"/],
  ["a model without its provider", '{"model": "small"}', /model: expected null, "session" or "provider\/id"/],
  ["a file of a megabyte", `{"model": null${" ".repeat(1e6)}}`, /is larger than 65536 bytes/],
];

inEachPi((host, scope) => {
  /** @type {import("./support/pi-guest.mjs").Guest} */
  let guest;
  before(async () => {
    const home = { compaction: { reserveTokens: RESERVE } };
    guest = await guestOf(scope, host, home, { extensions: [PACKAGE] });
  });

  /** A run by the small model. @param {object} settings */
  async function by(settings) {
    const outcome = await guest.compact({ chosen: { model: SMALL, ...settings } });
    assert.equal(outcome.answer.success, true, JSON.stringify(outcome.answer));
    assert.deepEqual(outcome.thrown, []);
    const [{ details }] = outcome.checkpoints;
    return { ...outcome, details };
  }

  test("D26 D89 D100 D101 D104 D105 each setting beats its own formula and no other", async () => {
    const singles = Object.entries(SETTINGS).map(([name, value]) => ({ [name]: value }));
    for (const settings of [{}, ...singles, SETTINGS]) {
      const { details, warnings } = await by(settings);
      assert.deepEqual(details.budgets, budgetsOf(settings), JSON.stringify(settings));
      assert.deepEqual(warnings, []);
    }
  });

  test("D79 D95 a ceiling and the size of a token are heard of by the run", async () => {
    const long = [({ prompt }) => (prompt.includes("<conversation>") ? "word ".repeat(1_000) : "SHORT")];
    const visit = { chosen: { model: SMALL, summaryCeilingTokens: 900 }, steps: long };
    const { checkpoints } = await guest.compact(visit);
    assert.ok(checkpoints[0].details.shrinkCount > 0, "D79");
    const [english, chinese] = [await by({ charsPerToken: 4 }), await by({ charsPerToken: 1.5 })];
    assert.ok(english.requests.length < chinese.requests.length, "D95");
  });

  test("D33 an answer's allowance is used as it is, with a warning above the headroom", async () => {
    const quiet = await by({ maxOutputTokens: 9_000 });
    assert.equal(quiet.requests[0].maxTokens, 9_000, "above what the model states");
    const { requests, warnings, ledger } = await by({ maxOutputTokens: 16_000 });
    assert.equal(requests[0].maxTokens, 16_000);
    assert.equal(warnings.length, 1, JSON.stringify(warnings));
    assert.match(warnings[0], /maxOutputTokens/);
    assert.equal(ledger.filter(({ step }) => step === "warning").length, 1);
  });

  test("D27 D98 D99 D102 D103 what cannot be used is told and ignored", async () => {
    const wrong = Object.fromEntries(UNUSABLE);
    const { details, warnings } = await by(wrong);
    assert.deepEqual(details.budgets, budgetsOf({}), "D102 the formulas hold");
    assert.equal(warnings.length, UNUSABLE.length, JSON.stringify(warnings));
    for (const [field, , expected] of UNUSABLE) {
      const told = warnings.find((/** @type {string} */ words) => words.includes(` ${field}: expected `));
      assert.match(told ?? "", expected, field);
      assert.match(told, /^refine-compact: pi-compaction-native\.json .*; ignored\.$/);
    }
    const mixed = await by({ maxPromptTokens: -1, charsPerToken: 4 });
    assert.deepEqual(mixed.details.budgets, budgetsOf({ charsPerToken: 4 }), "the others hold");
    assert.equal(mixed.warnings.length, 1);
  });

  test("D7 a change of the file holds from the next compaction on", async () => {
    const { home, pi } = guest;
    const { seen } = await guest.visit({ chosen: { model: SMALL, maxPromptTokens: 8_000 }, steps: FAILS });
    assert.equal((await pi.ask({ type: "compact" })).success, false);
    const asked = home.requests.length;
    home.choose({ model: "session", maxPromptTokens: 12_000 });
    home.script(["SUMMARY"]);
    assert.equal((await pi.ask({ type: "compact" })).success, true);
    const models = new Set(home.requests.slice(asked).map(({ json }) => json.model));
    assert.deepEqual([...models], ["chat"]);
    assert.equal(seen().checkpoints[0].details.budgets.maxPromptTokens, 12_000);
  });

  for (const [name, text, told] of BROKEN) {
    test(`D102 ${name}: told, and pi compacts by itself`, async () => {
      assertTold(await guest.compact({ chosen: text }), told);
    });
  }

  test("D102 a folder in the file's place: told, and pi compacts by itself", async () => {
    const { home, pi } = guest;
    const { seen } = await guest.visit();
    mkdirSync(home.settings);
    const answer = await pi.ask({ type: "compact" });
    assertTold({ answer, ...seen() }, /is no file/);
  });
});

const FAILS = [{ status: 401, body: { error: { message: "no" } } }];

/** What the formulas give for the two models. @param {object} settings */
function budgetsOf(settings) {
  return refineBudgets({ mainModel: MAIN, summaryModel: SUMMARY, reserveTokens: RESERVE, settings });
}

/** @param {Pick<import("./support/pi-guest.mjs").Outcome, "answer" | "checkpoints" | "warnings" | "ledger" | "thrown">} outcome @param {RegExp} told */
function assertTold({ answer, checkpoints, warnings, ledger, thrown }, told) {
  assert.equal(answer.success, true);
  assert.equal(checkpoints[0].fromHook ?? false, false);
  assert.equal(warnings.length, 1, JSON.stringify(warnings));
  assert.match(warnings[0], told);
  assert.match(warnings[0], /^refine-compact: pi-compaction-native\.json .*; pi compacts by itself\.$/);
  assert.deepEqual(ledger, [{ step: "stock", text: warnings[0].replace("refine-compact: ", "") }]);
  assert.deepEqual(thrown, []);
}
