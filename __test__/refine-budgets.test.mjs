import assert from "node:assert/strict";
import test from "node:test";
import * as native from "../index.js";
import { conversationOf, prepared, previousOf } from "./support/model.mjs";
import { frozen, random } from "./support/random.mjs";
import { modelOf, numbered, refined, turns } from "./support/refine.mjs";

/** @type {any} */
const { refineBudgets: budgetsOf, CompactionError } = native;
const MAIN = frozen({ contextWindow: 200_000 });

/** Vectors F2: window, ratio, safety, prompt, ceiling of an answer, answer, ceiling of the summary, chunk before D24. */
const F2 = frozen([
  [4_096, 49, 8_000, 2_048, 1_048, 1_048, 628, 4_000],
  [8_192, 25, 8_000, 4_096, 3_096, 3_096, 1_857, 4_269],
  [16_384, 13, 8_000, 8_192, 7_192, 7_192, 4_096, 8_000],
  [32_768, 7, 12_288, 16_384, 15_384, 13_107, 7_864, 12_288],
  [65_536, 4, 36_864, 32_768, 31_768, 13_107, 7_864, 36_864],
  [131_072, 2, 50_000, 58_192, 71_880, 13_107, 7_864, 50_000],
  [200_000, 1, 50_000, 58_192, 140_808, 13_107, 7_864, 50_000],
  [1_000_000, 1, 50_000, 58_192, 940_808, 13_107, 7_864, 50_000],
]);

/** Units of a request beyond record and running summary, as it is sent. @param {object} options @param {object} more */
async function overheadUnits(options, more = {}) {
  const by = modelOf(numbered(30), { contextWindow: 200_000, maxTokens: 32_000 });
  const { calls } = await refined(by, prepared(turns(2, 90), more), options);
  const [{ system, prompt }] = calls;
  return system.length + prompt.length - conversationOf(prompt).length - (previousOf(prompt) ?? "").length;
}

/** @param {any} budgets without the chunk's */
function others({ chunkBudget, ...rest }) {
  return rest;
}

for (const [window, ratio, safetyBudget, maxPromptTokens, hardCeiling, output, ceiling] of F2) {
  test(`F2 D14 D16 D17 D18 D19 D21 D22 D23 the budgets of a window of ${window}`, () => {
    const budgets = budgetsOf({ mainModel: MAIN, summaryModel: { contextWindow: window } });
    assert.deepEqual(others(budgets), {
      ratio,
      safetyBudget,
      maxPromptTokens,
      hardCeiling,
      maxOutputTokens: output,
      summaryCeilingTokens: ceiling,
    });
    assert.deepEqual(
      budgetsOf({ mainModel: MAIN, summaryModel: { contextWindow: window }, reserveTokens: 16_384 }),
      budgets,
      "D15",
    );
  });
}

for (const options of [{}, { customInstructions: "c".repeat(1_000) }, { charsPerToken: 4 }]) {
  test(`F2 D24 D38 G6 a chunk leaves room for a full summary and all words: ${Object.keys(options)}`, async () => {
    const updating = await overheadUnits(options, { previousSummary: "OLD" });
    const longest = Math.max(updating, await overheadUnits(options));
    for (const [window, , , prompt, , , ceiling, before] of F2) {
      const input = { mainModel: MAIN, summaryModel: { contextWindow: window }, ...options };
      const { chunkBudget } = budgetsOf(input);
      const room = (/** @type {number} */ around) =>
        Math.max(0, Math.min(before, prompt - ceiling - Math.ceil(around / (options.charsPerToken ?? 3))));
      assert.ok(chunkBudget <= room(updating), `${window}: ${chunkBudget} of ${room(updating)}`);
      assert.ok(chunkBudget >= Math.max(0, room(longest) - 2), `${window}: ${chunkBudget} wastes some`);
    }
  });
}

test("D31 G6 at a large window a chunk is just under 50,000 tokens", () => {
  for (const contextWindow of [131_072, 200_000, 1_000_000]) {
    const { chunkBudget } = budgetsOf({ mainModel: MAIN, summaryModel: { contextWindow } });
    assert.ok(chunkBudget > 49_000 && chunkBudget <= 50_000, `${chunkBudget}`);
  }
});

