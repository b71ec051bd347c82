import assert from "node:assert/strict";
import test from "node:test";
import * as native from "../index.js";
import { conversationOf, prepared, previousOf, says, sentTokens } from "./support/model.mjs";
import { random } from "./support/random.mjs";
import {
  chunkCalls,
  eventsOf,
  isCompression,
  lineage,
  marksOf,
  modelOf,
  recordOf,
  refined,
  turns,
  upTo,
} from "./support/refine.mjs";
import { markedTranscript, simulated, temper } from "./support/simulated.mjs";
import { soundTranscript } from "./support/sound.mjs";
import { wildTranscript } from "./support/transcripts.mjs";

/** @type {any} */
const { refineBudgets, CompactionError, Transcript } = native;
const ROUNDS = 64;
const SEEDS = 128;
const WINDOWS = [4_096, 5_000, 8_192, 12_000, 16_384, 32_768, 65_536, 131_072, 200_000, 1_000_000];
/** How a run may end without a summary, and what must have happened before. */
const ENDS = [
  "summary_budget",
  "summary_incomplete",
  "summary_empty",
  "summary_provider",
  "context_overflow",
];

/** The limits and settings of one case. @param {import("./support/random.mjs").Random} rng */
function settingsOf(rng) {
  const contextWindow = rng.pick(WINDOWS);
  const summaryModel = {
    contextWindow,
    ...(rng.chance(0.5) ? { maxTokens: rng.pick([1_024, 8_192, 32_000]) } : {}),
  };
  // Large windows are mostly tried with small prompts, so that there is something to split.
  const narrow = rng.chance(contextWindow > 20_000 ? 0.9 : 0.1);
  const refine = {
    ...(narrow ? { maxPromptTokens: rng.between(1_900, 6_000) } : {}),
    ...(rng.chance(0.1) ? { maxOutputTokens: rng.pick([300, 1_000, 4_000]) } : {}),
    ...(narrow || rng.chance(0.1) ? { summaryCeilingTokens: rng.pick([200, 700]) } : {}),
    ...(rng.chance(0.2) ? { charsPerToken: rng.pick([1.5, 2, 4]) } : {}),
  };
  const mainModel = { contextWindow: contextWindow * rng.pick([1, 1, 2, 5]) };
  return { summaryModel, refine, mainModel };
}

/** One case, the same for the same seed. @param {number} seed */
function caseOf(seed) {
  const rng = random(seed * 7_919 + 1);
  const { summaryModel, refine, mainModel } = settingsOf(rng);
  const charsPerToken = refine.charsPerToken ?? 3;
  const words = rng.chance(0.1) ? { customInstructions: "Keep numbers. ".repeat(rng.between(1, 30)) } : {};
  const old = rng.chance(0.3) ? `OLD ${"p".repeat(rng.pick([50, 2_000, 9_000, 90_000]))}` : undefined;
  const previous = old === undefined ? {} : { previousSummary: old };
  const budgets = refineBudgets({
    mainModel,
    summaryModel,
    settings: refine,
    ...words,
    previousSummaryTokens: Math.ceil((old?.length ?? 0) / charsPerToken),
  });
  const chunk = Math.max(300, budgets.chunkBudget * charsPerToken);
  const { messages, count } = markedTranscript(rng, chunk * rng.pick([0.2, 0.9, 2, 5]), chunk);
  const at = rng.chance(0.3) ? rng.between(0, messages.length) : messages.length;
  const preparation = prepared(messages.slice(0, at), {
    ...previous,
    ...(at < messages.length ? { isSplitTurn: true, turnPrefixMessages: messages.slice(at) } : {}),
  });
  const maxRequests = rng.pick([undefined, undefined, undefined, 256, 30, 8, 2]);
  const more = { ...words, mainModel, refine, maxRequests, retry: { baseDelayMs: 0 } };
  const nature = temper(rng, summaryModel.contextWindow);
  return { summaryModel, preparation, more, budgets, charsPerToken, nature, count, messages };
}

/** @param {ReturnType<typeof caseOf>} given @param {number} seed */
function play(given, seed) {
  const by = modelOf(simulated(given.nature, random(seed)), { maxTokens: undefined, ...given.summaryModel });
  return refined(by, given.preparation, given.more);
}

