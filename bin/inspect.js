"use strict";

// `pi-compaction inspect`: what fills a context, and what a compaction would do with it.

const { basename } = require("node:path");
const library = require("../index.js");
const { prepare } = require("./prepare.js");
const { bar, reporter, table, wrapped } = require("./report.js");
const { openSession, reportLines } = require("./session.js");
const { clip, count } = require("./text.js");

/** @typedef {import("./session.js").Session} Session */
/** @typedef {import("./session.js").Message} Message */
/** @typedef {ReturnType<typeof prepare>} Prepared */

/** Columns of the longest bar. */
const BAR = 18;
/** Messages in the table of the largest. */
const LARGEST = 8;
/** Columns of a message's first words. */
const WORDS = 45;

/** @param {number} number @param {string} noun */
const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
/** @param {readonly Message[]} messages */
const tokensOf = (messages) => messages.reduce((sum, message) => sum + library.estimateTokens(message), 0);
/** @param {number} part @param {number} whole */
const percent = (part, whole) => `${whole === 0 ? 0 : Math.round((100 * part) / whole)}%`;

/** What a message says or does first. @param {any} message */
function firstText({ role, content, command, summary }) {
  if (role === "bashExecution") return `$ ${command}`;
  if (typeof summary === "string") return summary;
  if (typeof content === "string") return content;
  const blocks = Array.isArray(content) ? content : [];
  const words = blocks.find((block) => typeof block?.text === "string" && block.text.trim() !== "");
  if (words) return words.text;
  const calls = blocks.filter((block) => block?.type === "toolCall").map((block) => `call ${block.name}`);
  return calls.join(", ") || blocks.map((block) => block?.type).join(", ");
}

/** @param {Session} session @returns {string[]} */
function roleRows({ messages, previousSummary }) {
  const roles = new Map(/** @type {[string, Message[]][]} */ ([]));
  for (const message of messages) {
    const role = clip(String(message.role), 16);
    const list = roles.get(role);
    if (list) list.push(message);
    else roles.set(role, [message]);
  }
  const sizes = [...roles].map(([role, list]) => ({
    role,
    messages: list.length,
    units: library.serializeConversation(list).length,
    tokens: tokensOf(list),
  }));
  if (previousSummary !== undefined) {
    const tokens = tokensOf([{ role: "compactionSummary", summary: previousSummary }]);
    sizes.push({ role: "previous summary", messages: 1, units: previousSummary.length, tokens });
  }
  const total = sizes.reduce((sum, { tokens }) => sum + tokens, 0);
  const most = Math.max(...sizes.map(({ tokens }) => tokens));
  sizes.sort((a, b) => b.tokens - a.tokens);
  const rows = sizes.map(({ role, messages, units, tokens }) => [
    role,
    ...[messages, units, tokens].map(count),
    percent(tokens, total),
    bar(most === 0 ? 0 : tokens / most, BAR),
  ]);
  const lines = table(["role", ">messages", ">units", ">tokens", ">share", ""], rows);
  return [...lines, "  Units: as a summary request holds them, tool output capped. Tokens: all of it."];
}

/** @param {Session} session @returns {string[]} */
function largestRows({ messages }) {
  const sized = messages.map((message, index) => ({
    message,
    index,
    tokens: library.estimateTokens(message),
  }));
  sized.sort((a, b) => b.tokens - a.tokens || a.index - b.index);
  const rows = sized
    .slice(0, LARGEST)
    .map(({ message, index, tokens }) => [
      String(index),
      clip(String(message.role), 13),
      count(tokens),
      clip(firstText(message), WORDS),
    ]);
  return table([">index", "role", ">tokens", "first words"], rows);
}

/** @param {Prepared} prepared */
function budgetRows({ budget }) {
  return table(
    ["", ">tokens"],
    [
      ["most that the context may hold", count(budget.hardLimit)],
      ["held back for a request", count(budget.requestHeadroom)],
      ["recent context that stays", count(budget.keepRecentTokens)],
      ["most that a summary may take", count(budget.summaryOutput)],
      ["a summary request must stay below", count(budget.summaryInputLimit)],
    ],
  ).slice(1);
}

