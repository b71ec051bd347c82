// The command line as its users meet it: a child process, two streams and an exit code.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const { width } = require("../bin/text.js");
const { version } = require("../package.json");
const COMMAND = fileURLToPath(new URL("../bin/pi-compaction.js", import.meta.url));
/** Longer than any machine should take, in milliseconds. */
const HANG = 60_000;

const folder = mkdtempSync(join(tmpdir(), "pi-compaction-cli-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** @param {string[]} words */
function run(...words) {
  const options = { encoding: /** @type {const} */ ("utf8"), timeout: HANG, maxBuffer: 1 << 26 };
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...words], options);
  return { status, stdout, stderr, lines: stdout.split("\n") };
}

/** @param {{ stdout: string, lines: string[] }} output */
function assertPlain({ stdout, lines }) {
  assert.doesNotMatch(stdout, /(?![\n])\p{Cc}/u);
  for (const line of lines) assert.ok(width(line) <= 80, `${width(line)} columns: ${line}`);
}

/** @param {string} name @param {unknown[]} entries @param {string} [rest] */
function file(name, entries, rest = "") {
  const path = join(folder, name);
  writeFileSync(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join("") + rest);
  return path;
}

/** Turns of a question, a call with its result, and an answer. @param {number} turns @param {string} output */
function session(turns, output) {
  const entries = /** @type {any[]} */ ([{ type: "session", version: 3, id: "s", cwd: "/" }]);
  const say = (/** @type {object} */ message) => {
    const parentId = entries.length === 1 ? null : `e${entries.length - 2}`;
    entries.push({ type: "message", id: `e${entries.length - 1}`, parentId, message });
  };
  const text = (/** @type {string} */ content) => [{ type: "text", text: content }];
  for (let turn = 0; turn < turns; turn++) {
    const call = { type: "toolCall", id: `c${turn}`, name: "read", arguments: { path: `src/${turn}.ts` } };
    say({ role: "user", content: `Please look at file ${turn}` });
    say({ role: "assistant", content: [...text("I read it."), call], stopReason: "toolUse" });
    say({
      role: "toolResult",
      toolCallId: `c${turn}`,
      toolName: "read",
      content: text(output),
      isError: false,
    });
    say({ role: "assistant", content: text(`File ${turn} is sound.`), stopReason: "stop" });
  }
  return entries;
}

const long = file("long.jsonl", session(60, "lorem ipsum ".repeat(400)));
const short = file("short.jsonl", session(1, "little"));

test("help and version go to standard output", () => {
  const help = run("--help");
  assert.deepEqual([help.status, help.stderr], [0, ""]);
  assert.match(help.stdout, /inspect SESSION[\s\S]*compact SESSION/);
  assertPlain(help);
  assert.deepEqual([run("--version").stdout, run("inspect", "-v").stdout], [`${version}\n`, `${version}\n`]);
  assert.equal(run("compact", "-h").stdout, help.stdout);
});

const WRONG = [
  [],
  ["explain", short],
  ["constructor", short],
  [short],
  ["inspect"],
  ["inspect", ""],
  ["inspect", short, long],
  ["inspect", short, "--json"],
  ["inspect", short, "--window"],
  ["inspect", short, "--window", "0"],
  ["inspect", short, "--window=1e5"],
  ["inspect", short, "--max-output=-1"],
  ["compact", short, "--max-chars", "255"],
  ["compact", short, "--max-chars", "9007199254740993"],
  ["compact", short, "--colour"],
];
test("a wrong call ends with 2 and one line", () => {
  for (const words of WRONG) {
    const { status, stdout, stderr } = run(...words);
    assert.deepEqual([status, stdout], [2, ""], words.join(" "));
    assert.match(stderr, /^pi-compaction: .+; see pi-compaction --help\n$/, words.join(" "));
  }
});

