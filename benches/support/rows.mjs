// What is measured. A new row is one more entry in the table.

import { deepStrictEqual } from "node:assert/strict";

import { body, whole } from "./preparation.mjs";
import { wouldExceed } from "./pure-guard.mjs";
import { sessionFile } from "./session-file.mjs";
import { loadPiWithSessions } from "./sides.mjs";
import { tokensOf } from "./tokens.mjs";

/** @typedef {import("./sides.mjs").Ours} Ours */
/** @typedef {import("./sides.mjs").Pi} Pi */

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {"warm" | "cold" | "first" | "main" | "wall"} when warm: call after call; cold: each call after the data
 *   caches were swept; first: the first call in a fresh process; main, wall: call after call, of ours the time that it
 *   says it held the main thread, or took until the work off it was done
 * @property {Record<number, Record<string, number>>} atLeast how many times faster than pi, by the first Node major
 *   that it holds for and by session
 * @property {(session: { path: string, messages: any[] }) => any} prepare what both sides are called with; may be a
 *   promise
 * @property {() => Promise<any>} [against] what stands on pi's side, where that is not pi-agent-core
 * @property {(ours: Ours, data: any) => unknown} ours may return a promise
 * @property {(pi: any, data: any) => unknown} pi may return a promise
 * @property {(data: any) => unknown} [pure] the best that JavaScript alone does
 * @property {(ours: Ours, pi: any, data: any) => void | Promise<void>} assertEqual throws unless all sides answer
 *   alike
 */

/** A budget with this guard's limit (requirements A40): no headroom, hence no answer to hold back for. */
const budgetOf = (/** @type {number} */ limit) => ({ hardLimit: limit + 2_048, requestHeadroom: 0 });

/** The limit that a window of 200,000 tokens leaves. */
const LIMIT = 200_000 - 8_192 - 2_048;

/** One-shot guard over all messages of a session as history. */
const guard = {
  /** @type {Row["prepare"]} */
  prepare: ({ messages }) => ({
    preparation: { messagesToSummarize: messages, turnPrefixMessages: [], isSplitTurn: false },
    budget: budgetOf(LIMIT),
    limit: LIMIT,
  }),
  /** @type {Row["ours"]} */
  ours: (ours, { preparation, budget }) => ours.compactionSummaryWouldExceedBudget(preparation, budget),
  /** @type {Row["pi"]} */
  pi: (/** @type {Pi} */ pi, { preparation, limit }) => pi.promptTokens(preparation) >= limit,
  /** @type {Row["pure"]} */
  pure: ({ preparation, limit }) => wouldExceed(preparation, limit),
  assertEqual: assertGuardsEqual,
};

/** Texts, sizes, and verdicts on either side of each limit. @type {Row["assertEqual"]} */
function assertGuardsEqual(ours, pi, data) {
  const messages = data.preparation.messagesToSummarize;
  deepStrictEqual(ours.serializeConversation(messages), pi.serializeConversation(messages));
  const [front, back] = [messages.slice(0, messages.length >> 1), messages.slice(messages.length >> 1)];
  const inputs = [
    data.preparation,
    { ...data.preparation, previousSummary: "a summary \u{1f980}".repeat(99) },
    { messagesToSummarize: front, turnPrefixMessages: back, isSplitTurn: true },
    { messagesToSummarize: back, turnPrefixMessages: front, isSplitTurn: true },
    { messagesToSummarize: front, turnPrefixMessages: back, isSplitTurn: false },
  ];
  for (const input of inputs) {
    const tokens = pi.promptTokens(input);
    deepStrictEqual(ours.estimateSummaryPromptTokens(input), tokens);
    for (const limit of [tokens - 1, tokens, tokens + 1]) {
      deepStrictEqual(ours.compactionSummaryWouldExceedBudget(input, budgetOf(limit)), tokens >= limit);
      deepStrictEqual(wouldExceed(input, limit), tokens >= limit);
    }
  }
  deepStrictEqual(guard.ours(ours, data), guard.pi(pi, data));
}

/** Messages of a session that has only begun. */
const FEW = 4;

/** Where a crossing into native code is most of the work. */
const smallGuard = {
  ...guard,
  /** @type {Row["prepare"]} */
  prepare: ({ path, messages }) => guard.prepare({ path, messages: messages.slice(0, FEW) }),
};