/** @param {Prepared} prepared */
function cutRows({ preparation, kept }) {
  const part = (/** @type {string} */ name, /** @type {readonly Message[]} */ list) => [
    name,
    count(list.length),
    count(tokensOf(list)),
  ];
  const { messagesToSummarize, turnPrefixMessages, isSplitTurn } = preparation;
  const rows = [part("summarized", messagesToSummarize)];
  if (isSplitTurn && turnPrefixMessages.length > 0)
    rows.push(part("summarized, start of a turn", turnPrefixMessages));
  rows.push(part("kept", kept));
  return table(["", ">messages", ">tokens"], rows);
}

/** @param {Prepared} prepared */
function guardOf({ preparation, budget, model }) {
  const reduced = library.reduceSummaryInput(preparation);
  const exceeds = (/** @type {any} */ input) =>
    library.compactionSummaryWouldExceedBudget(input, budget, model);
  const limit = Math.max(budget.summaryInputLimit, 1);
  const forms = [{ name: "as it is", input: preparation }];
  if (reduced) forms.push({ name: "tool output reduced", input: reduced });
  const tokens = forms.map(({ input }) => library.estimateSummaryPromptTokens(input));
  const widest = Math.max(limit, ...tokens);
  const rows = forms.map(({ name, input }, at) => [
    name,
    exceeds(input) ? "exceeds" : "fits",
    count(tokens[at]),
    percent(tokens[at], limit),
    bar(tokens[at] / widest, BAR),
  ]);
  const lines = table(["", "request", ">tokens", ">of limit", ""], rows);
  if (!reduced) lines.push("  Nothing to reduce.");
  return { lines, input: exceeds(preparation) ? (reduced ?? preparation) : preparation };
}

/** @param {Prepared} prepared @param {any} input */
function chunkRows({ budget }, input) {
  try {
    const chunks = library.planChunks(input, { promptLimit: budget.summaryInputLimit });
    if (!chunks) return ["  More chunks than one compaction may send; raise --window."];
    const tokens = chunks.map((chunk) => library.estimateSummaryPromptTokens({ messagesToSummarize: chunk }));
    const rows = chunks.map((chunk, at) => [
      String(at + 1),
      count(chunk.length),
      count(tokens[at]),
      bar(tokens[at] / Math.max(budget.summaryInputLimit, 1), BAR),
    ]);
    return table([">chunk", ">messages", ">tokens", ""], rows);
  } catch (error) {
    if (error instanceof library.CompactionError && error.code === "summary_budget")
      return wrapped(`None: ${error.message}.`, 80);
    throw error;
  }
}

/** @param {Prepared} prepared */
function tailRows({ budget, messages }) {
  const most = budget.fallbackTailTokens;
  const tail = library.buildRetainedTail(messages, most);
  const tokens = tokensOf(tail);
  const share = bar(most > 0 ? tokens / most : 0, BAR);
  return table(
    [">messages", ">tokens", ">at most", ""],
    [[count(tail.length), count(tokens), count(most), share]],
  );
}

/** @param {Session} session @param {Prepared} prepared */
function summaryLines({ messages, previousSummary }, { context }) {
  const origin = context.lastUsageIndex === null ? "estimated" : "as reported and estimated";
  const lines = [`  ${counted(messages.length, "message")}, ${counted(context.tokens, "token")} ${origin}`];
  if (previousSummary !== undefined) lines.push("  begins with the summary of an earlier compaction");
  return lines;
}

/** @param {{ path: string, window?: number, maxOutput?: number }} request */
async function inspect({ path, ...limits }) {
  const session = await openSession(path);
  reportLines(session, (line) => process.stderr.write(`${line}\n`));
  const prepared = prepare(session, limits);
  const section = reporter(process.stdout);
  section(`Session ${clip(basename(path), 70)}`, summaryLines(session, prepared));
  if (session.messages.length === 0) return;
  section("Sizes by role", roleRows(session));
  section("Largest messages", largestRows(session));
  section("Budget of the model", budgetRows(prepared));
  section("Cut", cutRows(prepared));
  if (prepared.kept.length === prepared.messages.length) {
    section("Nothing to compact", ["  The whole context is recent; it would stay as it is."]);
    return;
  }
  const guard = guardOf(prepared);
  section("Guard: does one summary request fit?", guard.lines);
  section("Chunks of that request", chunkRows(prepared, guard.input));
  section("Tail that a fallback would retain", tailRows(prepared));
}

module.exports = inspect;
