// What a session file says, against pi 1.6.0's own reading of it.

import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { openSession } from "../index.js";
import { newestBranch, sessionLines } from "./support/session-files.mjs";

const ORACLE = new URL("./oracle/node_modules/pi-1.6/dist/core/session-manager.js", import.meta.url);
const pi = existsSync(fileURLToPath(ORACLE)) ? await import(ORACLE.href) : undefined;
const withPi = { skip: pi ? false : "pi 1.6.0 is not installed in __test__/oracle" };

const folder = mkdtempSync(join(tmpdir(), "pi-compaction-session-"));
after(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
/** @param {string | Buffer} content */
function file(content) {
  const path = join(folder, `${++files}.jsonl`);
  writeFileSync(path, content);
  return path;
}

/** Reads a session and holds the reader to leaving it alone. @param {string} path */
async function read(path) {
  const before = { bytes: readFileSync(path), modified: statSync(path).mtimeMs };
  const session = await context(path);
  assert.deepEqual({ bytes: readFileSync(path), modified: statSync(path).mtimeMs }, before);
  return session;
}

/** A session's context as JSON texts, its compaction summary beside the messages. @param {string} path */
async function context(path) {
  const transcript = await openSession(path);
  const all = /** @type {any[]} */ ([...transcript]);
  const { previousCheckpoint: previous, staleMessages, skipped, gap } = transcript;
  const json = (/** @type {unknown} */ value) => (value === undefined ? undefined : JSON.stringify(value));
  const summary = previous ? all.findIndex(({ role }) => role === "compactionSummary") : -1;
  const places = all.map((_, i) => i).filter((i) => i !== summary);
  return {
    messages: places.map((i) => JSON.stringify(all[i])),
    ids: places.map((i) => (transcript.entryId(i) === null ? null : JSON.stringify(transcript.entryId(i)))),
    previousSummary: json(previous?.summary),
    previousDetails: json(previous?.details),
    tokensBefore: previous?.tokensBefore,
    stale: staleMessages - (summary >= 0 && summary < staleMessages ? 1 : 0),
    endsInCompaction: transcript.endsInCheckpoint,
    gap,
    skipped,
  };
}

const plain = (/** @type {unknown} */ value) => JSON.parse(JSON.stringify(value));
const texts = (/** @type {any} */ session) => session.messages.map((text) => JSON.parse(text).content);
const jsonl = (/** @type {unknown[]} */ ...entries) =>
  entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
const header = { type: "session", version: 3, id: "s", timestamp: "2025-01-01T00:00:00.000Z", cwd: "/" };
const said = (/** @type {string} */ id, /** @type {string | null} */ parentId, extra = {}) => ({
  type: "message",
  id,
  parentId,
  message: { role: "user", content: id },
  ...extra,
});

/** pi's context of a file in our form: its compaction summary beside the messages. @param {string} content */
function asPiReads(content) {
  const entries = pi.parseSessionEntries(content);
  const first = entries.find((/** @type {any} */ entry) => entry.type === "session");
  const linear = (first?.version ?? 1) < 2;
  pi.migrateSessionEntries(entries);
  const members = entries.filter((/** @type {any} */ entry) => entry.type !== "session");
  const projected = pi.buildSessionProjection(members).entries.flatMap((/** @type {any} */ entry) =>
    entry.messages.map((/** @type {any} */ message) => ({
      message,
      id: linear ? null : entry.sourceEntry.id,
    })),
  );
  const isSummary = (/** @type {any} */ { message }) => message.role === "compactionSummary";
  const messages = projected.filter((/** @type {any} */ entry) => !isSummary(entry));
  const checkpoint = projected.find(isSummary)?.message;
  return {
    messages: plain(messages.map((/** @type {any} */ { message }) => message)),
    ids: messages.map((/** @type {any} */ { id }) => id ?? null),
    previousSummary: checkpoint?.summary,
    tokensBefore: checkpoint?.tokensBefore,
  };
}

/** @param {any} session */
function asWeRead(session) {
  return {
    messages: session.messages.map((/** @type {string} */ text) => JSON.parse(text)),
    ids: session.ids.map((/** @type {string | null} */ id) => JSON.parse(id ?? "null")),
    previousSummary: session.previousSummary === undefined ? undefined : JSON.parse(session.previousSummary),
    tokensBefore: session.tokensBefore,
  };
}

test("contexts of generated trees are pi's", withPi, async () => {
  const seen = { messages: 0, checkpoints: 0, gaps: 0 };
  for (let seed = 1; seed <= 600; seed++) {
    const content = sessionLines(seed);
    const session = await read(file(content));
    assert.deepEqual(asWeRead(session), asPiReads(content), `seed ${seed}`);
    seen.messages += session.messages.length;
    seen.checkpoints += session.previousSummary ? 1 : 0;
    seen.gaps += session.gap ? 1 : 0;
  }
  assert.ok(seen.messages > 2_000 && seen.checkpoints > 100 && seen.gaps > 20, JSON.stringify(seen));
});

for (const name of ["before-compaction", "large-session"]) {
  const path = fileURLToPath(new URL(`../../shared/sessions/${name}.jsonl`, import.meta.url));
  const skip = withPi.skip || (existsSync(path) ? false : "the real sessions are not here");
  test(`the context of ${name} is pi's`, { skip }, async () => {
    assert.deepEqual(asWeRead(await read(path)), asPiReads(readFileSync(path, "utf8")));
  });
}

test("two compactions: the later one leads, and what it kept may hold the earlier", withPi, async () => {
  const compaction = (
    /** @type {string} */ id,
    /** @type {string} */ parentId,
    /** @type {string} */ kept,
  ) => ({
    type: "compaction",
    id,
    parentId,
    summary: `summary ${id}`,
    firstKeptEntryId: kept,
    tokensBefore: 9,
    details: { readFiles: ["a"], modifiedFiles: [] },
  });
  const content = jsonl(
    header,
    said("a", null),
    said("b", "a"),
    compaction("c", "b", "b"),
    said("d", "c"),
    compaction("e", "d", "b"),
    said("f", "e"),
  );
  const session = await read(file(content));
  assert.deepEqual(asWeRead(session), asPiReads(content));
  assert.deepEqual(texts(session), ["b", "d", "f"]);
  assert.deepEqual([session.stale, session.endsInCompaction], [2, false]);
  assert.deepEqual(JSON.parse(session.previousDetails), { readFiles: ["a"], modifiedFiles: [] });
  const ended = await read(file(content + jsonl(compaction("g", "f", "f"))));
  assert.deepEqual([texts(ended), ended.stale, ended.endsInCompaction], [["f"], 1, true]);
});

test("an entry whose id is not the last of its name is not on the branch", withPi, async () => {
  const content = jsonl(
    header,
    said("a", null),
    said("b", "a"),
    said("a", null, { message: { role: "user", content: "2" } }),
    said("c", "a"),
  );
  const session = await read(file(content));
  assert.deepEqual(asWeRead(session), asPiReads(content));
  assert.deepEqual(texts(session), ["2", "c"]);
});

test("parents that are missing or lead in a circle end the branch and are named", async () => {
  const orphan = await read(file(jsonl(header, said("a", null), said("b", "gone"), said("c", "b"))));
  assert.deepEqual([texts(orphan), orphan.gap.line], [["b", "c"], 3]);
  const circle = await read(file(jsonl(header, said("a", "c"), said("b", "a"), said("c", "b"))));
  assert.deepEqual([texts(circle), circle.gap.line], [["a", "b", "c"], 2]);
  const own = await read(file(jsonl(header, said("a", "a"))));
  assert.deepEqual([texts(own), own.gap.line], [["a"], 2]);
});

test("what JSON.parse takes, loads", async () => {
  const deep = `${"[".repeat(3_000)}${"]".repeat(3_000)}`;
  const lines = [
    '{"type":"session","version":3,"id":"\\ud83d","version":3}',
    '{"type":"message","id":"\\ud83d","parentId":null,"x":1e999,"message":{"role":"user","content":"cut \\ud83d"}}',
    `{"type":"message","id":"b","parentId":"\\ud83d","message":{"role":"user","content":"b","deep":${deep}},"\\ud83d":${deep}}`,
    '{"id":"x","type":"label","ty\\u0070e":"message","id":"c","parentId":"b","message":{"role":"user","role":"user","content":"\u2028\u2029\u0085"}}\r',
    '{"type":"custom_message","id":"d","parentId":"c","content":"\\ud83d","customType":"\\udc00","display":true}',
    '{"type":"compaction","id":"e","parentId":"d","summary":"S \\udc00","firstKeptEntryId":"\\ud83d"}',
  ];
  const session = await read(file(`\ufeff${lines.join("\n")}`));
  assert.deepEqual(texts(session), ["cut \ud83d", "b", "\u2028\u2029\u0085", "\ud83d"]);
  assert.deepEqual(session.ids.map(JSON.parse), ["\ud83d", "b", "c", "d"]);
  assert.equal(JSON.parse(session.previousSummary), "S \udc00");
  assert.deepEqual(session.skipped, []);
});

test("bytes that are no UTF-8 do not lose a line", async () => {
  const parts = ['{"type":"message","message":{"role":"user","content":"a', '"}}\n'].map((part) =>
    Buffer.from(part),
  );
  const session = await read(file(Buffer.concat([parts[0], Buffer.from([0xff, 0xe2, 0x82]), parts[1]])));
  assert.deepEqual(texts(session), ["a\ufffd\ufffd"]);
});

test("lines that cannot be used are counted, and the others load", async () => {
  const good = jsonl(header, said("a", null));
  const session = await read(
    file(
      `${good}\n   \n{"type":\n7\nnull\n{}\n{"type":"message","id":"b","parentId":"a"}\n${jsonl(said("c", "b"))}{"type":"mess`,
    ),
  );
  assert.deepEqual(texts(session), ["a", "c"]);
  assert.deepEqual(
    session.skipped.map((/** @type {any} */ { line }) => line),
    [5, 6, 7, 8, 9, 11],
  );
  assert.match(session.skipped.at(-1).reason, /cut off/);
  for (const { reason } of session.skipped) assert.doesNotMatch(reason, /null|["{]/);
});

test("a header that is missing or late is looked past", async () => {
  const bare = await read(file(jsonl(said("a", null), said("b", "a"))));
  assert.deepEqual([texts(bare), bare.skipped[0].line], [["a", "b"], 1]);
  assert.match(bare.skipped[0].reason, /header/);
  const linear = { type: "message", message: { role: "hookMessage", content: "x" } };
  const old = await read(file(jsonl(linear, linear)));
  assert.deepEqual(old.messages.map(JSON.parse), Array(2).fill({ role: "custom", content: "x" }));
  const late = await read(file(jsonl(said("a", null), header, said("b", "a"))));
  assert.deepEqual([texts(late), late.skipped], [["a", "b"], []]);
});

test("files that hold no session are refused with a way out", async () => {
  const missing = join(folder, "missing.jsonl");
  mkdirSync(join(folder, "dir.jsonl"));
  const refused = {
    missing,
    folder: join(folder, "dir.jsonl"),
    empty: file(""),
    blank: file("\n\n"),
    prose: file("a secret line\n{broken"),
    foreign: file('{"type":"user","message":{"role":"user","content":"a secret line"}}\n'),
    "only a header": file(jsonl(header)),
  };
  for (const [name, path] of Object.entries(refused)) {
    await assert.rejects(openSession(path), (/** @type {any} */ error) => {
      assert.equal(error.code, "session_file", name);
      assert.match(error.message, /; (give|check|say|copy)/, name);
      assert.ok(error.message.includes(path), name);
      assert.doesNotMatch(error.message, /secret/, name);
      return true;
    });
  }
  assert.equal(existsSync(missing), false);
});

test("an unreadable file says so", {
  skip: process.getuid?.() === 0 && "root reads everything",
}, async () => {
  const path = file(jsonl(header));
  chmodSync(path, 0);
  await assert.rejects(openSession(path), /permissions/);
});

test("a circle of ten thousand entries ends", { timeout: 20_000 }, async () => {
  const session = await read(file(jsonl(header, ...newestBranch(10_000, "9999"))));
  assert.equal(session.messages.length, 10_000);
});