test("D38 a previous summary takes from the chunk what the window lacks, down to 4,000", () => {
  // Such settings leave the cap of the prompt out of it, so that D38 alone decides.
  const settings = { maxPromptTokens: 30_000, summaryCeilingTokens: 100 };
  const chunk = (/** @type {number | undefined} */ previousSummaryTokens) =>
    budgetsOf({ summaryModel: { contextWindow: 16_384 }, settings, previousSummaryTokens }).chunkBudget;
  assert.equal(chunk(undefined), 8_000);
  assert.equal(chunk(0), 8_000);
  assert.equal(chunk(5_000), Math.floor((16_384 - 7_500) * 0.75));
  assert.equal(chunk(9_000), 4_000);
  assert.equal(chunk(2 ** 40), 4_000);
});

test("D14 an unknown window is 32,000 tokens", () => {
  const known = budgetsOf({ mainModel: MAIN, summaryModel: { contextWindow: 32_000 } });
  for (const summaryModel of [{}, { contextWindow: 0 }, { contextWindow: undefined }]) {
    assert.deepEqual(budgetsOf({ mainModel: MAIN, summaryModel }), known);
  }
  assert.equal(known.ratio, 7);
  assert.equal(known.maxPromptTokens, 16_000);
  assert.equal(known.safetyBudget, 11_712);
  const summaryModel = { contextWindow: 8_192 };
  for (const mainModel of [undefined, {}, { contextWindow: 0 }]) {
    assert.equal(budgetsOf({ mainModel, summaryModel }).ratio, 4, "32,000 / 8,192");
  }
});

test("D22 the model's own maximum clamps the automatic answer, and with it the ceiling", () => {
  for (const [maxTokens, output, ceiling] of [
    [32_000, 13_107, 7_864],
    [8_192, 8_192, 4_915],
    [4_000, 4_000, 2_400],
    [0, 13_107, 7_864],
    [undefined, 13_107, 7_864],
  ]) {
    const budgets = budgetsOf({ mainModel: MAIN, summaryModel: { contextWindow: 200_000, maxTokens } });
    assert.equal(budgets.maxOutputTokens, output, `${maxTokens}`);
    assert.equal(budgets.summaryCeilingTokens, ceiling, `${maxTokens}`);
  }
});

test("senpi PR#1425 a stated input limit caps the prompt", () => {
  const summaryModel = { contextWindow: 200_000, maxInputTokens: 30_000 };
  const budgets = budgetsOf({ mainModel: MAIN, summaryModel });
  assert.equal(budgets.maxPromptTokens, 30_000);
  assert.ok(budgets.chunkBudget < 30_000 - budgets.summaryCeilingTokens);
  const wide = budgetsOf({ summaryModel: { contextWindow: 200_000, maxInputTokens: 150_000 } });
  assert.equal(wide.maxPromptTokens, 58_192);
});

/** The formulas as they are written. @param {number} window @param {number} reserve @param {number} main */
function formulas(window, reserve, main) {
  const safetyBudget = Math.min(50_000, Math.max(8_000, Math.floor((window - reserve) * 0.75)));
  const maxPromptTokens = Math.min(Math.floor(window / 2), Math.max(32_000, safetyBudget + 8_192));
  const hardCeiling = Math.max(512, window - maxPromptTokens - 1_000);
  const share = Math.max(2_048, Math.floor((reserve * 8) / 10));
  const maxOutputTokens = hardCeiling < 2_048 ? hardCeiling : Math.min(hardCeiling, share);
  const bounds = [(window * 35) / 100, maxPromptTokens / 2, (maxOutputTokens * 6) / 10];
  const summaryCeilingTokens = Math.floor(Math.min(...bounds));
  const ratio = Math.ceil(main / window);
  return { ratio, safetyBudget, maxPromptTokens, hardCeiling, maxOutputTokens, summaryCeilingTokens };
}

