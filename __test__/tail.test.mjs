import assert from "node:assert/strict";
import test from "node:test";
import { buildRetainedTail, estimateTokens } from "../index.js";
import { frozen } from "./support/random.mjs";
import { sessions } from "./support/sessions.mjs";
import { answer, call, result, soundTranscript, toolCalls } from "./support/sound.mjs";
import { faults, groupStart, positions, replayable } from "./support/soundness.mjs";
import { hasLoneSurrogate } from "./support/texts.mjs";
import { wildTranscript } from "./support/transcripts.mjs";

/** @typedef {import("./support/transcripts.mjs").Message} Message */

/** @type {readonly (undefined | "active_turn" | "completed_turn")[]} */
const MODES = [undefined, "active_turn", "completed_turn"];
const LEAST_TOKENS = 16;
/** Below it a goal, a call and its result, at 64 units each and their names, may be more than the budget. */
const STRICT_FROM = 100;
const BUDGETS = [0, 1, 15, 16, 40, 100, 250, 1_000, 5_000, 1_000_000];

/** @param {readonly Message[]} messages */
function total(messages) {
  return messages.reduce((sum, message) => sum + estimateTokens(message), 0);
}

/** @param {string} content @returns {Message} */
function user(content) {
  return { role: "user", content };
}

/** @param {readonly Message[]} messages @param {number} maxTokens @param {(typeof MODES)[number]} [retentionMode] */
function tailOf(messages, maxTokens, retentionMode) {
  return buildRetainedTail(frozen(messages), maxTokens, { retentionMode });
}

/** What holds for every tail. @param {readonly Message[]} range @param {number} budget @param {string} label */
function checkTail(range, budget, label, retentionMode = MODES[0]) {
  const tail = tailOf(range, budget, retentionMode);
  assert.deepEqual(faults(tail), [], label);
  assert.ok(total(tail) <= Math.max(budget, STRICT_FROM), `${label}: ${total(tail)} of ${budget} tokens`);
  const at = positions(range, tail);
  assert.ok(!at.includes(-1) && at.length === tail.length, `${label}: positions ${at}`);
  if (retentionMode !== "completed_turn" && range.some(replayable))
    assert.ok(tail.length > 0, `${label}: empty`);
  return { tail, at };
}

for (const mode of MODES) {
  test(`C8 C10 C19 C20 C21 C22 C27 C28 any shape: sound, in order, within the budget (${mode ?? "window"})`, () => {
    for (let seed = 0; seed < 3_000; seed++) {
      const range = frozen(wildTranscript(seed, 14));
      const budget = BUDGETS[seed % BUDGETS.length];
      const { tail, at } = checkTail(range, budget, `wildTranscript(${seed}, 14), ${budget}`, mode);
      const from = mode === "active_turn" ? 1 : 0;
      for (let index = (at[from] ?? range.length) + 1; index < (at.at(-1) ?? 0); index++) {
        if (!at.includes(index))
          assert.equal(replayable(range[index]), false, `seed ${seed}: ${index} dropped`);
      }
      if (budget >= 1_000_000 && mode === undefined) {
        assert.ok(
          range.every((message) => !replayable(message) || tail.includes(message)),
          `seed ${seed}`,
        );
      }
    }
  });
}

test("C8 C9 C29 a sound range: a contiguous suffix of all roles, filled to the budget", () => {
  for (let seed = 0; seed < 3_000; seed++) {
    const range = frozen(soundTranscript(seed));
    const budget = BUDGETS[seed % BUDGETS.length];
    const { tail, at } = checkTail(range, budget, `soundTranscript(${seed}), ${budget}`);
    const whole = tail.every((message, index) => message === range[at[index]]);
    if (!whole || tail.length === 0) continue;
    assert.deepEqual(tail, range.slice(at[0]), `seed ${seed}: contiguous up to the newest`);
    const older = at[0] === 0 ? [] : range.slice(groupStart(range, at[0]), at[0]);
    const more = total(older) + total(tail);
    assert.ok(at[0] === 0 || more > budget, `seed ${seed}: ${more} of ${budget} tokens would fit`);
  }
});

test("C25 C26 completed_turn ends on a finished assistant message, whatever follows it", () => {
  const done = answer("all done");
  const endings = [
    [],
    [user("next")],
    [user("next"), call("c9")],
    [user("next"), call("c9"), result("c9")],
    [user("next"), answer("broken", "error")],
  ];
  for (const ending of endings) {
    const range = [user("go"), ...toolCalls(3, "out"), done, ...ending];
    const tail = tailOf(range, 10_000, "completed_turn");
    assert.equal(tail.at(-1), done);
    assert.deepEqual(faults(tail), []);
  }
});

test("C26 completed_turn on sound ranges: the last message is finished text or the range has none", () => {
  for (let seed = 0; seed < 1_000; seed++) {
    const range = frozen(soundTranscript(seed));
    const last = tailOf(range, 1_000_000, "completed_turn").at(-1);
    const finished = range.findLast((message) => message.role === "assistant" && replayable(message));
    if (finished !== undefined) assert.equal(last, finished, `seed ${seed}`);
  }
});

test("C23 active_turn keeps the goal ahead of a window that cannot hold it", () => {
  const goal = user("build the parser");
  const range = [user("older"), answer("older answer"), goal, ...toolCalls(40, "o".repeat(400))];
  const tail = tailOf(range, 600, "active_turn");
  assert.equal(tail[0], goal);
  assert.equal(tail.at(-1), range.at(-1));
  assert.ok(total(tail) <= 600);
  assert.ok(tail.length > 3, "the window takes the rest");
  assert.notEqual(tailOf(range, 600)[0], goal, "the plain window does not");
});

