import assert from "node:assert/strict";
import test from "node:test";
import { planChunks } from "../index.js";
import { DIALECTS } from "./support/oracle.mjs";
import { frozen } from "./support/random.mjs";
import { conversation } from "./support/reference.mjs";
import { sessions } from "./support/sessions.mjs";
import {
  answer,
  call,
  exchange,
  result,
  soundTranscript,
  toolCalls,
  userOfTokens,
} from "./support/sound.mjs";
import { groupStart, positions } from "./support/soundness.mjs";
import { wildTranscript } from "./support/transcripts.mjs";

/** @typedef {import("./support/transcripts.mjs").Message} Message */
/** @typedef {import("./support/oracle.mjs").Dialect} Dialect */

const BOUNDARIES = /** @type {const} */ (["turn", "message"]);
/** Part of a chunk's room that the packer may leave unused and still have to cut inside a turn. */
const MARGIN = 0.85;
const MANY = 10_000;

/** @param {readonly Message[]} messagesToSummarize @param {object} more */
function input(messagesToSummarize, more = {}) {
  return frozen({ messagesToSummarize, turnPrefixMessages: [], isSplitTurn: false, ...more });
}

/** @param {readonly Message[]} messages @param {Dialect} dialect */
function size(messages, dialect = "pi-0.87") {
  return Math.ceil(conversation(dialect, messages).length / 4);
}

/**
 * What holds for every plan: the range exactly once, in order, and each chunk below the limit by the guard's measure.
 *
 * @param {any} given @param {any} options @param {string} label
 */
function checkPlan(given, options, label) {
  const range = given.isSplitTurn
    ? [...given.messagesToSummarize, ...given.turnPrefixMessages]
    : [...given.messagesToSummarize];
  const chunks = planChunks(given, { maxChunks: MANY, ...options });
  if (range.length === 0) assert.equal(chunks, undefined, label);
  if (chunks === undefined) return { range, chunks: [] };
  const at = positions(range, chunks.flat());
  assert.deepEqual(at, [...range.keys()], `${label}: the range exactly once`);
  const reserve = Math.max(options.reserve ?? 0, Math.ceil((given.previousSummary ?? "").length / 4));
  for (const [index, chunk] of chunks.entries()) {
    assert.ok(chunk.length > 0, `${label}: chunk ${index} is empty`);
    const tokens = size(chunk, options.dialect) + reserve;
    assert.ok(
      tokens < options.promptLimit,
      `${label}: chunk ${index} has ${tokens} of ${options.promptLimit}`,
    );
  }
  return { range, chunks };
}

/** @param {Message} message */
function opensTurn(message) {
  return message.role !== "assistant" && message.role !== "toolResult";
}

/** The turn that the message at `index` belongs to. @param {readonly Message[]} range @param {number} index */
function turnAround(range, index) {
  const start = range.slice(0, index).findLastIndex(opensTurn);
  const rest = range.slice(index).findIndex(opensTurn);
  return range.slice(Math.max(0, start), rest < 0 ? range.length : index + rest);
}

for (const boundary of BOUNDARIES) {
  test(`C30 C31 C36 G4 any shape: the range exactly once, each chunk fits (${boundary})`, () => {
    for (let seed = 0; seed < 3_000; seed++) {
      const messages = frozen(wildTranscript(seed, 14));
      const middle = seed % (messages.length + 1);
      const given = input(messages.slice(0, middle), {
        turnPrefixMessages: messages.slice(middle),
        isSplitTurn: seed % 3 !== 0,
        previousSummary: seed % 2 === 0 ? "p".repeat(seed % 400) : undefined,
      });
      const dialect = DIALECTS[seed % 2];
      const options = { promptLimit: 250 + (seed % 800), reserve: seed % 90, boundary, dialect };
      checkPlan(given, options, `wildTranscript(${seed}, 14)`);
    }
  });
}