test("inspect shows sizes, budget, guard, chunks and tail in 80 plain columns", () => {
  const output = run("inspect", long);
  assert.deepEqual([output.status, output.stderr], [0, ""]);
  assertPlain(output);
  const headings = output.lines.filter((line) => /^\S/.test(line)).map((line) => line.split(/[ :]/)[0]);
  const expected = ["Session", "Sizes", "Largest", "Budget", "Cut", "Guard", "Chunks", "Tail"];
  assert.deepEqual(headings, expected);
  assert.match(output.stdout, /toolResult +60 +123,\d+ +72,000 +\d+% +█+/);
  assert.match(output.stdout, /summary request must stay below +117,760/);
  assert.match(output.stdout, /as it is +fits/);
});

test("inspect sizes for the model that is named", () => {
  const { stdout } = run("inspect", long, "--window", "16000", "--max-output", "2000");
  assert.match(stdout, /summary request must stay below +11,952/);
  assert.match(stdout, /as it is +exceeds/);
  assert.match(stdout, /tool output reduced +fits/);
  const tiny = run("inspect", long, "--window", "2000", "--max-output", "2000");
  assert.equal(tiny.status, 0);
  assertPlain(tiny);
});

test("inspect of a recent context says that nothing would be compacted", () => {
  const { status, stdout } = run("inspect", short);
  assert.equal(status, 0);
  assert.match(stdout, /Nothing to compact/);
});

test("what a tool printed does not steer the terminal", () => {
  const hostile =
    "\u001b]0;title\u0007\u001b[31mred\u009b2J\r\n\u202egnp\ud83d \u{1f469}\u200d\u{1f52c}".repeat(9);
  const entries = session(2, hostile);
  entries.push({ type: "message", id: "x", parentId: "e7", message: { role: hostile, content: hostile } });
  entries.push({
    type: "message",
    id: "y",
    parentId: "x",
    message: { role: "user", content: "漢字かな交じり文".repeat(20) },
  });
  entries.push({
    type: "message",
    id: "z",
    parentId: "y",
    message: { role: "user", content: [null, 7, { type: 1 }] },
  });
  const output = run("inspect", file("hostile.jsonl", entries));
  assert.deepEqual([output.status, output.stderr], [0, ""]);
  assertPlain(output);
  assert.doesNotMatch(output.stdout, /[\u202a-\u202e]/);
});