test("C23 C29 a goal larger than half the budget is cut to it, surrogate-safe", () => {
  for (const size of [2_000, 2_001, 60_000]) {
    const range = [user(`g${"😀".repeat(size)}`), ...toolCalls(40, "o".repeat(400))];
    const [goal, ...window] = tailOf(range, 600, "active_turn");
    assert.equal(goal.role, "user");
    assert.ok(estimateTokens(goal) <= 300, `${estimateTokens(goal)}`);
    assert.ok(goal.content.startsWith("g😀"));
    assert.equal(hasLoneSurrogate(goal.content), false);
    assert.ok(window.length >= 2);
  }
});

test("C24 active_turn does not repeat a goal that the window holds", () => {
  const goal = user("short task");
  const range = [user("older"), answer("older answer"), goal, ...toolCalls(3, "out")];
  for (const budget of [60, 100, 10_000]) {
    const tail = tailOf(range, budget, "active_turn");
    assert.equal(tail.filter((message) => message === goal || message.content === goal.content).length, 1);
  }
});

test("C19 C20 C21 broken assistant messages are left out with their results", () => {
  for (const reason of ["error", "aborted", "deferred"]) {
    const broken = { ...call("c1"), stopReason: reason };
    const range = [user("go"), answer("half", reason), broken, result("c1"), answer("fine")];
    assert.deepEqual(tailOf(range, 10_000), [range[0], range[4]]);
  }
});

test("C10 C29 pi-stuff#308 the newest message is cut to the budget with a marker", () => {
  const content = "Grüße 😀 ".repeat(147_000);
  const [tail, ...rest] = tailOf([user("older"), user(content)], 64_000);
  assert.deepEqual(rest, []);
  assert.ok(estimateTokens(tail) <= 64_000 && estimateTokens(tail) > 60_000);
  assert.ok(tail.content.startsWith("Grüße"));
  assert.match(tail.content, /\[\.\.\./);
  assert.equal(hasLoneSurrogate(tail.content), false);
});

test("C29 no budget leaves less than 64 units of the newest message", () => {
  const text = "0123456789".repeat(50);
  for (const budget of [0, 1, 15, 16]) {
    for (const newest of [user(text), answer(text), { role: "custom", content: text }]) {
      const [kept] = tailOf([user("older"), newest], budget);
      assert.ok(JSON.stringify(kept.content).length >= 64, `${budget}`);
      assert.ok(estimateTokens(kept) <= LEAST_TOKENS);
    }
  }
});

test("C29 nothing but tool results: an empty tail; dangling calls beside text are stripped", () => {
  assert.deepEqual(tailOf([], 1_000), []);
  assert.deepEqual(tailOf([result("a"), result("b")], 1_000), []);
  const dangling = { role: "assistant", content: [{ type: "text", text: "next" }, ...call("c1").content] };
  const tail = tailOf([dangling], 1_000);
  assert.deepEqual(faults(tail), []);
  assert.deepEqual(tail[0].content, [{ type: "text", text: "next" }]);
});

test("C10 a group of many calls does not break the budget by its many least parts", () => {
  const group = toolCalls(60, "o".repeat(100));
  const calls = group.filter(({ role }) => role === "assistant").flatMap(({ content }) => content);
  const results = group.filter(({ role }) => role === "toolResult");
  const range = [user("go"), { role: "assistant", content: calls, stopReason: "toolUse" }, ...results];
  const { tail } = checkTail(range, 500, "60 calls");
  assert.ok(tail.length > 0);
});

test("C29 signed thinking is kept as it was or left out, never cut", () => {
  const thinking = { type: "thinking", thinking: "t".repeat(50_000), thinkingSignature: "signed" };
  const words = { type: "text", text: "w".repeat(5_000) };
  for (const budget of [100, 1_000, 10_000, 20_000]) {
    const range = [user("go"), { role: "assistant", content: [thinking, words], stopReason: "stop" }];
    const kept = /** @type {Message} */ (tailOf(range, budget).at(-1));
    for (const block of kept.content) assert.ok(block.type !== "thinking" || block === thinking, `${budget}`);
    assert.ok(kept.content.some((/** @type {any} */ block) => block.type === "text" && block.text !== ""));
  }
});

test("C10 images count in the window as they count in the estimate", () => {
  const image = { type: "image", data: "aGk=", mimeType: "image/png" };
  const seen = { role: "user", content: [{ type: "text", text: "see" }, image, image] };
  const range = [user("older"), seen];
  assert.deepEqual(tailOf(range, 2_500), range);
  const tail = tailOf(range, 300);
  assert.ok(total(tail) <= 300 && tail.length === 1);
});

for (const { name, messages } of sessions()) {
  test(`C8 C10 C19 C20 C21 C22 C27 C28 ${name} at several budgets`, () => {
    for (const mode of MODES) {
      for (const budget of [500, 2_000, 8_000, 27_904, 64_000]) {
        for (const end of [messages.length, 700, 333, 40]) {
          const { tail, at } = checkTail(messages.slice(0, end), budget, `${budget} ${mode} ${end}`, mode);
          const older = at[0] === 0 ? [] : messages.slice(groupStart(messages, at[0]), at[0]);
          const whole = tail.every((message, index) => message === messages[at[index]]);
          if (mode !== undefined || !whole || older.length === 0 || faults(older).length > 0) continue;
          assert.ok(total(older) + total(tail) > budget, `${budget} ${end}: an older group would fit`);
        }
      }
    }
  });
}