test("D37 D39 D40 D41 G5 turns stay whole where they fit, else calls stay with their results", () => {
  for (let seed = 0; seed < 2_000; seed++) {
    const promptLimit = 300 + (seed % 1_500);
    const { range, chunks } = checkPlan(
      input(soundTranscript(seed, 14)),
      { promptLimit },
      `soundTranscript(${seed})`,
    );
    let at = 0;
    for (const chunk of chunks.slice(0, -1)) {
      at += chunk.length;
      if (opensTurn(range[at])) continue;
      const turn = size(turnAround(range, at));
      assert.ok(turn > promptLimit * MARGIN, `seed ${seed}: a turn of ${turn} is cut at ${promptLimit}`);
      if (range[at].role !== "toolResult") continue;
      const rest = range.slice(at).findIndex((message) => message.role !== "toolResult");
      const group = range.slice(groupStart(range, at), rest < 0 ? range.length : at + rest);
      assert.ok(size(group) > promptLimit * MARGIN, `seed ${seed}: a call is cut from its result`);
    }
  }
});

test("D42 C39 the packing is greedy: no two neighbouring chunks would fit one", () => {
  for (let seed = 0; seed < 2_000; seed++) {
    const promptLimit = 300 + (seed % 1_500);
    const options = { promptLimit, boundary: /** @type {const} */ ("message") };
    const { chunks } = checkPlan(input(soundTranscript(seed, 14)), options, `soundTranscript(${seed})`);
    for (const [index, chunk] of chunks.slice(1).entries()) {
      const both = size([...chunks[index], ...chunk]);
      assert.ok(both > promptLimit * MARGIN, `seed ${seed}: ${both} of ${promptLimit} in two chunks`);
    }
  }
});

/** Messages before which a range may be cut without parting a call from its result. */
function groupsOf(/** @type {readonly any[]} */ range) {
  return range.filter(({ role }) => role !== "toolResult").length;
}

test("D36 D43 D44 minChunks: at least as many, as far as there are call groups", () => {
  for (let seed = 0; seed < 1_500; seed++) {
    const minChunks = 1 + (seed % 12);
    const given = input(soundTranscript(seed, 14));
    const { range, chunks } = checkPlan(given, { promptLimit: 100_000, minChunks }, `seed ${seed}`);
    assert.ok(
      chunks.length >= Math.min(minChunks, groupsOf(range)),
      `seed ${seed}: ${chunks.length} of ${minChunks}`,
    );
  }
});

test("D41 D44 minChunks never cuts a call from its result", () => {
  const one = [{ role: "user", content: "go" }, ...toolCalls(1, "o".repeat(400))];
  const few = planChunks(input(one), { promptLimit: 100_000, minChunks: 9 }) ?? [];
  assert.deepEqual(
    few.map((chunk) => chunk.length),
    [1, 2],
  );

  const range = [{ role: "user", content: "go" }, ...toolCalls(10, "o".repeat(400)), answer("done")];
  const chunks = planChunks(input(range), { promptLimit: 100_000, minChunks: 4 }) ?? [];
  assert.equal(chunks.length, 4);
  for (const chunk of chunks) assert.notEqual(chunk[0].role, "toolResult");
  const sizes = chunks.map((chunk) => size(chunk));
  assert.ok(Math.max(...sizes) < 3 * Math.min(...sizes), `balanced: ${sizes}`);
});

for (const boundary of BOUNDARIES) {
  test(`C32 C33 exactly 16 chunks are allowed, a needed 17th is not (${boundary})`, () => {
    const turns = Array.from({ length: 17 }, () => userOfTokens(700));
    assert.equal(planChunks(input(turns.slice(1)), { promptLimit: 1_000, boundary })?.length, 16);
    assert.equal(planChunks(input(turns), { promptLimit: 1_000, boundary }), undefined);
    assert.equal(planChunks(input(turns), { promptLimit: 1_000, boundary, maxChunks: 17 })?.length, 17);
    assert.equal(
      planChunks(input(turns.slice(0, 4)), { promptLimit: 1_000, boundary, maxChunks: 3 }),
      undefined,
    );
  });
}

