import assert from "node:assert/strict";
import test from "node:test";
import * as native from "../index.js";
import { prepared } from "./support/model.mjs";
import { frozen, random } from "./support/random.mjs";
import { modelOf, numbered, refined, turns } from "./support/refine.mjs";

/** @type {any} */
const { parseRefineSettings: parse } = native;
const COUNTS = frozen(["maxPromptTokens", "maxOutputTokens", "summaryCeilingTokens"]);
const FIELDS = frozen([...COUNTS, "charsPerToken"]);
const GOOD = frozen({
  maxPromptTokens: 20_000,
  maxOutputTokens: 4_096,
  summaryCeilingTokens: 0,
  charsPerToken: 1.5,
});

const THROWS = () => {
  throw new Error("a getter of the host");
};
/** What no setting can be. @type {[string, any][]} */
const NEVER = [
  ["null", null],
  ["a text", "5"],
  ["an empty text", ""],
  ["true", true],
  ["false", false],
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
  ["negative", -1],
  ["a bigint", 5n],
  ["a symbol", Symbol("5")],
  ["a list", [5]],
  ["an object", { valueOf: () => 5 }],
  ["a boxed number", Object(5)],
  ["a function", () => 5],
  ["a date", new Date(5)],
];
const NO_COUNT = /** @type {[string, any][]} */ ([
  ...NEVER,
  ["a fraction", 1.5],
  ["beyond what is exact", 2 ** 53],
]);
const NO_RATIO = /** @type {[string, any][]} */ ([...NEVER, ["zero", 0]]);

/** What is said of a value, checked for its form. @param {unknown} value */
function told(value) {
  const answer = parse(value);
  assert.deepEqual(Object.keys(answer).sort(), ["problems", "settings"]);
  assert.ok(Array.isArray(answer.problems));
  for (const problem of answer.problems) {
    assert.deepEqual(Object.keys(problem).sort(), ["expected", "field"]);
    assert.equal(typeof problem.field, "string");
    assert.ok(problem.expected.length > 3, `"${problem.expected}" says too little`);
  }
  for (const [field, setting] of Object.entries(answer.settings)) {
    assert.ok(FIELDS.includes(field), field);
    const valid = field === "charsPerToken" ? setting > 0 && Number.isFinite(setting) : setting >= 0;
    assert.ok(valid && (field === "charsPerToken" || Number.isSafeInteger(setting)), `${field}: ${setting}`);
  }
  return answer;
}

/** The fields that are complained of. @param {any} answer */
const fieldsOf = ({ problems }) => problems.map((/** @type {any} */ { field }) => field);

test("D101 D104 settings that are right are taken as they are", () => {
  assert.deepEqual(told(GOOD), { settings: GOOD, problems: [] });
  assert.deepEqual(told({}), { settings: {}, problems: [] });
  for (const field of FIELDS) {
    const one = { [field]: GOOD[/** @type {keyof typeof GOOD} */ (field)] };
    assert.deepEqual(told(one), { settings: one, problems: [] });
  }
  for (const field of COUNTS) {
    for (const count of [0, 1, Number.MAX_SAFE_INTEGER]) {
      assert.deepEqual(told({ [field]: count }), { settings: { [field]: count }, problems: [] });
    }
  }
  for (const charsPerToken of [0.1, 1.5, 3, 4, 1_000]) {
    assert.deepEqual(told({ charsPerToken }), { settings: { charsPerToken }, problems: [] });
  }
});

test("D100 what is left out is left out, undefined too", () => {
  const left = Object.fromEntries(FIELDS.map((field) => [field, undefined]));
  assert.deepEqual(told(left), { settings: {}, problems: [] });
  assert.deepEqual(Object.keys(told(left).settings), []);
});

for (const field of FIELDS) {
  for (const [title, value] of field === "charsPerToken" ? NO_RATIO : NO_COUNT) {
    test(`D98 D102 ${field}: ${title} is reported and left to the formula, the others hold`, () => {
      const { settings, problems } = told({ ...GOOD, [field]: value });
      const { [field]: _, ...rest } = /** @type {Record<string, number>} */ ({ ...GOOD });
      assert.deepEqual(settings, rest);
      assert.deepEqual(fieldsOf({ problems }), [field]);
      assert.deepEqual(fieldsOf(told({ [field]: value })), [field]);
    });
  }
}

