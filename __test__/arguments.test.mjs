import assert from "node:assert/strict";
import test from "node:test";
import * as native from "../index.js";
import { frozen } from "./support/random.mjs";
import { userOfTokens } from "./support/sound.mjs";

const user = { role: "user", content: "text" };
const preparation = frozen({ messagesToSummarize: [user], turnPrefixMessages: [], isSplitTurn: false });
const budget = frozen({ hardLimit: 168_000, requestHeadroom: 32_000 });
const summarizer = frozen({ kind: "extractive" });

// The typings refuse all of this; a host in plain JavaScript has no typings.
/** @type {any} */
const { compactionSummaryWouldExceedBudget: guard, ...loose } = native;

const NO_COUNT = [Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY, "100", null, {}, 5n, 2 ** 53];
const NO_RATIO = [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "4", {}];
const NO_LIST = [undefined, null, 5, "messages", {}, new Set([user])];
const NO_MESSAGE = [null, undefined, 5, "user", true];
const NO_OBJECT = [null, 5, "x", true];

/** A refusal names the argument and says what was expected. @param {string} named */
function refusal(named) {
  return (/** @type {any} */ error) => {
    assert.ok(error instanceof native.CompactionError, `${error}`);
    assert.equal(error.code, "invalid_argument");
    assert.ok(error.message.includes(named), `"${error.message}" does not name ${named}`);
    assert.ok(error.message.length > named.length + 10, `"${error.message}" says too little`);
    return true;
  };
}

/**
 * A test per function: each bad value in its place is refused.
 *
 * @param {string} title @param {string} named @param {readonly unknown[]} values @param {(value: any) => unknown} call
 */
function refuses(title, named, values, call) {
  test(`${title} refuses a bad ${named}`, async () => {
    for (const value of values) {
      await assert.rejects(async () => call(value), refusal(named), `${typeof value} ${String(value)}`);
    }
  });
}

refuses("guard", "preparation", [...NO_OBJECT, undefined], (value) => guard(value, budget));
refuses("guard", "messagesToSummarize", NO_LIST, (value) => guard({ messagesToSummarize: value }, budget));
refuses("guard", "turnPrefixMessages", [5, "x", {}], (value) =>
  guard({ ...preparation, isSplitTurn: true, turnPrefixMessages: value }, budget),
);
refuses("guard", "previousSummary", [5, {}, ["x"]], (value) =>
  guard({ ...preparation, previousSummary: value }, budget),
);
refuses("guard", "budget", [...NO_OBJECT, undefined], (value) => guard(preparation, value));
for (const limit of ["hardLimit", "requestHeadroom"]) {
  refuses("guard", limit, [...NO_COUNT, undefined], (value) =>
    guard(preparation, { ...budget, [limit]: value }),
  );
  refuses("generateCompaction", limit, [...NO_COUNT, undefined], (value) =>
    loose.generateCompaction({ preparation, budget: { ...budget, [limit]: value }, summarizer }),
  );
}
refuses("guard", "summaryModel", [5, "x", true], (value) => guard(preparation, budget, value));
refuses("guard", "options", [5, "x", true], (value) => guard(preparation, budget, undefined, value));
for (const limit of ["contextWindow", "maxTokens", "maxInputTokens"]) {
  const odd = [Number.NaN, -1, 1.5, "100", {}];
  refuses("contextBudget", limit, odd, (value) => loose.contextBudget({ [limit]: value }));
  refuses("guard", limit, odd, (value) => guard(preparation, budget, { [limit]: value }));
}
refuses("contextBudget", "model", [...NO_OBJECT, undefined], (value) => loose.contextBudget(value));