/** Bounds that hold however a run ends. @param {ReturnType<typeof caseOf>} given @param {any} made @param {string} title */
function assertBounded(given, { calls, events }, title) {
  const { budgets, charsPerToken, more } = given;
  assert.ok(calls.length <= (more.maxRequests ?? 256), `${title}: ${calls.length} requests`);
  for (const call of calls) {
    const tokens = sentTokens(call, charsPerToken);
    assert.ok(tokens <= budgets.maxPromptTokens, `${title}: ${tokens} of ${budgets.maxPromptTokens}`);
    assert.ok(
      call.options.maxTokens <= budgets.maxOutputTokens,
      `${title}: ${call.options.maxTokens} for an answer, of ${budgets.maxOutputTokens}`,
    );
    assert.ok(
      isCompression(call) || conversationOf(call.prompt).trim() !== "",
      `${title}: nothing to summarize`,
    );
  }
  assert.ok(eventsOf(events, "replan").length <= 2, `${title}: replans`);
  for (const cause of ["prompt", "answer"]) {
    const depths = new Set(
      eventsOf(events, "split").flatMap((event) => (event.cause === cause ? event.depth : [])),
    );
    assert.ok(depths.size <= (cause === "prompt" ? 3 : 2), `${title}: ${cause} splits ${[...depths]}`);
  }
}

/** A summary of the whole record. @param {ReturnType<typeof caseOf>} given @param {any} made @param {string} title */
function assertCovers(given, { result, calls, events }, title) {
  const chain = lineage(calls, result.summary);
  const record = chain.filter((call) => !isCompression(call)).map(({ prompt }) => conversationOf(prompt));
  const marks = marksOf(record.join("\n\n"));
  if (eventsOf(events, "replan").some(({ promptLimit }) => promptLimit < 1_500)) {
    // Of such a prompt a message may get less than its mark takes.
    assert.deepEqual(
      marks,
      [...new Set(marks)].sort((a, b) => a - b),
      `${title}: none twice, in order`,
    );
  } else {
    assert.deepEqual(marks, upTo(given.count), `${title}: each message once, in order`);
  }
  const { previousSummary } = given.preparation;
  const begun = previousOf(chain[0].prompt);
  if (previousSummary === undefined) assert.equal(begun, undefined, title);
  else assert.match(begun ?? "", /^OLD/, `${title}: the previous summary starts the loop`);
  const { requests, retrySplits, shrinkCount, budgets } = result.details;
  assert.equal(requests, calls.length, title);
  assert.equal(retrySplits, eventsOf(events, "split").length, title);
  assert.equal(shrinkCount, eventsOf(events, "compress").length, title);
  assert.deepEqual(budgets, given.budgets, title);
  assert.equal(events.at(-1).type, "done", title);
}

/** An error that follows from what happened. @param {ReturnType<typeof caseOf>} given @param {any} made @param {string} title */
function assertClear(given, { error, calls, events }, title) {
  assert.ok(error instanceof CompactionError, `${title}: ${error?.stack}`);
  assert.ok(
    ENDS.includes(error.code) && error.message.length > 20,
    `${title}: ${error.code}: ${error.message}`,
  );
  const { nature, budgets, more } = given;
  const bounded = more.maxRequests !== undefined && more.maxRequests < 256;
  const answered = (/** @type {string} */ how) => calls.some(({ answer }) => answer?.stopReason === how);
  const overflowed = nature.window < Number.POSITIVE_INFINITY && answered("error");
  const sense = {
    summary_budget: bounded || calls.length === 256 || budgets.chunkBudget < 400 || overflowed,
    summary_incomplete: answered("length"),
    context_overflow: overflowed,
    summary_empty: nature.hiccups > 0,
    summary_provider: nature.hiccups > 0,
  };
  assert.ok(sense[/** @type {keyof typeof sense} */ (error.code)], `${title}: ${error.code} makes no sense`);
  assert.ok(!events.some(({ type }) => type === "done"), title);
}

