// One compaction by the extension, in each pi: what is asked, what is told, what stays in the session file.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { conversationOf, previousOf } from "./support/model.mjs";
import { CHAT, checkpointsOf, entriesOf, homeOf, ledgerOf, SMALL } from "./support/pi-home.mjs";
import { inEachPi } from "./support/pi-hosts.mjs";
import { startRpc } from "./support/pi-rpc.mjs";

/** A reply that says which request it answers. @param {{ index: number }} request */
const numbered = ({ index }) => `SUMMARY-${index + 1}`;

/** @param {any} t @param {import("./support/pi-hosts.mjs").Host} host @param {object} how @param {object} command */
async function compacted(t, host, how, command = {}) {
  const home = await homeOf(t, how);
  const before = readFileSync(home.file, "utf8");
  const pi = startRpc(t, host, home);
  const answer = await pi.ask({ type: "compact", ...command });
  assert.deepEqual([pi.thrown, home.server.faults], [[], []]);
  return { home, pi, before, answer, entries: entriesOf(home.file) };
}

inEachPi("D1 D2 D6 D13 D54 D91 the range goes to the chosen model, chunk after chunk", async (t, host) => {
  const { home, answer } = await compacted(t, host, { chosen: { model: SMALL }, steps: [numbered] });
  assert.equal(answer.success, true, JSON.stringify(answer));
  const { requests } = home;
  assert.ok(requests.length >= 5, `${requests.length} requests`);
  for (const [index, request] of requests.entries()) {
    assert.equal(request.json.model, "small", "D2 not the chat's model");
    assert.match(request.system, /Write in English/, "D54 D91");
    assert.match(request.system, /letter by letter/, "D54");
    assert.equal(request.system, requests[0].system, "D54 one system prompt");
    assert.equal(previousOf(request.prompt), index === 0 ? undefined : `SUMMARY-${index}`);
    assert.equal(request.headers.authorization?.startsWith("Bearer "), true);
  }
  const texts = requests.map(({ prompt }) => conversationOf(prompt)).join("\n");
  const said = userTexts(home.file, answer.data.firstKeptEntryId);
  assert.ok(said.length > 3);
  for (const text of said) assert.ok(texts.includes(text.slice(0, 200)), `D13 ${text.slice(0, 60)}`);
});

/** What users said before the first entry that is kept. @param {string} file @param {string} firstKept */
function userTexts(file, firstKept) {
  const entries = entriesOf(file);
  const range = entries.slice(
    0,
    entries.findIndex(({ id }) => id === firstKept),
  );
  const users = range.filter(({ message }) => message?.role === "user");
  return users.flatMap(({ message }) => message.content.map((/** @type {any} */ { text }) => text ?? ""));
}

inEachPi("D5 D82 D86 D87 the summary stands in pi's session, framed", async (t, host) => {
  const { answer, home, entries } = await compacted(t, host, { chosen: { model: SMALL }, steps: [numbered] });
  const [checkpoint] = checkpointsOf(entries);
  assert.equal(checkpoint.summary, answer.data.summary);
  assert.match(checkpoint.summary, /\d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC/, "D86");
  assert.match(checkpoint.summary, /covers only the compacted beginning/, "D87");
  assert.ok(checkpoint.summary.includes(`SUMMARY-${home.requests.length}`), "D5 the last running summary");
  assert.match(checkpoint.summary, /<read-files>\n[\s\S]*<\/modified-files>$/);
  const fields = ["Goal", "Constraints", "Progress", "Key Decisions", "Next Steps", "Critical Context"];
  for (const field of fields) assert.ok(home.requests[0].prompt.includes(`## ${field}`), `D82 ${field}`);
});

inEachPi("D89 D90 D118 the checkpoint says how it was made", async (t, host) => {
  const chosen = { model: "session", maxPromptTokens: 9_000 };
  const { entries, home } = await compacted(t, host, { chosen, steps: [numbered] });
  const [{ details }] = checkpointsOf(entries);
  assert.equal(details.refineCompactModel, CHAT, "D118 never the word session");
  assert.equal(details.chunks, home.requests.length, "D90");
  assert.deepEqual([details.retrySplits, details.cacheHits, details.shrinkCount], [0, 0, 0], "D90 D118");
  assert.deepEqual(Object.keys(details.budgets).sort(), [
    "chunkBudget",
    "hardCeiling",
    "maxOutputTokens",
    "maxPromptTokens",
    "ratio",
    "safetyBudget",
    "summaryCeilingTokens",
  ]);
  assert.equal(details.budgets.maxPromptTokens, 9_000, "D89");
});