test("D102 each of several bad values is reported, once", () => {
  const bad = Object.fromEntries(FIELDS.map((field) => [field, -1]));
  const answer = told(bad);
  assert.deepEqual(answer.settings, {});
  assert.deepEqual(fieldsOf(answer).sort(), [...FIELDS].sort());
});

test("D96 D99 D102 D103 an unknown key is reported by its name", () => {
  const unknown = [
    "maxprompttokens",
    "MaxPromptTokens",
    "ratio",
    "reserveTokens",
    "safetyBudget",
    "retries",
    "model",
    "",
    " ",
    "constructor",
  ];
  for (const key of [...unknown, "toString", "hasOwnProperty", "ключ", "a\nb", "0"]) {
    const answer = told({ ...GOOD, [key]: 5 });
    assert.deepEqual(answer.settings, GOOD, key);
    assert.deepEqual(fieldsOf(answer), [key]);
  }
  const answer = told(JSON.parse('{"__proto__": {"maxPromptTokens": 5}, "charsPerToken": 2}'));
  assert.deepEqual(answer.settings, { charsPerToken: 2 });
  assert.deepEqual(fieldsOf(answer), ["__proto__"]);
  assert.equal(/** @type {any} */ ({}).maxPromptTokens, undefined);
});

test("D27 D102 a value that is no object is reported with an empty field", () => {
  const values = [
    null,
    5,
    Number.NaN,
    "text",
    "",
    "{}",
    true,
    false,
    5n,
    Symbol("x"),
    [],
    [GOOD],
    () => GOOD,
  ];
  for (const value of values) {
    const answer = told(value);
    assert.deepEqual(answer.settings, {}, String(typeof value));
    assert.deepEqual(fieldsOf(answer), [""], String(typeof value));
  }
  assert.deepEqual(told(undefined).settings, {});
});

test("an object without a prototype is as good as any", () => {
  const bare = Object.assign(Object.create(null), GOOD);
  assert.deepEqual({ ...told(bare).settings }, GOOD);
});

test("a getter that throws is a bad value of its field, and nothing is thrown", () => {
  for (const field of FIELDS) {
    const hostile = Object.defineProperty({ ...GOOD }, field, { get: THROWS, enumerable: true });
    const answer = told(hostile);
    const { [field]: _, ...rest } = /** @type {Record<string, number>} */ ({ ...GOOD });
    assert.deepEqual(answer.settings, rest);
    assert.deepEqual(fieldsOf(answer), [field]);
  }
  const all = Object.defineProperties(
    {},
    Object.fromEntries(FIELDS.map((field) => [field, { get: THROWS, enumerable: true }])),
  );
  assert.deepEqual(fieldsOf(told(all)).sort(), [...FIELDS].sort());
});

test("a getter that answers otherwise each time never gets a bad value in", () => {
  for (const second of [-1, "5", Number.NaN, undefined]) {
    let reads = 0;
    const shifty = Object.defineProperty({}, "maxPromptTokens", {
      enumerable: true,
      get: () => (reads++ === 0 ? 5 : second),
    });
    assert.deepEqual(told(shifty), { settings: { maxPromptTokens: 5 }, problems: [] });
  }
});

test("settings that come out are the caller's own to keep: a plain copy", () => {
  const given = { maxPromptTokens: 5 };
  const { settings } = told(given);
  given.maxPromptTokens = -1;
  assert.deepEqual(settings, { maxPromptTokens: 5 });
  assert.notEqual(settings, given);
});

const TRAPS = /** @type {const} */ (["get", "has", "ownKeys", "getOwnPropertyDescriptor", "getPrototypeOf"]);