test("D15 D16 D17 D18 D19 D21 D22 D23 D30 D35 D77 the formulas hold for any window and reserve", () => {
  const rng = random(23);
  for (let round = 0; round < 2_000; round++) {
    const contextWindow = Math.floor(10 ** (2 + rng.next() * 4.3));
    const reserveTokens = rng.pick([0, 1, 2_560, 8_000, 16_384, 40_000, 10 ** 7]);
    const main = rng.between(1_000, 2_000_000);
    const input = { mainModel: { contextWindow: main }, summaryModel: { contextWindow }, reserveTokens };
    const budgets = budgetsOf(frozen(input));
    assert.deepEqual(others(budgets), formulas(contextWindow, reserveTokens, main), JSON.stringify(input));
    const { chunkBudget, maxPromptTokens, summaryCeilingTokens } = budgets;
    assert.ok(maxPromptTokens <= contextWindow / 2, "D30 the estimate may be too low by half");
    const added = budgets.maxOutputTokens - summaryCeilingTokens;
    assert.ok(
      added >= Math.floor(budgets.maxOutputTokens * 0.4),
      "D35 D77 a full summary can be written again",
    );
    assert.ok(Number.isInteger(chunkBudget) && chunkBudget >= 0);
    assert.ok(chunkBudget === 0 || chunkBudget + summaryCeilingTokens < maxPromptTokens, "G6");
  }
});

test("G6 a window that is too small leaves nothing for a chunk, and does not throw", () => {
  for (let contextWindow = 1; contextWindow < 3_000; contextWindow += 7) {
    const budgets = budgetsOf({ mainModel: MAIN, summaryModel: { contextWindow } });
    assert.ok(budgets.chunkBudget >= 0 && budgets.chunkBudget < contextWindow / 2);
    assert.ok(budgets.maxPromptTokens <= contextWindow / 2, "the cap wins over every floor");
    assert.ok(Object.values(budgets).every((/** @type {any} */ value) => Number.isInteger(value)));
  }
  const { chunkBudget } = budgetsOf({ mainModel: MAIN, summaryModel: { contextWindow: 1_000 } });
  assert.equal(chunkBudget, 0);
  const custom = { customInstructions: "c".repeat(30_000) };
  assert.equal(budgetsOf({ summaryModel: { contextWindow: 16_384 }, ...custom }).chunkBudget, 0);
});

test("D26 D33 D79 an explicit setting beats its own formula and no other", () => {
  const base = { mainModel: MAIN, summaryModel: { contextWindow: 65_536, maxTokens: 8_000 } };
  const automatic = budgetsOf(base);
  const withSettings = (/** @type {object} */ settings) => others(budgetsOf({ ...base, settings }));
  assert.deepEqual(withSettings({}), others(automatic));
  // What a formula takes from another's result, it takes from the one in force.
  assert.deepEqual(withSettings({ maxPromptTokens: 20_000 }), {
    ...others(automatic),
    maxPromptTokens: 20_000,
    hardCeiling: 44_536,
  });
  assert.deepEqual(withSettings({ maxOutputTokens: 60_000 }), {
    ...others(automatic),
    maxOutputTokens: 60_000,
    summaryCeilingTokens: 16_384,
  });
  assert.deepEqual(withSettings({ maxOutputTokens: 1_000 }), {
    ...others(automatic),
    maxOutputTokens: 1_000,
    summaryCeilingTokens: 600,
  });
  assert.deepEqual(withSettings({ summaryCeilingTokens: 1_234 }), {
    ...others(automatic),
    summaryCeilingTokens: 1_234,
  });
  assert.deepEqual(withSettings({ charsPerToken: 1.5 }), others(automatic));
});

test("D26 the chunk follows an explicit prompt, ceiling and token", () => {
  const base = { mainModel: MAIN, summaryModel: { contextWindow: 65_536 } };
  const chunk = (/** @type {object} */ settings) => budgetsOf({ ...base, settings }).chunkBudget;
  const automatic = chunk({});
  assert.equal(chunk({ maxPromptTokens: 30_768 }), automatic - 2_000);
  assert.equal(chunk({ summaryCeilingTokens: 6_864 }), automatic + 1_000);
  assert.ok(chunk({ charsPerToken: 1.5 }) < automatic, "the same words take more tokens");
  assert.equal(chunk({ maxPromptTokens: 0 }), 0);
  assert.equal(chunk({ summaryCeilingTokens: 10 ** 9 }), 0);
});

test("D25 refine.charsPerToken goes before the request's, 3 before both", () => {
  const summaryModel = { contextWindow: 16_384 };
  const chunk = (/** @type {object} */ more) => budgetsOf({ summaryModel, ...more }).chunkBudget;
  assert.equal(chunk({}), chunk({ charsPerToken: 3 }));
  assert.equal(chunk({ charsPerToken: 4, settings: { charsPerToken: 2 } }), chunk({ charsPerToken: 2 }));
  assert.equal(chunk({ settings: { charsPerToken: 4 } }), chunk({ charsPerToken: 4 }));
  assert.ok(chunk({ charsPerToken: 2 }) < chunk({}) && chunk({}) < chunk({ charsPerToken: 4 }));
});

