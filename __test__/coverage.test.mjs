import assert from "node:assert/strict";
import test from "node:test";
import { estimateSummaryPromptTokens } from "../index.js";
import { conversationOf, prepared, run, windowed } from "./support/model.mjs";
import { frozen, random } from "./support/random.mjs";
import { sessions } from "./support/sessions.mjs";

/** @typedef {import("./support/transcripts.mjs").Message} Message */

const DIALECTS = /** @type {const} */ (["pi-0.87", "pi-1.6"]);
const token = (/** @type {number} */ index) => `⟦${index}⟧`;
const CUT = "[... cut to fit the summary request ...]";

/** @type {((words: string, id: string) => Message)[]} */
const ROLES = [
  (content) => ({ role: "user", content }),
  (text) => ({ role: "user", content: [{ type: "text", text }] }),
  (text) => ({ role: "assistant", content: [{ type: "text", text }], stopReason: "stop" }),
  (command) => ({ role: "bashExecution", command, output: "o\n".repeat(20), exitCode: 0 }),
  (content) => ({ role: "custom", customType: "note", display: true, content }),
  (summary) => ({ role: "branchSummary", summary, fromId: "b" }),
  (summary) => ({ role: "compactionSummary", summary, tokensBefore: 1 }),
];

/** A call whose token stands in its arguments, and its result with the token after it. @returns {Message[]} */
function group(/** @type {number} */ index, /** @type {string} */ filling) {
  const id = `c${index}`;
  const args = { path: `src/${token(index)}.ts`, content: filling };
  const text = `${token(index + 1)} ${filling}`;
  return [
    {
      role: "assistant",
      content: [{ type: "toolCall", id, name: "write", arguments: args }],
      stopReason: "toolUse",
    },
    {
      role: "toolResult",
      toolCallId: id,
      toolName: "write",
      isError: false,
      content: [{ type: "text", text }],
    },
  ];
}

/**
 * Messages that print, each with a token of its own at its head.
 *
 * @param {number} seed @param {number} count @param {(rng: import("./support/random.mjs").Random) => number} size
 */
function tokened(seed, count, size) {
  const rng = random(seed);
  /** @type {Message[]} */
  const messages = [];
  while (messages.length < count) {
    const filling = rng.pick(["word ", "漢字", "😀", '"\\\n']).repeat(size(rng));
    if (rng.chance(0.4)) messages.push(...group(messages.length, filling));
    else messages.push(rng.pick(ROLES)(`${token(messages.length)} ${filling}`, ""));
  }
  return frozen(messages);
}

/** Every token once, in order, over the conversation blocks of all requests. */
function assertCovered(/** @type {any} */ calls, /** @type {number} */ count, /** @type {string} */ title) {
  const blocks = calls.map((/** @type {any} */ { prompt }) => conversationOf(prompt));
  const found = blocks.join("\n").match(/⟦\d+⟧/g) ?? [];
  assert.deepEqual(
    found,
    Array.from({ length: count }, (_, index) => token(index)),
    title,
  );
  for (const { prompt } of calls) {
    const block = conversationOf(prompt);
    assert.equal(prompt.replace(block, "").match(/⟦/), null, `${title}: only inside the conversation`);
  }
}

/** @param {readonly Message[]} messages @param {number} window @param {object} more */
async function covered(messages, window, more, options = {}) {
  const outcome = await run(windowed(window, 8_192), prepared(messages, more), options);
  assert.equal(outcome.error, undefined, String(outcome.error));
  const prefix = /** @type {any} */ (more).isSplitTurn
    ? /** @type {any} */ (more).turnPrefixMessages.length
    : 0;
  assertCovered(outcome.calls, messages.length + prefix, JSON.stringify(options));
  return outcome;
}

