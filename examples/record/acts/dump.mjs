import { bash, edit, ending, fails, grep, read, say, step, think, user, write } from "../say.mjs";

const SCRIPT = `// Prints what js/gather.js writes of each message of a pi session, with the names of the records.
//
//   node scripts/dump-records.mjs session.jsonl

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { Depth, gather } = createRequire(import.meta.url)("../js/gather.js");

/** Names of the kinds by number; read from \`enum Tag\`, so that there is no third copy of them. */
function names() {
  const source = readFileSync(new URL("../src/transcript/part.rs", import.meta.url), "utf8");
  const body = source.slice(source.indexOf("pub enum Tag {"), source.indexOf("impl Tag {"));
  return [...body.matchAll(/^ {4}(\\w+) = \\d+,$/gm)].map(([, name]) => name);
}

/** The messages of a session file. */
function messagesOf(path) {
  const entries = readFileSync(path, "utf8").trim().split("\\n").map((line) => JSON.parse(line));
  return entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
}

function print(records, end) {
  const kinds = names();
  for (let at = 0; at < end; at += 2) {
    const [word, units] = records.subarray(at, at + 2);
    const kind = kinds[word & 0x1f] ?? \`unknown \${word & 0x1f}\`;
    const scope = word & 0x40 ? "shown only" : word & 0x80 ? "weighed only" : "";
    const address = kind === "Message" ? \`header 0x\${(word >>> 8).toString(16)}\` : \`address \${word >>> 8}\`;
    console.log([String(at).padStart(5), kind.padEnd(14), String(units).padStart(6), address, scope].join("  ").trimEnd());
  }
}

const messages = messagesOf(process.argv[2]);
gather(messages, { depth: Depth.TEXT }, (records, ends) => print(records, ends.at(-1)));
`;

/** A small session with what a session can hold. */
const SESSION = [
  { type: "session", version: 3, id: "s", timestamp: "2025-01-01T00:00:00.000Z", cwd: "/" },
  ...[
    { role: "user", content: "naïve 😀 日本語" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Two files, one look." },
        { type: "text", text: "I'll read both." },
        { type: "toolCall", id: "a", name: "read", arguments: { path: "a.rs", limit: 20 } },
        { type: "toolCall", id: "b", name: "read", arguments: { path: "b.rs", nested: { deep: [1, 2] } } },
      ],
      stopReason: "toolUse",
    },
    {
      role: "toolResult",
      toolCallId: "a",
      content: [{ type: "text", text: "fn main() {}\n" }],
      isError: false,
    },
    { role: "toolResult", toolCallId: "b", content: [{ type: "text", text: "no such file" }], isError: true },
    { role: "bashExecution", command: "ls", output: "a.rs\n", exitCode: 0 },
    { role: "bashExecution", command: "false", output: "", exitCode: 1, excludeFromContext: true },
    {
      role: "user",
      content: [
        { type: "text", text: null },
        { type: "image", data: "", mimeType: "image/png" },
      ],
    },
    { role: "branchSummary", summary: "Tried a macro; went back." },
    { role: "assistant", content: [{ type: "text", text: "Half a sent" }], stopReason: "aborted" },
    { role: "stranger", content: "prints nothing" },
  ].map((message, i) => ({ type: "message", id: `e${i}`, parentId: i > 0 ? `e${i - 1}` : null, message })),
];

const TEST = `import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { test } from "node:test";

const { Depth, gather } = createRequire(import.meta.url)("../js/gather.js");

const dump = (...args) => spawnSync(process.execPath, ["scripts/dump-records.mjs", ...args], { encoding: "utf8" });

const gathered = (...messages) =>
  gather({ messages }, { depth: Depth.TEXT }, (records, [end]) => [...records.subarray(0, end)]);

test("every record is printed with its name", () => {
  const { status, stdout } = dump("__test__/fixtures/small-session.jsonl");
  assert.equal(status, 0);
  assert.match(stdout, /Text +12 +address 16777215$/m);
  assert.match(stdout, /QuotedKey/);
  assert.doesNotMatch(stdout, /unknown/);
});

test("a text that is no string is printed and weighed by different numbers", () => {
  const { stdout } = dump("__test__/fixtures/small-session.jsonl");
  assert.match(stdout, /shown only/);
  assert.match(stdout, /weighed only/);
});

test("a file that cannot be read is one line and exit code 1", () => {
  const { status, stderr } = dump("nowhere.jsonl");
  assert.equal(status, 1);
  assert.equal(stderr.trim().split("\\n").length, 1);
});

test("a message whose getter throws stands there empty", () => {
  const message = {
    role: "user",
    get content() {
      throw new Error("gone");
    },
  };
  assert.deepEqual(gathered(message), [0, 0]);
  assert.equal(gathered(message, { role: "user", content: "next" }).length, 6);
});
`;