test("compact writes the checkpoint to standard output and nothing else", () => {
  const { status, stdout, stderr } = run("compact", long);
  assert.equal(status, 0);
  assert.match(stdout, /^## /);
  assert.match(stdout, /<read-files>\nsrc\/0\.ts\n/);
  assert.match(stderr, /^\d+ messages to summarize, \d+ kept\n[\d,]+ tokens became [\d,]+\n$/);
  assert.equal(run("compact", long).stdout, stdout);
});

test("compact --json is the whole result", () => {
  const { status, stdout } = run("compact", long, "--json", "--max-chars", "300");
  const result = JSON.parse(stdout);
  assert.equal(status, 0);
  assert.deepEqual(Object.keys(result).sort(), ["details", "firstKeptEntryId", "summary", "tokensBefore"]);
  assert.match(result.firstKeptEntryId, /^e\d+$/);
  const body = result.summary.split("<read-files>")[0].trimEnd();
  assert.ok(body.length <= 300, String(body.length));
  assert.ok(result.details.tokensAfter < result.details.tokensBefore);
});

test("files of the previous checkpoint are carried on", () => {
  const entries = session(60, "lorem ipsum ".repeat(400));
  const [last] = entries.slice(-1);
  const details = { readFiles: ["docs/old.md", "src/0.ts"], modifiedFiles: ["lib/changed.ts"] };
  const summary = "## Goal\n- carry on";
  entries.push({
    type: "compaction",
    id: "k",
    parentId: last.id,
    summary,
    firstKeptEntryId: "e4",
    tokensBefore: 1,
    details,
  });
  const ended = run("compact", file("ended.jsonl", entries));
  assert.equal(ended.status, 1);
  assert.match(ended.stderr, /^pi-compaction: no_new_history: .+checkpoint/m);
  entries.push({ type: "message", id: "n", parentId: "k", message: { role: "user", content: "go on" } });
  const result = JSON.parse(run("compact", file("carried.jsonl", entries), "--json").stdout);
  assert.ok(result.details.readFiles.includes("docs/old.md"));
  assert.ok(result.details.readFiles.includes("src/1.ts"));
  assert.deepEqual(result.details.modifiedFiles, ["lib/changed.ts"]);
  assert.match(run("inspect", join(folder, "carried.jsonl")).stdout, /previous summary/);
});

test("a session within what its window keeps is told the window, and compacts in a smaller one", () => {
  const sample = fileURLToPath(new URL("../examples/session.jsonl", import.meta.url));
  const all = run("compact", sample, "--window", "400000");
  assert.equal(all.status, 1);
  assert.match(all.stderr, /^0 messages to summarize, \d+ kept\n/);
  assert.match(
    all.stderr,
    /no_new_history: a window of 400,000 keeps the newest [\d,]+ tokens .*smaller --window/,
  );
  assert.equal(run("compact", sample, "--window", "60000").status, 0);
});

test("what cannot be compacted ends with 1 and why", () => {
  const cases = /** @type {const} */ ([
    ["no_new_history", short],
    ["summary_budget", long, "--window", "600"],
    ["session_file", join(folder, "missing.jsonl")],
    ["session_file", folder],
    ["session_file", file("empty.jsonl", [])],
    ["session_file", file("prose.jsonl", [], "a secret note\n")],
  ]);
  for (const [code, path, ...options] of cases) {
    const { status, stdout, stderr } = run("compact", path, ...options);
    assert.deepEqual([status, stdout], [1, ""], path);
    assert.match(stderr, new RegExp(`^pi-compaction: ${code}: `, "m"));
    assert.doesNotMatch(stderr, /secret| at .*:\d+:\d+/);
  }
});

test("skipped lines are named on standard error, and the rest is compacted", () => {
  const path = file("broken.jsonl", session(60, "lorem ipsum ".repeat(400)), '{broken}\n[]\n{"type":"mess');
  const { status, stdout, stderr } = run("compact", path);
  assert.equal(status, 0);
  assert.match(stdout, /^## /);
  assert.match(stderr, /line 242 skipped: not valid JSON\nline 243 skipped: .+\nline 244 skipped: cut off/);
  const many = run("inspect", file("many.jsonl", session(1, "x"), "[]\n".repeat(500)));
  assert.match(many.stderr, /^(line .+\n){10}490 more lines skipped\n$/);
  const orphan = file("orphan.jsonl", [...session(1, "x"), { type: "label", id: "l", parentId: "gone" }]);
  assert.match(run("inspect", orphan).stderr, /^line 6: the branch begins here, for its parent is not/);
});

test("a reader that stops early is no failure", { timeout: HANG }, async () => {
  for (const command of ["inspect", "compact"]) {
    const child = spawn(process.execPath, [COMMAND, command, long], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.destroy();
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr += text;
    });
    const [status] = await once(child, "close");
    assert.equal(status, 0, stderr);
    assert.doesNotMatch(stderr, /EPIPE|Error/);
  }
});

for (const name of ["before-compaction", "large-session"]) {
  const path = fileURLToPath(new URL(`../../shared/sessions/${name}.jsonl`, import.meta.url));
  const skip = existsSync(path) ? false : "the real sessions are not here";
  test(`B30 B31 B40 ${name} is inspected and compacted, and stays as it is`, { skip, timeout: HANG }, () => {
    const before = { bytes: readFileSync(path), modified: statSync(path).mtimeMs };
    const inspected = run("inspect", path);
    assert.deepEqual([inspected.status, inspected.stderr], [0, ""]);
    assertPlain(inspected);
    const compacted = run("compact", path, "--json");
    assert.equal(compacted.status, 0);
    const result = JSON.parse(compacted.stdout);
    assert.ok(result.summary.length > 500 && result.details.tokensBefore > 50_000);
    assert.equal("firstKeptEntryId" in result, false, "version 1 has no ids");
    assert.deepEqual({ bytes: readFileSync(path), modified: statSync(path).mtimeMs }, before);
  });
}