const NO_COUNT = [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "100", {}, true, 5n, 2 ** 53];

/** @type {[field: string, values: unknown[], inputOf: (value: any) => unknown][]} */
const BAD = [
  ["summaryModel", [undefined, null, 5, "x"], (summaryModel) => ({ summaryModel })],
  ["mainModel", [5, "x", true], (mainModel) => ({ summaryModel: {}, mainModel })],
  ["contextWindow", NO_COUNT, (contextWindow) => ({ summaryModel: { contextWindow } })],
  ["contextWindow", NO_COUNT, (contextWindow) => ({ summaryModel: {}, mainModel: { contextWindow } })],
  ["maxTokens", NO_COUNT, (maxTokens) => ({ summaryModel: { maxTokens } })],
  ["maxInputTokens", NO_COUNT, (maxInputTokens) => ({ summaryModel: { maxInputTokens } })],
  ["reserveTokens", NO_COUNT, (reserveTokens) => ({ summaryModel: {}, reserveTokens })],
  [
    "previousSummaryTokens",
    NO_COUNT,
    (previousSummaryTokens) => ({ summaryModel: {}, previousSummaryTokens }),
  ],
  ["settings", [5, "x", true], (settings) => ({ summaryModel: {}, settings })],
  ...["maxPromptTokens", "maxOutputTokens", "summaryCeilingTokens"].map(
    (field) =>
      /** @type {any} */ ([
        field,
        NO_COUNT,
        (/** @type {any} */ value) => ({ summaryModel: {}, settings: { [field]: value } }),
      ]),
  ),
  ["charsPerToken", [0, -1, Number.NaN, "4", {}], (charsPerToken) => ({ summaryModel: {}, charsPerToken })],
  [
    "charsPerToken",
    [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "4", {}],
    (charsPerToken) => ({ summaryModel: {}, settings: { charsPerToken } }),
  ],
  ["customInstructions", [5, {}], (customInstructions) => ({ summaryModel: {}, customInstructions })],
  ["prompts", [5, "x"], (prompts) => ({ summaryModel: {}, prompts })],
];

for (const [field, values, inputOf] of BAD) {
  test(`D98 a bad ${field} is refused by name`, () => {
    for (const value of values) {
      assert.throws(
        () => budgetsOf(inputOf(value)),
        (/** @type {any} */ error) => {
          assert.ok(error instanceof CompactionError, `${String(value)}: ${error}`);
          assert.equal(error.code, "invalid_argument");
          assert.ok(error.message.includes(field), `"${error.message}" does not name ${field}`);
          return true;
        },
        `${typeof value} ${String(value)} is taken`,
      );
    }
  });
}

test("an input that is none is refused", () => {
  for (const value of [undefined, null, 5, "x"]) {
    assert.throws(() => budgetsOf(value), { name: "CompactionError", code: "invalid_argument" });
  }
});

test("D89 the budgets of a run are those of its models, reserve, previous summary and settings", async () => {
  const limits = { contextWindow: 32_768, maxTokens: 9_000 };
  const previousSummary = "p".repeat(3_001);
  const [refine, customInstructions] = [{ maxOutputTokens: 5_000 }, "Keep numbers."];
  const settings = { reserveTokens: 9_000 };
  const { result } = await refined(
    modelOf(numbered(), limits),
    prepared(turns(4, 99), { previousSummary, settings }),
    {
      mainModel: MAIN,
      refine,
      customInstructions,
    },
  );
  const input = { mainModel: MAIN, summaryModel: limits, reserveTokens: 9_000, customInstructions };
  const expected = budgetsOf({ ...input, previousSummaryTokens: 1_001, settings: refine });
  assert.deepEqual(result.details.budgets, expected);
  const byBudget = await refined(modelOf(numbered(), limits), prepared(turns(4, 99)), {
    budget: { hardLimit: 150_000, requestHeadroom: 50_000 },
  });
  assert.equal(byBudget.result.details.budgets.ratio, 7, "the main window is the budget's own by default");
});