/** Every function that takes sizing options. @type {Record<string, (options: any) => unknown>} */
const SIZED = {
  guard: (options) => guard(preparation, budget, {}, options),
  estimateSummaryPromptTokens: (options) => loose.estimateSummaryPromptTokens(preparation, options),
  serializeConversation: (options) => loose.serializeConversation([user], options),
  estimateTokens: (options) => loose.estimateTokens(user, options),
  estimateContextTokens: (options) => loose.estimateContextTokens([user], options),
  findCut: (options) => loose.findCut([user], 5, options),
  buildRetainedTail: (options) => loose.buildRetainedTail([user], 5, options),
  planChunks: (options) => loose.planChunks(preparation, { promptLimit: 1_000, ...options }),
  generateCompaction: (options) => loose.generateCompaction({ preparation, budget, summarizer, ...options }),
};
for (const [name, call] of Object.entries(SIZED)) {
  if (name !== "serializeConversation") {
    refuses(name, "charsPerToken", NO_RATIO, (charsPerToken) => call({ charsPerToken }));
  }
  refuses(name, "dialect", ["pi-2", "", "PI-0.87", 5, {}, "toString"], (dialect) => call({ dialect }));
  test(`${name} takes undefined options as absent`, async () => {
    const absent = { charsPerToken: undefined, dialect: undefined };
    assert.deepEqual(await call(absent), await call({}));
  });
}

/** Every function that takes a list of messages. @type {Record<string, (messages: any) => unknown>} */
const LISTED = {
  serializeConversation: (messages) => loose.serializeConversation(messages),
  estimateContextTokens: (messages) => loose.estimateContextTokens(messages),
  findCut: (messages) => loose.findCut(messages, 5),
  buildRetainedTail: (messages) => loose.buildRetainedTail(messages, 5),
};
/** Every function that takes a summary input. @type {Record<string, (messages: any) => unknown>} */
const INPUTS = {
  guard: (messagesToSummarize) => guard({ messagesToSummarize }, budget),
  estimateSummaryPromptTokens: (list) => loose.estimateSummaryPromptTokens({ messagesToSummarize: list }),
  reduceSummaryInput: (messagesToSummarize) => loose.reduceSummaryInput({ messagesToSummarize }),
  planChunks: (messagesToSummarize) => loose.planChunks({ messagesToSummarize }, { promptLimit: 1_000 }),
  generateCompaction: (list) =>
    loose.generateCompaction({ preparation: { messagesToSummarize: list }, budget, summarizer }),
};
for (const [name, call] of Object.entries(LISTED)) refuses(name, "messages", NO_LIST, call);
for (const [name, call] of Object.entries(INPUTS)) refuses(name, "messagesToSummarize", NO_LIST, call);
for (const [name, call] of Object.entries({ ...LISTED, ...INPUTS })) {
  refuses(`${name}: a message`, "[2]", NO_MESSAGE, (odd) => call([user, user, odd]));
}
refuses("estimateTokens", "message", NO_MESSAGE, (message) => loose.estimateTokens(message));
refuses("findCut", "keepRecentTokens", [...NO_COUNT, undefined], (keep) => loose.findCut([user], keep));
refuses("buildRetainedTail", "maxTokens", [...NO_COUNT, undefined], (most) =>
  loose.buildRetainedTail([user], most),
);
refuses("buildRetainedTail", "retentionMode", ["other", 5, {}], (retentionMode) =>
  loose.buildRetainedTail([user], 5, { retentionMode }),
);
refuses("estimateContextTokens", "afterIndex", [-2, 1.5, Number.NaN, "0", {}], (afterIndex) =>
  loose.estimateContextTokens([user], { afterIndex }),
);
refuses("planChunks", "options", [...NO_OBJECT, undefined], (options) =>
  loose.planChunks(preparation, options),
);
refuses("planChunks", "promptLimit", [...NO_COUNT, undefined], (promptLimit) =>
  loose.planChunks(preparation, { promptLimit }),
);
for (const count of ["reserve", "maxChunks", "minChunks"]) {
  refuses("planChunks", count, [Number.NaN, -1, 1.5, "3", {}], (value) =>
    loose.planChunks(preparation, { promptLimit: 1_000, [count]: value }),
  );
}
refuses("planChunks", "boundary", ["line", 5, {}], (boundary) =>
  loose.planChunks(preparation, { promptLimit: 1_000, boundary }),
);
refuses("planChunks", "customInstructions", [5, {}], (customInstructions) =>
  loose.planChunks(preparation, { promptLimit: 1_000, customInstructions }),
);
refuses("planChunks", "prompts", [5, "x"], (prompts) =>
  loose.planChunks(preparation, { promptLimit: 1_000, prompts }),
);
refuses("generateCompaction", "request", [...NO_OBJECT, undefined], (request) =>
  loose.generateCompaction(request),
);
refuses("generateCompaction", "preparation", [...NO_OBJECT, undefined], (value) =>
  loose.generateCompaction({ preparation: value, budget, summarizer }),
);
refuses("generateCompaction", "summarizer", [...NO_OBJECT, undefined, {}, { kind: "other" }], (value) =>
  loose.generateCompaction({ preparation, budget, summarizer: value }),
);
refuses(
  "generateCompaction",
  "maxSummaryChars",
  [255, 0, -1, 300.5, Number.NaN, "400", {}],
  (maxSummaryChars) =>
    loose.generateCompaction({ preparation, budget, summarizer: { kind: "extractive", maxSummaryChars } }),
);
refuses("generateCompaction", "signal", [5, "x", {}], (signal) =>
  loose.generateCompaction({ preparation, budget, summarizer, signal }),
);