/** Where the answer is a JavaScript string: it has to be made on the main thread, whoever makes it. */
const text = {
  /** @type {Row["prepare"]} */
  prepare: ({ messages }) => messages,
  /** @type {Row["ours"]} */
  ours: (ours, messages) => ours.serializeConversation(messages),
  pi: (/** @type {Pi} */ pi, /** @type {any[]} */ messages) => pi.serializeConversation(messages),
  /** @type {Row["assertEqual"]} */
  assertEqual: (ours, pi, data) =>
    deepStrictEqual(ours.serializeConversation(data), pi.serializeConversation(data)),
};

/** Turns of a growing session. */
const TURNS = 1_000;

/** Two messages a turn. @param {any[]} messages @param {number} turn */
const turnOf = (messages, turn) => [0, 1].map((i) => messages[(2 * turn + i) % messages.length]);

/** A session grows by a call and its result a turn, and every turn asks the guard. @type {Pick<Row, "prepare" | "ours" | "pi" | "assertEqual">} */
const growing = {
  /** @type {Row["prepare"]} */
  prepare: ({ messages }) => ({ messages, budget: budgetOf(LIMIT), limit: LIMIT }),
  /** @type {Row["ours"]} */
  ours: (ours, { messages, budget }) => {
    const transcript = new ours.Transcript();
    let verdicts = 0;
    for (let turn = 0; turn < TURNS; turn++) {
      transcript.append(...turnOf(messages, turn));
      const preparation = { messagesToSummarize: transcript.range() };
      verdicts += Number(ours.compactionSummaryWouldExceedBudget(preparation, budget));
    }
    return verdicts;
  },
  /** @type {Row["pi"]} */
  pi: (pi, { messages, limit }) => {
    const session = [];
    let verdicts = 0;
    for (let turn = 0; turn < TURNS; turn++) {
      session.push(...turnOf(messages, turn));
      verdicts += Number(pi.promptTokens({ messagesToSummarize: session }) >= limit);
    }
    return verdicts;
  },
  /** @type {Row["assertEqual"]} */
  assertEqual: (ours, pi, data) => deepStrictEqual(growing.ours(ours, data), growing.pi(pi, data)),
};

/** The row that one over a large file follows. */
export const SMALL_FILE = "session file of 1–2.4 MB to sizes and plan";

/** @type {Row[]} */
export const rows = [
  {
    name: "guard, one shot, warm",
    when: "warm",
    atLeast: { 20: { before: 15, large: 10 }, 24: { before: 12, large: 8 } },
    ...guard,
  },
  { name: "guard, cold data caches", when: "cold", atLeast: { 20: { before: 5, large: 4 } }, ...guard },
  { name: "first guard in a process", when: "first", atLeast: { 20: { before: 2, large: 2 } }, ...guard },
  {
    name: "guard on every turn, 1,000 turns",
    when: "warm",
    atLeast: { 20: { before: 500 } },
    ...growing,
  },
  {
    name: "whole preparation, main thread",
    when: "main",
    atLeast: { 20: { before: 8, large: 6 } },
    ...whole,
  },
  { name: "whole preparation, wall", when: "wall", atLeast: { 20: { before: 3.5, large: 3.5 } }, ...whole },
  {
    name: "request bytes, main thread",
    when: "main",
    atLeast: { 20: { before: 10, large: 8 } },
    ...body,
  },
  { name: "request bytes, wall", when: "wall", atLeast: { 20: {} }, ...body },
  {
    name: SMALL_FILE,
    when: "warm",
    against: loadPiWithSessions,
    atLeast: { 20: { before: 10, large: 10 } },
    ...sessionFile,
  },
  { ...tokensOf("o200k_base"), when: "warm", atLeast: { 20: { before: 1.8, large: 1.8 } } },
  { ...tokensOf("cl100k_base"), when: "warm", atLeast: { 20: { before: 1.8, large: 1.8 } } },
  // Where native code helps little or not at all. Nothing is asked of these.
  { name: "serializeConversation, a JavaScript string", when: "warm", atLeast: { 20: {} }, ...text },
  { name: `guard over the first ${FEW} messages`, when: "warm", atLeast: { 20: {} }, ...smallGuard },
];

/**
 * The least ratio of a row; `undefined` where none is asked.
 *
 * @param {Row} row @param {number} major of Node @param {string} session
 */
export function leastRatio(row, major, session) {
  const since = Object.keys(row.atLeast).map(Number);
  const newest = Math.max(...since.filter((first) => first <= major));
  return row.atLeast[newest]?.[session];
}