test("hostile proxies: nothing is thrown, and what was lost is reported", () => {
  for (const trap of TRAPS) {
    const answer = told(new Proxy({ ...GOOD }, { [trap]: THROWS }));
    const lost = FIELDS.length - Object.keys(answer.settings).length;
    if (lost > 0) assert.ok(answer.problems.length > 0, `${trap}: ${lost} settings lost in silence`);
  }
  const every = Object.fromEntries(TRAPS.map((trap) => [trap, THROWS]));
  assert.deepEqual(told(new Proxy({ ...GOOD }, every)).settings, {});
  assert.ok(told(new Proxy({ ...GOOD }, every)).problems.length > 0);
  const { proxy, revoke } = Proxy.revocable({ ...GOOD }, {});
  revoke();
  assert.ok(told(proxy).problems.length > 0);
  assert.deepEqual(told(proxy).settings, {});
  assert.deepEqual(told(new Proxy({ ...GOOD }, {})), { settings: GOOD, problems: [] });
});

test("what is thrown at it may be anything", () => {
  for (const thrown of [undefined, null, 5, "text", Symbol("x"), Object.create(null)]) {
    const get = () => {
      throw thrown;
    };
    const answer = told(Object.defineProperty({}, "charsPerToken", { get, enumerable: true }));
    assert.deepEqual(fieldsOf(answer), ["charsPerToken"]);
  }
});

/** Keys and values of any kind. @param {number} seed */
function anySettings(seed) {
  const rng = random(seed);
  const value = () => rng.pick([...NO_COUNT.map(([, odd]) => odd), 0, 7, 2.5, 3, undefined]);
  const key = () => rng.pick([...FIELDS, "other", "maxTokens", "1"]);
  return Object.fromEntries(rng.list(0, 6, () => [key(), value()]));
}

test("D27 nothing is silent: each key is taken, left out as undefined, or reported", () => {
  for (let seed = 0; seed < 2_000; seed++) {
    const given = /** @type {Record<string, unknown>} */ (anySettings(seed));
    const answer = told(given);
    const reported = fieldsOf(answer);
    assert.equal(new Set(reported).size, reported.length, `seed ${seed}`);
    for (const [key, value] of Object.entries(given)) {
      const taken = Object.hasOwn(answer.settings, key);
      if (taken) assert.equal(answer.settings[key], value, `seed ${seed}: never a guess`);
      const silent = value === undefined && FIELDS.includes(key);
      assert.equal(reported.includes(key), !taken && !silent, `seed ${seed}: ${key}`);
    }
  }
});

test("a run takes what was parsed, and refuses what would have been reported", async () => {
  const preparation = prepared(turns(3, 99));
  const by = () => modelOf(numbered(), { contextWindow: 32_768 });
  const { settings } = parse({ maxOutputTokens: 777, summaryCeilingTokens: -1, other: 1 });
  const { result, calls } = await refined(by(), preparation, { refine: settings });
  assert.equal(calls[0].options.maxTokens, 777);
  assert.equal(result.details.budgets.maxOutputTokens, 777);
  for (const field of FIELDS) {
    for (const value of [-1, Number.NaN, "5", {}]) {
      const { error, calls: made } = await refined(by(), preparation, { refine: { [field]: value } });
      assert.equal(error?.code, "invalid_argument", `${field}: ${String(value)}`);
      assert.ok(error.message.includes(field), error.message);
      assert.equal(made.length, 0);
    }
  }
  for (const refine of [5, "x", true]) {
    const { error } = await refined(by(), preparation, { refine });
    assert.equal(error?.code, "invalid_argument");
  }
});

test("D33 an answer beyond the window's headroom is used as it is, with a warning", async () => {
  const by = modelOf(numbered(), { contextWindow: 32_768, maxTokens: 4_000 });
  const refine = { maxOutputTokens: 15_385 };
  const { calls, events, error } = await refined(by, prepared(turns(3, 99)), { refine });
  assert.equal(error, undefined);
  assert.equal(calls[0].options.maxTokens, 15_385);
  const warnings = events.filter(({ type }) => type === "warning").map(({ message }) => message);
  assert.ok(
    warnings.some((message) => message.includes("maxOutputTokens")),
    `${warnings}`,
  );
  const { events: quiet } = await refined(by, prepared(turns(3, 99)), {
    refine: { maxOutputTokens: 15_384 },
  });
  assert.ok(!quiet.some(({ type, message }) => type === "warning" && message.includes("maxOutputTokens")));
});