const FIXTURE = "__test__/fixtures/small-session.jsonl";

const build = [
  user(
    "Next, a helper for debugging: scripts/dump-records.mjs FILE reads a pi session (JSONL), gathers every message and prints the records with their names. Without the native binding please, it is not built on my laptop.",
  ),
  step(
    "js/gather.js needs no binding; I'll look again at how it wants to be called.",
    read("js/gather.js", { offset: 318, limit: 71 }),
    grep("gather\\(", { path: "index.js", context: 5 }),
  ),
  step(
    "The script, and a small session to try it on, with the odd cases in it.",
    write("scripts/dump-records.mjs", SCRIPT),
    write(FIXTURE, `${SESSION.map((entry) => JSON.stringify(entry)).join("\n")}\n`),
  ),
  step("", bash(`node scripts/dump-records.mjs ${FIXTURE}; echo "exit $?"`)),
  think(
    "Exit 0 and no line at all: that is wrong, there are ten messages. gather takes lists BY NAME: `{ messages }`. I passed the array itself, so `for (name in lists)` walked over the indices, and each message was taken for a list; message.length is undefined, so its loop ran zero times. Silent.",
    step(
      "No output for ten messages cannot be right. `gather` takes lists by name, and I passed the bare array: it took every message for a list without a length. My mistake, one word to fix.",
      edit("scripts/dump-records.mjs", ["gather(messages, {", "gather({ messages }, {"]),
    ),
  ),
  step("", bash(`node scripts/dump-records.mjs ${FIXTURE}`)),
  step(
    "That reads well. What does it do without a file?",
    fails(bash("node scripts/dump-records.mjs nowhere.jsonl")),
  ),
  step(
    "A stack trace is no answer to a typing error. One line instead.",
    edit("scripts/dump-records.mjs", [
      `const messages = messagesOf(process.argv[2]);
gather({ messages }, { depth: Depth.TEXT }, (records, ends) => print(records, ends.at(-1)));`,
      `try {
  const messages = messagesOf(process.argv[2]);
  gather({ messages }, { depth: Depth.TEXT }, (records, ends) => print(records, ends.at(-1)));
} catch (error) {
  console.error(\`\${process.argv[2] ?? "usage: dump-records.mjs FILE"}: \${error.message}\`);
  process.exit(1);
}`,
    ]),
  ),
  step("", fails(bash("node scripts/dump-records.mjs nowhere.jsonl"))),
  say(`\`node scripts/dump-records.mjs FILE\` prints one line a record: position, name, length, address or header, scope. It reads the names from \`enum Tag\`, so there is no third copy of the numbers, and needs no binding.

A file that cannot be read is one line on standard error and exit code 1. ${FIXTURE} holds ten messages to try it on: a thinking block, nested arguments, a failed tool result, a bash execution that is excluded, a text that is \`null\`, an aborted answer, an unknown role.`),
];

const check = [
  user(
    "Nice. Now tests for it with node --test in __test__/dump-records.test.mjs. Also cover a message with a getter that throws: gather promises that it “stands there empty”.",
  ),
  step("", write("__test__/dump-records.test.mjs", TEST)),
  ending("stopped", step("", fails(bash("node --test --watch __test__/dump-records.test.mjs")))),
  user("That was watch mode, it never ends. Run it without --watch, and use no watch modes here at all."),
  step("Sorry, of course. A single run:", fails(bash("node --test __test__/dump-records.test.mjs"))),
  think(
    "[0, 2] instead of [0, 0]: the header of an empty message still counts its own two words, otherwise messages() could not step over it. checked_sub(2) in part.rs says the same. The test is wrong.",
    step(
      "Three pass, one fails: an empty message is `[0, 2]`, not `[0, 0]`. The header counts its own two words, and `messages()` in part.rs relies on that (`checked_sub(2)`). With 0 the whole stream would end there. So my expectation was wrong, and the second assertion proves the better point: the next message is still found.",
      edit("__test__/dump-records.test.mjs", [
        "  assert.deepEqual(gathered(message), [0, 0]);",
        "  // The header counts its own two words: a reader steps over the message.\n  assert.deepEqual(gathered(message), [0, 2]);",
      ]),
    ),
  ),
  step("", bash("node --test __test__/dump-records.test.mjs 2>&1 | tail -30")),
  say(
    "Four tests, all passing. The promise holds: a message whose getter throws leaves its header `[0, 2]` and nothing else, and the message behind it is read as usual.",
  ),
];

export const dump = [...build, ...check];