for (const dialect of DIALECTS) {
  test(`A62 C36 ${dialect}: 3,000 messages, each in exactly one request`, async () => {
    const messages = tokened(1, 3_000, (rng) => rng.between(0, 40));
    const { calls, events } = await covered(messages, 65_536, {}, { dialect });
    assert.ok(calls.length >= 3, `${calls.length} requests`);
    assert.equal(events[0].shape, "chunks");
    const whole = await covered(messages, 1_000_000, {}, { dialect });
    assert.equal(whole.calls.length, 1);
  });

  test(`A50 A62 C36 ${dialect}: the reduction drops no message`, async () => {
    const long = tokened(2, 400, (rng) => rng.between(300, 500));
    const { events } = await covered(long, 1_000_000, {}, { dialect });
    assert.equal(events[0].reduced, false);
    const size = estimateSummaryPromptTokens(prepared(long), { dialect });
    const outcome = await covered(long, size + 8_192 + 2_048, {}, { dialect });
    assert.deepEqual([outcome.events[0].reduced, outcome.events[0].shape], [true, "single"]);
  });

  test(`C36 G4 ${dialect}: messages larger than a chunk are cut, none is dropped`, async () => {
    const messages = tokened(3, 60, (rng) => (rng.chance(0.1) ? 40_000 : 5));
    const { calls } = await covered(messages, 32_768, {}, { dialect });
    const sent = calls.map(({ prompt }) => prompt).join("");
    assert.ok(sent.split(CUT).length > 2, "and the marker says so");
  });

  test(`C36 G13 ${dialect}: split turns, whole, reduced and chunked`, async () => {
    for (const [seed, window, most, shape] of /** @type {const} */ ([
      [4, 200_000, 60, "split_turn"],
      [5, 16_384, 120, "chunks"],
      [6, 32_768, 400, "chunks"],
    ])) {
      const messages = tokened(seed, 500, (rng) => rng.between(0, most));
      const [history, turnPrefixMessages] = [messages.slice(0, 300), messages.slice(300)];
      const more = { isSplitTurn: true, turnPrefixMessages, previousSummary: "OLD" };
      const { events } = await covered(history, window, more, { dialect });
      assert.equal(events[0].shape, shape);
    }
  });
}

test("C36 random ranges, windows and splits", async () => {
  const shapes = new Set();
  for (let seed = 10; seed < 110; seed++) {
    const rng = random(seed);
    const size = rng.pick([5, 60, 900]);
    const messages = tokened(seed, rng.between(1, 250), (inner) => inner.between(0, size));
    const at = rng.chance(0.5) ? rng.between(0, messages.length - 1) : messages.length;
    const prefix = { isSplitTurn: true, turnPrefixMessages: messages.slice(at) };
    const more = {
      ...(at < messages.length ? prefix : {}),
      ...(rng.chance(0.5) ? { previousSummary: "OLD" } : {}),
    };
    const window = rng.pick([16_384, 32_768, 200_000]);
    const options = { dialect: rng.pick(DIALECTS) };
    const { error, calls, events } = await run(
      windowed(window, 8_192),
      prepared(messages.slice(0, at), more),
      options,
    );
    if (error) {
      assert.equal(error.code, "summary_budget", `seed ${seed}: ${error}`);
      assert.equal(calls.length, 0);
      continue;
    }
    shapes.add(`${events[0].shape} ${events[0].reduced}`);
    assertCovered(calls, messages.length, `seed ${seed}`);
  }
  for (const shape of ["single false", "split_turn false", "chunks true"])
    assert.ok(shapes.has(shape), shape);
});

for (const { name, messages } of sessions()) {
  test(`C36 ${name}: chunks together are the serialized range, but for what markers declare`, async () => {
    for (const dialect of DIALECTS) {
      const { calls, events, error } = await run(windowed(65_536, 8_192), prepared(messages), { dialect });
      assert.equal(error, undefined);
      const users = messages.filter(({ role, content }) => role === "user" && typeof content === "string");
      const sent = calls.map(({ prompt }) => conversationOf(prompt)).join("\n\n");
      for (const { content } of users.filter(({ content }) => content.length < 2_000)) {
        assert.ok(sent.includes(content.replaceAll(/<(\/?(?:conversation|previous-summary))/g, "‹$1")));
      }
      assert.equal(calls.length, events[0].requests);
    }
  });
}