test("generateCompaction rejects, it never throws", () => {
  for (const request of [undefined, null, {}, { preparation: 5 }]) {
    const promise = loose.generateCompaction(request);
    assert.ok(promise instanceof Promise);
    promise.catch(() => {});
  }
});

test("A42 a turn prefix beside isSplitTurn false is not looked at", () => {
  for (const isSplitTurn of [undefined, false]) {
    const odd = { messagesToSummarize: [user], isSplitTurn, turnPrefixMessages: null };
    assert.equal(guard(odd, budget), false);
  }
});

test("G11 no room: the guard answers true and never throws, planChunks and generateCompaction say summary_budget", async () => {
  const input = frozen({ messagesToSummarize: [userOfTokens(3_000)], previousSummary: "p".repeat(8_000) });
  const code = { name: "CompactionError", code: "summary_budget" };
  for (const promptLimit of [0, 1, 1_000, 2_000])
    assert.throws(() => loose.planChunks(input, { promptLimit }), code);
  const customInstructions = "i".repeat(4 * 12_048);
  const tight = { promptLimit: 12_000, customInstructions };
  assert.throws(() => loose.planChunks(input, tight), code, "instructions beyond the margin take all of it");
  for (const limits of [
    { hardLimit: 0, requestHeadroom: 0 },
    { hardLimit: 1, requestHeadroom: 1 },
    { hardLimit: 2_000, requestHeadroom: 40 },
  ]) {
    assert.equal(guard(input, limits), true);
    const request = { preparation: input, budget: limits, summarizer };
    await assert.rejects(loose.generateCompaction(request), code);
  }
  assert.equal(guard(input, budget, {}, { customInstructions: "i".repeat(900_000) }), true);
});

test("an error holds no text of the transcript", () => {
  const secret = "s3cret-words";
  const input = {
    messagesToSummarize: [{ role: "user", content: secret.repeat(500) }],
    previousSummary: secret,
  };
  assert.throws(
    () => loose.planChunks(input, { promptLimit: 1 }),
    (/** @type {any} */ error) =>
      !JSON.stringify(error).includes(secret) && !String(error.stack).includes(secret),
  );
});

test("JSON of an error: name, code, message", () => {
  try {
    loose.findCut([user], -1);
    assert.fail("not refused");
  } catch (error) {
    const { name, code, message } = /** @type {any} */ (error);
    const shown = JSON.parse(JSON.stringify(error));
    assert.deepEqual([shown.name, shown.code, shown.message], [name, code, message]);
    assert.ok(!("cause" in shown) && !("stack" in shown));
  }
});
