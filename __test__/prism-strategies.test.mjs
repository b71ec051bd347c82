// Other strategies on the same core: a model's, one for coding sessions, one of notes.

import assert from "node:assert/strict";
import test from "node:test";
import { createFolder } from "../examples/prism/attention.mjs";
import {
  createCodingCompactionStrategy,
  createLlmCompactionStrategy,
  createMemoryCompactionStrategy,
} from "../examples/prism/strategies.mjs";
import { isCompactionEntryData, rebuildSessionContext } from "../prism.js";
import { branch, called, entry, resulted, said, talk } from "./support/entries.mjs";
import { model, stored } from "./support/prism-session.mjs";

/** A host's provider that answers with one text. @param {string} text */
function writer(text) {
  /** @type {any[]} */
  const requests = [];
  const generate = async (/** @type {any} */ request) => {
    requests.push(request);
    return text;
  };
  return { generate, requests };
}

/** @param {any} strategy @param {any[]} entries @param {any} [more] */
const compacted = (strategy, entries, more) => strategy.compact({ sessionId: "s", entries, ...more });

test("E120 what a summary may take travels as model.parameters.maxTokens", async () => {
  for (const [maxSummaryTokens, expected] of /** @type {const} */ ([
    [undefined, model.limits.maxOutputTokens],
    [1_000, 1_000],
  ])) {
    const { generate, requests } = writer("## Goal\nPort it.");
    const own = { ...model, parameters: { temperature: 0 } };
    const strategy = createLlmCompactionStrategy({
      ...{ model: own, generate, keepRecentEntries: 2 },
      ...(maxSummaryTokens ? { maxSummaryTokens } : {}),
    });
    const { summary, entries: made } = await compacted(strategy, talk(12));
    assert.deepEqual(requests[0].model.parameters, { temperature: 0, maxTokens: expected });
    assert.equal(requests.length, 1);
    assert.equal(summary, "## Goal\nPort it.");
    assert.deepEqual(made[0].data.keepEntryIds, ["e10", "e11"]);
    assert.ok(isCompactionEntryData(made[0].data));
  }
});

test("E58 E119 only the strategy of a model asks one: for what is older, behind the earlier summary, without secrets", async () => {
  const { generate, requests } = writer("short");
  const strategy = createLlmCompactionStrategy({ model, generate, keepRecentEntries: 1 });
  const entries = talk(4, (at) => `text ${at} sk-live-0123`);
  const first = await compacted(strategy, entries, { secrets: ["sk-live-0123", undefined] });
  const next = [...entries, ...first.entries, entry("e4", first.entries[0].id, said("user", "text 4"))];
  await compacted(strategy, next);
  const prompts = requests.map(({ messages }) => JSON.stringify(messages));
  assert.match(prompts[0], /text 0 \*{12}[\s\S]*text 2/);
  assert.doesNotMatch(prompts[0], /text 3|sk-live/);
  assert.match(prompts[1], /text 3 [\s\S]*<previous-summary>\\nshort\\n/, "and what it does not cover");
  assert.doesNotMatch(prompts[1], /text [0124] /);
});

test("E73 a session runs any of them", async () => {
  const { generate } = writer("by a model");
  const strategy = createLlmCompactionStrategy({ model, generate });
  const { session: made, requests } = stored(30, { compaction: { strategy, thresholdEntries: 20 } });
  await made.run("hello");
  assert.equal(requests[0].messages[0].content[0].text, "by a model");
});

test("E121 a coding session keeps paths, intent, checks, plans, blockers and what to verify next, and no diffs", async () => {
  const diff = "--- a/src/parse.ts\n+++ b/src/parse.ts\n@@ -1 +1 @@\n-let depth = 0;\n+let depth = limit;";
  const failure = { error: { message: "src/parse.ts:7 unused variable" } };
  const entries = branch([
    said("user", "Fix the parser in src/parse.ts, it must never overflow the stack."),
    said("assistant", "The patch counts the depth because recursion overflows."),
    called("edit", { path: "src/parse.ts", patch: diff }),
    resulted("edit", diff),
    called("bash", { command: "npm test" }),
    resulted("bash", "12 passing"),
    called("lint", { command: "npm run lint" }),
    resulted("lint", undefined, failure),
    said(
      "assistant",
      "TODO: the words of the error.\nNext I remove the variable and verify with npm run lint.",
    ),
    said("user", "go on"),
  ]);
  const strategy = createCodingCompactionStrategy({ keepRecentEntries: 1 });
  const { summary } = await compacted(strategy, entries);
  const kept = {
    paths: /<modified-files>\nsrc\/parse\.ts/,
    intent: /- The patch counts the depth because recursion overflows\./,
    checks: /- bash `npm test`/,
    plans: /- TODO: the words of the error\./,
    blockers: /### Blocked\n- lint `npm run lint`/,
    next: /## Next Steps\n[^#]*verify with npm run lint/,
  };
  for (const [what, pattern] of Object.entries(kept)) assert.match(summary, pattern, what);
  assert.doesNotMatch(summary, /let depth|@@|\+\+\+/);
});

test("E122 notes that were taken beforehand are the summary, each with its source, and no model is asked", async () => {
  const notes = [
    { text: "The parser counts its depth.", sourceId: "e1" },
    { text: "Of another branch.", sourceId: "x" },
    { text: "Tests pass.", sourceId: "e3" },
  ];
  const strategy = createMemoryCompactionStrategy(() => notes, { keepRecentEntries: 2 });
  const entries = talk(6);
  const { summary, entries: made } = await compacted(strategy, entries);
  assert.equal(summary, "The parser counts its depth. [e1]\nTests pass. [e3]");
  const masked = await compacted(strategy, entries, { secrets: ["depth"] });
  assert.match(masked.summary, /^The parser counts its \*{5}\. \[e1\]/);
  const context = rebuildSessionContext([...entries, ...made]);
  assert.deepEqual([context.summaries, context.messages.length], [[summary], 2]);
});

test("E122 without a note the words themselves are told: nothing is forgotten", async () => {
  const strategy = createMemoryCompactionStrategy(() => [], { keepRecentEntries: 1 });
  const { summary, entries } = await compacted(strategy, talk(3));
  assert.equal(summary, "user: text 0\nassistant: text 1");
  assert.equal(entries[0].summary, summary);
});

test("a message whose content is a text is summarized and folded like any other", async () => {
  const plain = (/** @type {string} */ role, /** @type {string} */ content) => ({
    kind: "message",
    message: { role, content },
  });
  const entries = branch([plain("user", "Fix src/a.ts"), plain("assistant", "fixed"), said("user", "go on")]);
  const strategy = createCodingCompactionStrategy({ keepRecentEntries: 1 });
  assert.match((await compacted(strategy, entries)).summary, /Fix src\/a\.ts/);
  const messages = entries.map(({ message }) => message);
  assert.equal(createFolder().fold(messages, 1).messages.length, 3);
});