inEachPi("B30 B31 B32 B40 E1 E123 D108 the session file grows by lines and loses none", async (t, host) => {
  const stock = await compacted(t, host, {});
  const { before, home, entries } = await compacted(t, host, { chosen: { model: SMALL } });
  const after = readFileSync(home.file, "utf8");
  const untouched = before.split("\n").filter((line) => line !== "");
  assert.deepEqual(after.split("\n").slice(0, untouched.length), untouched, "B31 byte for byte");
  const added = entries.slice(untouched.length).filter(({ type }) => !/_change$/.test(type));
  assert.deepEqual(
    added.map(({ type }) => type),
    [...ledgerOf(added).map(() => "custom"), "compaction"],
  );
  const [checkpoint] = checkpointsOf(entries);
  const [ofStock] = checkpointsOf(stock.entries);
  assert.equal(checkpoint.firstKeptEntryId, ofStock.firstKeptEntryId);
  assert.equal(checkpoint.tokensBefore, ofStock.tokensBefore);
  assert.equal(checkpoint.fromHook, true);
});

inEachPi("D107 D109 D111 D112 D114 a ledger from plan to total, each line notified", async (t, host) => {
  const { entries, pi, home } = await compacted(t, host, { chosen: { model: SMALL } });
  const lines = ledgerOf(entries);
  const of = home.requests.length;
  assert.deepEqual(lines[0], { step: "plan", text: `${SMALL}: ${of} chunks planned` }, "D111");
  const chunks = lines.filter(({ step }) => step === "chunk").map(({ text }) => text);
  const shares = Array.from({ length: of }, (_, index) => Math.round((100 * (index + 1)) / of));
  const expected = shares.map((share, index) => `chunk ${index + 1}/${of} (${share} %): summary of 3 tokens`);
  assert.deepEqual(chunks, expected, "D112");
  const { step, text } = lines.at(-1);
  assert.equal(step, "done", "D114");
  assert.match(
    text,
    new RegExp(`^done: ${of} chunks, 0 splits, 0 compressions, \\d+\\.\\d s, [\\d,]+ to \\d+ tokens$`),
  );
  assert.equal(lines.length, of + 2);
  const told = pi.notified.map(({ message }) => message);
  assert.deepEqual(
    told,
    lines.map((line) => `refine-compact: ${line.text}`),
    "D107",
  );
  assert.deepEqual(pi.warnings, []);
});

inEachPi("D113 D114 splits and compressions stand in the ledger", async (t, host) => {
  let cut = 0;
  const steps = [
    ({ prompt }) => {
      if (cut++ === 0) return { text: "half a summ", ending: "length" };
      return previousOf(prompt) === undefined || prompt.includes("<conversation>")
        ? "LONG ".repeat(3_000)
        : "SHORT";
    },
  ];
  const chosen = { model: SMALL, summaryCeilingTokens: 3_000 };
  const { entries } = await compacted(t, host, { chosen, steps });
  const lines = ledgerOf(entries);
  const split = lines.find(({ step }) => step === "split");
  assert.match(split.text, /^chunk 1\/\d+ halved, level 1: its answer was cut off$/, "D113");
  const compress = lines.find(({ step }) => step === "compress");
  assert.match(compress.text, /^summary compressed from [\d,]+ to [\d,]+ tokens?$/);
  const [{ details }] = checkpointsOf(entries);
  assert.ok(details.retrySplits >= 1 && details.shrinkCount >= 1);
  const counts = lines
    .at(-1)
    .text.match(/(\d+) splits?, (\d+) compressions?/)
    .slice(1)
    .map(Number);
  assert.deepEqual(counts, [details.retrySplits, details.shrinkCount], "D114");
});

inEachPi("D5 D110 the next request holds the summary, and no line of the ledger", async (t, host) => {
  const { pi, home, answer } = await compacted(t, host, { chosen: { model: SMALL } });
  const asked = home.requests.length;
  await pi.ask({ type: "prompt", message: "What comes next?" });
  await pi.next(({ type }) => type === "agent_end", "the end of the turn");
  const { json } = home.requests[asked];
  const text = JSON.stringify(json.messages);
  assert.equal(json.model, "chat");
  assert.ok(text.includes("What comes next?"));
  assert.ok(text.includes(JSON.stringify(answer.data.summary).slice(1, -1)), "D5");
  assert.ok(!/chunks? planned|refine-compact|\(\d+ %\)|compressions/.test(text), "D110");
});

inEachPi("customInstructions of /compact reach each request", async (t, host) => {
  const words = "Keep the names of the benches.";
  const command = { customInstructions: words };
  const { home } = await compacted(t, host, { chosen: { model: SMALL } }, command);
  for (const { prompt } of home.requests) assert.ok(prompt.includes(words));
});