test("G5 turns give way before maxChunks is exceeded", () => {
  // By turns each chunk holds one turn of 600 and needs 20; by messages 600 + 300 fit and it is 14.
  const turns = Array.from({ length: 20 }, () => [userOfTokens(300), answer("a".repeat(1_180))]).flat();
  const options = { promptLimit: 1_040 };
  const chunks = planChunks(input(turns), { ...options, maxChunks: 14 });
  assert.ok(chunks !== undefined && chunks.length <= 14);
  assert.deepEqual(positions(turns, chunks.flat()), [...turns.keys()]);
});

test("F5 G5 twelve equal messages, a limit of four: the margin gives 3, 3, 3, 3", () => {
  const messages = Array.from({ length: 12 }, () => userOfTokens(1_000));
  const chunks = planChunks(input(messages), { promptLimit: 4_000, reserve: 0, boundary: "message" });
  assert.deepEqual(
    chunks?.map((chunk) => chunk.length),
    [3, 3, 3, 3],
  );
});

test("F5 everything fits: one chunk of the same objects", () => {
  const messages = toolCalls(40, "o".repeat(2_000));
  const chunks = planChunks(input(messages), { promptLimit: 40_000 });
  assert.equal(chunks?.length, 1);
  assert.ok(chunks?.[0].every((message, index) => message === messages[index]));
});

test("C38 an empty range has no plan", () => {
  for (const more of [{}, { previousSummary: "s" }, { turnPrefixMessages: [userOfTokens(9)] }]) {
    assert.equal(planChunks(input([], more), { promptLimit: 10_000 }), undefined);
  }
});

test("C31 openclaw#80641 the previous summary is held back in every chunk", () => {
  const messages = exchange(100, 100_000);
  const alone = planChunks(input(messages), { promptLimit: 10_000 });
  const { chunks } = checkPlan(
    input(messages, { previousSummary: "p".repeat(20_000) }),
    { promptLimit: 10_000 },
    "",
  );
  assert.ok(chunks.length > (alone?.length ?? 0));
  const raised = { promptLimit: 10_000, reserve: 1 };
  checkPlan(
    input(messages, { previousSummary: "p".repeat(20_000) }),
    raised,
    "a reserve below it is raised to it",
  );
});

test("G16 instructions beyond the margin leave less for text", () => {
  const options = { promptLimit: 10_000, customInstructions: "i".repeat(20_000) };
  const { chunks } = checkPlan(input(exchange(100, 100_000)), options, "instructions");
  for (const chunk of chunks) assert.ok(size(chunk) + 5_000 - 2_048 < options.promptLimit);
});

test("G13 pi-claude-bridge#18 history and prefix are one contiguous range", () => {
  const given = input(exchange(1_035, 1_207_541), {
    isSplitTurn: true,
    turnPrefixMessages: exchange(3, 6_662),
  });
  const { chunks } = checkPlan(given, { promptLimit: 172_352, reserve: 25_600, maxChunks: 16 }, "#18");
  assert.ok(chunks.length >= 3 && chunks.at(-1)?.at(-1) === given.turnPrefixMessages[2]);
});

test("pi#6425 the number of chunks follows what is printed, not images or capped output", () => {
  const image = { type: "image", data: "aGk=", mimeType: "image/png" };
  const content = [{ type: "text", text: "see" }, ...Array.from({ length: 20 }, () => image)];
  const messages = Array.from({ length: 60 }, () => ({ role: "user", content }));
  assert.equal(planChunks(input(messages), { promptLimit: 1_000 })?.length, 1);
});

test("claude-code#14274 Roo#6069 a giant tool result stays with its call", () => {
  const lines = "line of output\n".repeat(27_136);
  const range = [{ role: "user", content: "go" }, call("c1"), result("c1", lines), answer("done")];
  assert.deepEqual(planChunks(input(range), { promptLimit: 5_000 }), [range]);
});

for (const { name, messages } of sessions()) {
  test(`C30 C31 C36 G5 ${name} in chunks of several sizes`, () => {
    for (const dialect of DIALECTS) {
      for (const promptLimit of [2_000, 8_000, 50_000, 172_352]) {
        for (const boundary of BOUNDARIES) {
          const options = { promptLimit, reserve: Math.floor(promptLimit / 3), boundary, dialect };
          checkPlan(input(messages), options, `${promptLimit} ${boundary} ${dialect}`);
        }
      }
    }
  });
}
