// One compaction by the extension, in each pi: what is asked, what is told, what stays in the session file.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test, { before } from "node:test";
import { conversationOf, previousOf } from "./support/model.mjs";
import { guestOf } from "./support/pi-guest.mjs";
import { CHAT, SMALL } from "./support/pi-home.mjs";
import { inEachPi } from "./support/pi-hosts.mjs";

const WORDS = "Keep the names of the benches.";
/** A reply that says which request it answers. @param {{ index: number }} request */
const numbered = ({ index }) => `SUMMARY-${index + 1}`;

inEachPi((host, scope) => {
  /** @type {import("./support/pi-guest.mjs").Guest} */
  let guest;
  /** @type {any} A compaction that most tests look at, and what came of it. */
  let run;
  before(async () => {
    guest = await guestOf(scope, host);
    const command = { customInstructions: WORDS };
    run = await guest.compact({ chosen: { model: SMALL }, steps: [numbered], command });
    assert.equal(run.answer.success, true, JSON.stringify(run.answer));
  });

  test("D1 D2 D6 D54 D91 the range goes to the chosen model, chunk after chunk", () => {
    assert.ok(run.requests.length >= 5, `${run.requests.length} requests`);
    for (const [index, request] of run.requests.entries()) {
      assert.equal(request.json.model, "small", "D2 not the chat's model");
      assert.match(request.system, /Write in English/, "D54 D91");
      assert.match(request.system, /letter by letter/, "D54");
      assert.equal(request.system, run.requests[0].system, "D54 one system prompt");
      assert.equal(previousOf(request.prompt), index === 0 ? undefined : `SUMMARY-${index}`);
      assert.match(request.headers.authorization, /^Bearer ./);
      assert.ok(request.prompt.includes(WORDS), "what /compact was given");
    }
    assert.deepEqual([run.thrown, guest.home.server.faults], [[], []]);
  });

  test("D13 the whole range is in it, history and the beginning of a split turn", () => {
    const texts = run.requests.map(({ prompt }) => conversationOf(prompt)).join("\n");
    const said = userTexts(run.entries, run.answer.data.firstKeptEntryId);
    assert.ok(said.length > 3);
    for (const text of said) assert.ok(texts.includes(text.slice(0, 200)), `D13 ${text.slice(0, 60)}`);
    assert.equal(
      texts.includes("[Assistant thinking]: "),
      host.version !== "1.6.0",
      "in the words of this pi",
    );
  });

  test("D5 D82 D86 D87 the summary stands in pi's session, framed", () => {
    const [{ summary }] = run.checkpoints;
    assert.equal(summary, run.answer.data.summary);
    assert.match(summary, /\d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC/, "D86");
    assert.match(summary, /covers only the compacted beginning/, "D87");
    assert.ok(summary.includes(`SUMMARY-${run.requests.length}`), "D5 the last running summary");
    assert.match(summary, /<read-files>\n[\s\S]*<\/modified-files>$/, "D88");
    const fields = ["Goal", "Constraints", "Progress", "Key Decisions", "Next Steps", "Critical Context"];
    for (const field of fields) assert.ok(run.requests[0].prompt.includes(`## ${field}`), `D82 ${field}`);
  });

  test("D107 D109 D111 D112 D114 a ledger from plan to total, each line notified", () => {
    const { ledger, notified, requests } = run;
    const of = requests.length;
    assert.deepEqual(ledger[0], { step: "plan", text: `${SMALL}: ${of} chunks planned` }, "D111");
    const chunks = ledger.filter(({ step }) => step === "chunk").map(({ text }) => text);
    const shares = Array.from({ length: of }, (_, index) => Math.round((100 * (index + 1)) / of));
    const expected = shares.map(
      (share, index) => `chunk ${index + 1}/${of} (${share} %): summary of 3 tokens`,
    );
    assert.deepEqual(chunks, expected, "D112");
    const { step, text } = ledger.at(-1);
    assert.equal(step, "done", "D114");
    const total = `^done: ${of} chunks, 0 splits, 0 compressions, \\d+\\.\\d s, [\\d,]+ to \\d+ tokens$`;
    assert.match(text, new RegExp(total));
    assert.equal(ledger.length, of + 2);
    const told = notified.map(({ message }) => message);
    assert.deepEqual(
      told,
      ledger.map((line) => `refine-compact: ${line.text}`),
      "D107",
    );
    assert.deepEqual(run.warnings, []);
  });

  test("B30 B31 B32 B40 E1 E123 D108 the session file grows by lines and loses none", async () => {
    const untouched = run.before.split("\n").filter((line) => line !== "");
    assert.deepEqual(linesOf(run.file).slice(0, untouched.length), untouched, "B31 byte for byte");
    assert.deepEqual(
      run.entries.slice(untouched.length).map(({ type }) => type),
      [...run.ledger.map(() => "custom"), "compaction"],
    );
    const stock = await guest.compact();
    const [checkpoint] = run.checkpoints;
    const [ofStock] = stock.checkpoints;
    assert.equal(checkpoint.firstKeptEntryId, ofStock.firstKeptEntryId);
    assert.equal(checkpoint.tokensBefore, ofStock.tokensBefore);
    assert.equal(checkpoint.fromHook, true);
  });

  test("D5 D110 the next request holds the summary, and no line of the ledger", async () => {
    const { home, pi } = guest;
    const chosen = { model: SMALL };
    const { answer } = await guest.compact({ chosen, steps: [numbered] });
    const asked = home.requests.length;
    const heard = pi.lines.length;
    await pi.ask({ type: "prompt", message: "What comes next?" });
    await pi.next(({ type }) => type === "agent_end", "the end of the turn", heard);
    const { json } = home.requests[asked];
    const text = JSON.stringify(json.messages);
    assert.equal(json.model, "chat");
    assert.ok(text.includes("What comes next?"));
    assert.ok(text.includes(JSON.stringify(answer.data.summary).slice(1, -1)), "D5");
    assert.ok(!/chunks? planned|refine-compact|\(\d+ %\)|compressions/.test(text), "D110");
  });

  test("D89 D90 D118 the checkpoint says how it was made", async () => {
    const chosen = { model: "session", maxPromptTokens: 9_000 };
    const { checkpoints, requests } = await guest.compact({ chosen });
    const [{ details }] = checkpoints;
    assert.equal(details.refineCompactModel, CHAT, "D118 never the word session");
    assert.equal(details.chunks, requests.length, "D90");
    assert.deepEqual([details.retrySplits, details.cacheHits, details.shrinkCount], [0, 0, 0], "D90 D118");
    assert.equal(details.budgets.maxPromptTokens, 9_000, "D89");
  });

  test("D113 D114 splits and compressions stand in the ledger", async () => {
    const steps = [({ index, prompt }) => (index === 0 ? CUT_OFF_LATE : isChunk(prompt) ? LONG : "SHORT")];
    const chosen = { model: SMALL, summaryCeilingTokens: 3_000 };
    const begun = Date.now();
    const { ledger, checkpoints } = await guest.compact({ chosen, steps });
    const split = ledger.find(({ step }) => step === "split");
    assert.match(split.text, /^chunk 1\/\d+ halved, level 1: its answer was cut off$/, "D113");
    const compress = ledger.find(({ step }) => step === "compress");
    assert.match(compress.text, /^summary compressed from [\d,]+ to [\d,]+ tokens?$/);
    const [{ details }] = checkpoints;
    assert.ok(details.retrySplits >= 1 && details.shrinkCount >= 1);
    const counts = /(\d+) splits?, (\d+) compressions?/.exec(ledger.at(-1).text).slice(1).map(Number);
    assert.deepEqual(counts, [details.retrySplits, details.shrinkCount], "D114");
    const seconds = Number(/, (\d+\.\d) s,/.exec(ledger.at(-1).text)?.[1]);
    assert.ok(seconds >= 0.2 && seconds <= (Date.now() - begun) / 1000 + 0.1, "D114 elapsed");
  });

  test("a second compaction carries the first on", async () => {
    const { home, pi } = guest;
    const watch = await guest.visit({ chosen: { model: SMALL }, steps: [numbered] });
    await pi.ask({ type: "compact" });
    for (const message of ["Go on.", "And on."]) {
      const heard = pi.lines.length;
      home.script([{ text: "word ".repeat(6_000) }]);
      await pi.ask({ type: "prompt", message });
      await pi.next(({ type }) => type === "agent_end", "the end of the turn", heard);
    }
    const asked = home.requests.length;
    home.script(["THE SECOND"]);
    const { success } = await pi.ask({ type: "compact" });
    const { checkpoints, thrown } = watch.seen();
    assert.equal(success, true);
    const [first, second] = checkpoints;
    const carried = previousOf(home.requests[asked].prompt);
    assert.match(carried, /SUMMARY-\d/);
    assert.doesNotMatch(
      carried,
      /covers only the compacted beginning/,
      "what stands around it is not carried",
    );
    assert.match(second.summary, /THE SECOND/);
    assert.notEqual(first.firstKeptEntryId, second.firstKeptEntryId);
    assert.deepEqual(thrown, []);
  });
});

const CUT_OFF_LATE = { text: "half a summ", ending: /** @type {const} */ ("length"), beforeMs: 250 };
const LONG = "LONG ".repeat(3_000);
/** @param {string} prompt */
const isChunk = (prompt) => prompt.includes("<conversation>");

/** @param {string} file */
const linesOf = (file) => readFileSync(file, "utf8").split("\n");

/** What users said before the first entry that is kept. @param {any[]} entries @param {string} firstKept */
function userTexts(entries, firstKept) {
  const range = entries.slice(
    0,
    entries.findIndex(({ id }) => id === firstKept),
  );
  const users = range.filter(({ message }) => message?.role === "user");
  return users.flatMap(({ message }) => message.content.map((/** @type {any} */ { text }) => text ?? ""));
}
