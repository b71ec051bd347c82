import assert from "node:assert/strict";
import test from "node:test";
import { planChunks } from "../index.js";
import { frozen } from "./support/random.mjs";
import { conversation } from "./support/reference.mjs";
import { call, userOfTokens } from "./support/sound.mjs";
import { hasLoneSurrogate } from "./support/texts.mjs";

/** @typedef {import("./support/transcripts.mjs").Message} Message */

const LIMIT = 10_000;
const HEAD = "Head 😀 of the text. ";
const TAIL = " The 😀 end.";

/** @param {number} units */
function long(units) {
  return HEAD + "😀".repeat(units / 2) + TAIL;
}

/** The only message of the only chunk. @param {Message} message @param {number} promptLimit */
function cutOne(message, promptLimit = LIMIT) {
  const input = frozen({ messagesToSummarize: [message] });
  const chunks = planChunks(input, { promptLimit });
  assert.equal(chunks?.length, 1);
  assert.equal(chunks?.[0].length, 1);
  const [cut] = chunks?.[0] ?? [];
  assert.ok(conversation("pi-0.87", [cut]).length / 4 < promptLimit);
  assert.notEqual(cut, message);
  return cut;
}

/** @param {string} text */
function checkCut(text) {
  assert.ok(text.startsWith(HEAD) && text.endsWith(TAIL), "head and tail are kept");
  assert.match(text, /\[\.\.\..*\]/, "the cut is visible");
  assert.equal(hasLoneSurrogate(text), false);
  assert.ok(text.length > LIMIT * 4 * 0.5, `the chunk is used: ${text.length}`);
}

test("F5 G4 one user message of 200,000 units is cut with a marker, never through a pair", () => {
  for (const extra of [0, 1, 2, 3]) {
    const content = `${HEAD}${"x".repeat(extra)}${"😀".repeat(100_000)}${TAIL}`;
    const cut = cutOne({ role: "user", content, timestamp: 5 });
    checkCut(cut.content);
    assert.equal(cut.timestamp, 5, "the copy keeps what is not cut");
  }
});

test("G4 every kind of text is cut in its place", () => {
  const text = long(200_000);
  const custom = cutOne({
    role: "custom",
    customType: "note",
    content: [{ type: "text", text }],
    display: true,
  });
  checkCut(custom.content[0].text);
  for (const role of ["branchSummary", "compactionSummary"])
    checkCut(cutOne({ role, summary: text }).summary);
  const bash = cutOne({ role: "bashExecution", command: "cat big", output: text, exitCode: 0 });
  assert.equal(bash.command, "cat big");
  checkCut(bash.output);
  const said = cutOne({ role: "assistant", content: [{ type: "text", text }], stopReason: "stop" });
  checkCut(said.content[0].text);
  assert.equal(said.stopReason, "stop");
});

test("G4 tool-call arguments are cut too; name and id stay", () => {
  const text = long(200_000);
  const cut = cutOne(call("c1", { path: "src/a.ts", content: text }));
  const [block] = cut.content;
  assert.deepEqual([block.type, block.id, block.name], ["toolCall", "c1", "read"]);
  const printed = conversation("pi-0.87", [cut]);
  assert.ok(printed.startsWith("[Assistant tool calls]: read(") && printed.includes("src/a.ts"));
  assert.match(printed, /\[\.\.\./);
  assert.ok(printed.includes("Head 😀") && printed.includes("The 😀 end."));
  assert.equal(hasLoneSurrogate(printed), false);
});

test("G4 nested arguments, many arguments and many blocks are cut small enough", () => {
  const text = "n".repeat(150_000);
  const many = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [`key${index}`, "v".repeat(400)]),
  );
  cutOne(call("c1", { edits: [{ oldText: text, newText: text }] }));
  cutOne(call("c1", many));
  cutOne(call("c1", { [text]: 1 }));
  cutOne({
    role: "user",
    content: Array.from({ length: 400 }, () => ({ type: "text", text: "b".repeat(500) })),
  });
  cutOne({
    role: "assistant",
    content: Array.from({ length: 300 }, (_, i) => call(`c${i}`, many).content[0]),
  });
});

test("G4 blocks that are not text stay in the cut message", () => {
  const image = { type: "image", data: "aGk=", mimeType: "image/png" };
  const cut = cutOne({ role: "user", content: [image, { type: "text", text: long(200_000) }] });
  assert.ok(cut.content.includes(image));
});

test("G4 a cut message is bounded, never minute: neighbours keep their own chunk", () => {
  const giant = { role: "user", content: long(400_000) };
  const range = [userOfTokens(500), giant, userOfTokens(500)];
  const chunks = planChunks(frozen({ messagesToSummarize: range }), {
    promptLimit: LIMIT,
    boundary: "message",
  });
  const all = chunks?.flat() ?? [];
  assert.equal(all[0], range[0]);
  assert.equal(all[2], range[2]);
  assert.ok(all[1].content.length > 10_000);
});

test("G11 F5 no room for text is an error, never a message of four units", () => {
  const input = frozen({ messagesToSummarize: [userOfTokens(500)], previousSummary: "p".repeat(4_000) });
  for (const options of [
    { promptLimit: 1_000 },
    { promptLimit: 900 },
    { promptLimit: 5_000, reserve: 5_000 },
    { promptLimit: 5_000, reserve: 6_000 },
    { promptLimit: 0 },
    { promptLimit: 10_000, customInstructions: "i".repeat(60_000) },
  ]) {
    assert.throws(() => planChunks(input, options), { name: "CompactionError", code: "summary_budget" });
  }
});

test("G11 a room too small for a readable message is an error or a plan that fits, for every role", () => {
  const text = "word ".repeat(400);
  /** @type {Message[]} */
  const messages = [
    { role: "user", content: text },
    { role: "custom", customType: "note", content: text, display: true },
    { role: "branchSummary", summary: text, fromId: "b" },
    { role: "compactionSummary", summary: text, tokensBefore: 5 },
    {
      role: "bashExecution",
      command: text,
      output: text,
      exitCode: 3,
      truncated: true,
      fullOutputPath: text,
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: text },
        { type: "text", text },
      ],
    },
    call("c1", { path: text, content: text }),
    {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "read",
      content: [{ type: "text", text }],
      isError: false,
    },
  ];
  for (const message of messages) {
    for (let promptLimit = 1; promptLimit < 160; promptLimit++) {
      const label = `${message.role} at ${promptLimit}`;
      try {
        const chunks = planChunks(frozen({ messagesToSummarize: [message] }), { promptLimit }) ?? [];
        const printed = conversation("pi-0.87", chunks.flat());
        assert.ok(Math.ceil(printed.length / 4) < promptLimit, `${label}: ${printed.length} units`);
        assert.ok(printed.length >= 32, `${label}: ${printed.length} units`);
      } catch (error) {
        assert.equal(/** @type {any} */ (error).code, "summary_budget", `${label}: ${error}`);
      }
    }
  }
});