/** @param {number} seed @param {Record<string, number>} tally */
async function check(seed, tally) {
  const given = caseOf(seed);
  const { kind } = given.nature;
  const made = await play(given, seed);
  const title = `seed ${seed}, ${kind}, window ${given.summaryModel.contextWindow}`;
  assertBounded(given, made, title);
  if (made.error === undefined) assertCovers(given, made, title);
  else assertClear(given, made, title);
  const fits = given.budgets.chunkBudget >= 400 && (given.more.maxRequests ?? 256) === 256;
  const cutOff = made.calls.some((/** @type {any} */ { answer }) => answer?.stopReason === "length");
  if (kind === "benign" && fits && !cutOff) assert.equal(made.error, undefined, `${title}: ${made.error}`);
  const ended = made.error?.code ?? "summary";
  tally[ended] = (tally[ended] ?? 0) + 1;
  for (const type of ["split", "compress", "replan", "retry"]) {
    tally[type] = (tally[type] ?? 0) + Math.sign(eventsOf(made.events, type).length);
  }
}

/** Cases in which each of these was met, over all rounds. @type {Record<string, number>} */
const tally = {};

for (let round = 0; round < ROUNDS; round++) {
  test(`D1 D13 D20 D36 D62 D65 D80 simulated models, round ${round}`, async () => {
    for (let seed = round * SEEDS; seed < (round + 1) * SEEDS; seed++) await check(seed, tally);
  });
}

test("the simulation met every way to end and every turn of the loop", () => {
  for (const met of ["summary", "summary_budget", "summary_incomplete", "context_overflow"]) {
    assert.ok(tally[met] >= 20, `${met}: ${JSON.stringify(tally)}`);
  }
  for (const met of ["split", "compress", "replan", "retry"]) {
    assert.ok(tally[met] >= 100, `${met}: ${JSON.stringify(tally)}`);
  }
  assert.ok(tally.summary > (ROUNDS * SEEDS) / 3, JSON.stringify(tally));
});

test("D94 Cyrillic prose at 2.4 units a token never overflows a window that is stated right", async () => {
  for (const contextWindow of WINDOWS) {
    const { chunkBudget } = refineBudgets({ summaryModel: { contextWindow } });
    const { messages, count } = markedTranscript(random(contextWindow), chunkBudget * 6, chunkBudget * 3);
    const honest = {
      ...temper(random(1), contextWindow),
      density: 2.4,
      window: contextWindow,
      cap: Infinity,
    };
    const nature = { ...honest, base: 5, perRecord: 0.1, perSummary: 0.5, compressed: 0.5, hiccups: 0 };
    const by = modelOf(simulated(nature, random(1)), { contextWindow, maxTokens: undefined });
    const { result, error, calls } = await refined(by, prepared(messages));
    assert.equal(error, undefined, `${contextWindow}: ${error}`);
    assert.ok(!calls.some(({ answer }) => answer.stopReason === "error"), `${contextWindow}`);
    const sent = lineage(calls, result.summary).filter((call) => !isCompression(call));
    assert.deepEqual(
      sent.flatMap(({ prompt }) => marksOf(conversationOf(prompt))),
      upTo(count),
    );
  }
});

test("D78 ten to one: a small model meets its cap in large chunks, and compression gets it through", async () => {
  const limits = { contextWindow: 131_072, maxTokens: 4_000 };
  const messages = turns(60, 6_000);
  const rule = (/** @type {any} */ made) => {
    const carried = previousOf(made.prompt)?.length ?? 0;
    if (isCompression(made)) return `S${made.index} `.padEnd(carried * 0.3, "s").trim();
    const text = `S${made.index} `.padEnd(conversationOf(made.prompt).length / 10 + carried, "s").trim();
    return text.length > 4_000 * 3 ? says(text.slice(0, 12_000), { stopReason: "length" }) : text;
  };
  const { result, error, calls } = await refined(modelOf(rule, limits), prepared(messages));
  assert.equal(error, undefined, `${error}`);
  assert.ok(result.details.retrySplits > 0 && result.details.shrinkCount > 0, JSON.stringify(result.details));
  assert.deepEqual(marksOf(recordOf(calls)), upTo(60));
});

test("D95 English may take 4 units a token and fewer requests, CJK 1.5 and more", async () => {
  const messages = turns(60, 3_000);
  const requests = async (/** @type {number | undefined} */ charsPerToken) => {
    const by = modelOf(({ index }) => `S${index}`, { contextWindow: 32_768 });
    const { calls } = await refined(by, prepared(messages), { refine: { charsPerToken } });
    assert.deepEqual(marksOf(recordOf(calls)), upTo(60));
    return calls.length;
  };
  const [english, mixed, cjk] = [await requests(4), await requests(undefined), await requests(1.5)];
  assert.ok(english < mixed && mixed < cjk, `${english}, ${mixed}, ${cjk}`);
});

/**
 * Runs of any transcript, malformed ones included, on a large window and on a small one whose answers are cut off.
 *
 * @param {number} seed
 */
async function wild(seed) {
  const rng = random(seed);
  const messages = rng.chance(0.5) ? wildTranscript(seed, 60) : soundTranscript(seed, 12);
  const dialect = rng.pick(["pi-0.87", "pi-1.6"]);
  const most = rng.pick([600, 2_000, Number.POSITIVE_INFINITY]);
  const rule = (/** @type {any} */ { prompt, index }) =>
    conversationOf(prompt).length > most ? says("cut", { stopReason: "length" }) : `S${index}`;
  const whole = modelOf(() => "S", { contextWindow: 1_000_000 });
  const small = modelOf(rule, { contextWindow: rng.pick([4_096, 8_192, 16_384]) });
  const mainModel = { contextWindow: 16_384 * rng.pick([1, 3, 9]) };
  return {
    whole: await refined(whole, prepared(messages), { dialect }),
    small: await refined(small, prepared(messages), { dialect, mainModel }),
  };
}

test("D13 D36 D70 any transcript goes out whole and in order, whatever its chunks and halves", async () => {
  let compared = 0;
  for (let seed = 0; seed < 1_000; seed++) {
    const { whole, small } = await wild(seed);
    if (small.error?.code === "summary_incomplete") continue;
    assert.equal(small.error?.code, whole.error?.code, `seed ${seed}: ${small.error}`);
    if (small.error) assert.equal(small.error.code, "no_new_history");
    const blocks = chunkCalls(small.calls).map(({ prompt }) => conversationOf(prompt));
    // A message that is larger than a chunk is cut; simulated models look after those.
    if (blocks.some((block) => block.includes("[... cut"))) continue;
    assert.equal(blocks.filter(Boolean).join("\n\n"), recordOf(whole.calls), `seed ${seed}`);
    compared++;
  }
  assert.ok(compared > 500, `${compared}`);
});

test("gsd-2 PR#4690 no request is about messages that print nothing", async () => {
  for (let seed = 0; seed < 1_000; seed++) {
    for (const { calls } of Object.values(await wild(seed))) {
      for (const { prompt } of calls) {
        assert.notEqual(conversationOf(prompt).trim(), "", `seed ${seed}: an empty record`);
      }
    }
  }
});

/** What is the same each time. @param {any} made */
function lasting({ result, error, calls }) {
  if (error !== undefined) return { code: error.code, message: error.message };
  const { requests, cacheHits, ...details } = result.details;
  return { summary: result.summary, details, prompts: calls.map((/** @type {any} */ { prompt }) => prompt) };
}

test("the same request twice gives the same prompts, summary and details, of a list and of a range", async () => {
  for (let seed = 0; seed < 150; seed++) {
    const given = caseOf(seed);
    const once = lasting(await play(given, seed));
    assert.deepEqual(lasting(await play(given, seed)), once, `seed ${seed}`);
    const { messagesToSummarize, turnPrefixMessages } = given.preparation;
    const transcript = new Transcript([...messagesToSummarize, ...turnPrefixMessages]);
    const ranges = {
      ...given.preparation,
      messagesToSummarize: transcript.range(0, messagesToSummarize.length),
      turnPrefixMessages: transcript.range(messagesToSummarize.length),
    };
    assert.deepEqual(
      lasting(await play({ ...given, preparation: ranges }, seed)),
      once,
      `seed ${seed}: a range`,
    );
  }
});
