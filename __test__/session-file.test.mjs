// The file behind a session: what cannot be opened, what changes meanwhile, and how much of it is read and held.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import * as library from "../index.js";
import { openSession, sessionFileError, sessionFolder, stateOf } from "./support/session-open.mjs";
import { ordinary } from "./support/session-trees.mjs";
import { userOfTokens } from "./support/sound.mjs";

const { buildRetainedTail, contextBudget, estimateContextTokens, serializeConversation } = library;
const { path: folder, file } = sessionFolder("file");
const MB = 1 << 20;
/** Longer than any machine should take, in milliseconds. */
const HANG = { timeout: 120_000 };

const header = '{"type":"session","version":3,"id":"s","cwd":"/"}\n';
const entry = (/** @type {string} */ id, /** @type {string | null} */ parentId, content = id) =>
  `${JSON.stringify({ type: "message", id, parentId, message: { role: "user", content } })}\n`;
const SMALL = `${header}${entry("a", null)}${entry("b", "a")}${entry("c", "b")}`;

const LARGE = file(ordinary(64 * MB));
const MIDDLE = file(ordinary(20 * MB));
const linesOf = (/** @type {string} */ path) => readFileSync(path, "latin1").split("\n").length - 1;

/** @param {string} path @param {string} title @param {object} [options] */
const refused = (path, title, options) =>
  assert.rejects(openSession(path, options), sessionFileError(path, title));

test("what is no session is refused, named, with a way out", HANG, async () => {
  mkdirSync(join(folder, "folder.jsonl"));
  symlinkSync(join(folder, "nowhere"), join(folder, "dangling.jsonl"));
  const paths = {
    missing: join(folder, "missing.jsonl"),
    "missing folder": join(folder, "missing", "missing.jsonl"),
    "a file as a folder": join(LARGE, "x.jsonl"),
    dangling: join(folder, "dangling.jsonl"),
    folder: join(folder, "folder.jsonl"),
    device: "/dev/zero",
    empty: file(""),
    blank: file("\n \r\n\n"),
    "a byte order mark": file("\ufeff"),
    prose: file("a secret line\n{broken secret"),
    "another program's": file('{"type":"user","message":{"role":"user","content":"a secret line"}}\n'),
    binary: file(Buffer.from(Array.from({ length: 4_096 }, (_, index) => (index * 31) % 256))),
    "only a header": file(header),
    "a header without LF": file(header.trim()),
  };
  for (const [title, path] of Object.entries(paths)) await refused(path, title);
  const left = readdirSync(folder);
  assert.ok(!left.includes("missing.jsonl") && !left.includes("missing") && !left.includes("nowhere"));
});

test("each refusal has words of its own", async () => {
  const paths = [join(folder, "none.jsonl"), folder, file(""), file("prose\n"), file(header), "/dev/null"];
  const words = await Promise.all(
    paths.map((path) => openSession(path).catch((error) => error.message.replaceAll(path, ""))),
  );
  assert.equal(new Set(words).size, paths.length, JSON.stringify(words));
});

test("a pipe that nobody writes to is refused and not waited for", HANG, async () => {
  const path = join(folder, "pipe.jsonl");
  assert.equal(spawnSync("mkfifo", [path]).status, 0);
  await refused(path, "pipe");
});

const root = process.getuid?.() === 0;
test("a file that may not be read is refused", { skip: root && "root reads everything" }, async () => {
  const path = file(SMALL);
  chmodSync(path, 0);
  await refused(path, "unreadable");
});

test("state of pi alone is a session without messages", async () => {
  const session = await openSession(
    file(`${header}{"type":"session_info","id":"a","parentId":null,"name":"x"}\n`),
  );
  assert.deepEqual([session.length, [...session], session.staleMessages], [0, [], 0]);
  assert.equal(session.previousCheckpoint, undefined);
});

test("a relative path, a link and a name in any script lead to the file, wherever the process goes then", async () => {
  const home = process.cwd();
  const odd = join(folder, "sitzung é 漢 😀 %20.jsonl");
  renameSync(file(SMALL), odd);
  const link = join(folder, "link.jsonl");
  symlinkSync(odd, link);
  const sessions = await Promise.all([relative(home, odd), odd, link].map((path) => openSession(path)));
  process.chdir(folder);
  try {
    for (const session of sessions) assert.equal([...session].at(-1).content, "c");
  } finally {
    process.chdir(home);
  }
});

test("a leaf that is not there is refused; one that is there leads", async () => {
  const path = file(SMALL);
  for (const leafId of ["d", "A", "a ", "s", "constructor", "\ud83d"])
    await refused(path, leafId, { leafId });
  const session = await openSession(path, { leafId: "b" });
  assert.deepEqual(
    [...session].map(({ content }) => content),
    ["a", "b"],
  );
  const linear = file(
    '{"type":"session","id":"s"}\n{"type":"message","id":"a","message":{"role":"user","content":"a"}}\n',
  );
  await refused(linear, "version 1 has no ids", { leafId: "a" });
});

test("the file is left as it was, and nothing appears beside it", async () => {
  const linear = SMALL.replace('"version":3,', "");
  for (const content of [
    SMALL,
    SMALL.trim(),
    linear,
    linear.trim(),
    `${SMALL}{"type":"mess`,
    `\ufeff${SMALL}`,
    SMALL.slice(header.length),
  ]) {
    const path = file(content);
    const beside = readdirSync(folder);
    utimesSync(path, 1_000_000_000, 1_000_000_000);
    const before = stateOf(path);
    const session = await openSession(path);
    serializeConversation(session);
    session.append({ role: "user", content: "new" });
    session.truncate(1);
    session.replace(0, { role: "user", content: "other" });
    session.dispose();
    assert.deepEqual([stateOf(path), readdirSync(folder)], [before, beside]);
  }
});

test("aborted before: the reason, and the file is not opened", async () => {
  const reason = new Error("the host's own reason");
  const heard = /** @type {unknown[]} */ ([]);
  const options = {
    signal: AbortSignal.abort(reason),
    onProgress: (/** @type {unknown} */ of) => heard.push(of),
  };
  await assert.rejects(openSession(LARGE, options), (error) => error === reason);
  await assert.rejects(openSession(file(SMALL), options), (error) => error === reason);
  assert.deepEqual(heard, []);
});

test("aborted while it is read: the reason, whatever it is", HANG, async () => {
  for (const reason of [new Error("stop"), "a string", { any: "thing" }, undefined]) {
    const controller = new AbortController();
    const opening = openSession(LARGE, { signal: controller.signal });
    controller.abort(reason);
    await assert.rejects(opening, (error) => error === controller.signal.reason);
    const later = new AbortController();
    const onProgress = () => later.abort(reason);
    await assert.rejects(
      openSession(LARGE, { signal: later.signal, onProgress }),
      (error) => error === later.signal.reason,
    );
  }
  const controller = new AbortController();
  const session = await openSession(file(SMALL), { signal: controller.signal });
  controller.abort();
  assert.equal([...session].length, 3, "an abort after it was opened changes nothing");
});

test("progress rises to the size of the file; what it throws is ignored", HANG, async () => {
  const heard = /** @type {{ bytes: number, total: number }[]} */ ([]);
  const total = statSync(LARGE).size;
  const session = await openSession(LARGE, {
    onProgress: (/** @type {any} */ progress) => {
      heard.push({ ...progress });
      throw new Error("the host's own fault");
    },
  });
  assert.equal(session.length, linesOf(LARGE) - 1);
  assert.ok(heard.length > 0);
  for (const [index, { bytes, ...rest }] of heard.entries()) {
    assert.deepEqual(rest, { total });
    assert.ok(bytes >= (heard[index - 1]?.bytes ?? 0) && bytes <= total, `${bytes} of ${total}`);
  }
});

test("the main thread goes on while a file is read", HANG, async () => {
  let [turns, settled] = [0, false];
  const opening = openSession(LARGE).finally(() => {
    settled = true;
  });
  for (; !settled; turns++) await turn();
  await opening;
  assert.ok(turns > 10, `${turns} turns of the event loop`);
});

test("64 MB are read once, in a bounded buffer", HANG, async () => {
  const { size } = statSync(LARGE);
  assert.ok(size > 60 * MB);
  const [large, middle] = [await openSession(LARGE), await openSession(MIDDLE)];
  assert.equal(large.bytesRead, size);
  assert.ok(large.peakBuffered > 0 && large.peakBuffered <= 4 * MB, `${large.peakBuffered}`);
  assert.ok(large.peakBuffered <= 2 * middle.peakBuffered, "no more for a longer file");
});

test("an entry takes at most 160 bytes", HANG, async () => {
  for (const path of [MIDDLE, LARGE]) {
    const session = await openSession(path);
    const entries = linesOf(path) - 1;
    assert.ok(
      session.memoryUsage > 0 && session.memoryUsage <= 160 * entries,
      `${session.memoryUsage / entries}`,
    );
    [...session.range(0, 100)];
    serializeConversation(session);
    assert.ok(session.memoryUsage <= 160 * entries, "texts that were read are not kept");
  }
});

test("sizes and plans read nothing again", HANG, async () => {
  const session = await openSession(MIDDLE);
  const before = session.bytesRead;
  const prefix = session.length - 50;
  const input = {
    messagesToSummarize: session.range(0, prefix),
    turnPrefixMessages: session.range(prefix),
    isSplitTurn: true,
  };
  for (const dialect of /** @type {const} */ (["pi-0.87", "pi-1.6"])) {
    const budget = contextBudget({ contextWindow: 200_000 });
    library.compactionSummaryWouldExceedBudget(input, budget, {}, { dialect });
    library.estimateSummaryPromptTokens(input, { dialect });
    estimateContextTokens(session, { dialect, afterIndex: 3 });
    library.findCut(session, 20_000, { dialect });
    assert.ok(library.planChunks(input, { promptLimit: 400_000, maxChunks: 64, dialect }));
  }
  [session.length, session.range(3, 9).length, session.memoryUsage];
  assert.equal(session.bytesRead, before);
});

test("texts are read from their lines alone, and again each time", HANG, async () => {
  const session = await openSession(MIDDLE);
  const { size } = statSync(MIDDLE);
  const lines = readFileSync(MIDDLE, "utf8").split("\n").slice(1, -1);
  const reads = (/** @type {() => any} */ use) => {
    const before = session.bytesRead;
    const result = use();
    return { result, bytes: session.bytesRead - before };
  };
  const texts = lines.reduce(
    (sum, line) => sum + Buffer.byteLength(JSON.stringify(JSON.parse(line).message)),
    0,
  );
  for (const use of [() => [...session].length, () => [...session].length]) {
    const { bytes } = reads(use);
    assert.ok(bytes >= texts && bytes <= size, `${bytes} of ${texts} to ${size}`);
    assert.equal(reads(use).bytes, bytes, "the same again");
  }
  const few = lines.slice(500, 510).reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
  assert.ok(reads(() => [...session.range(500, 510)]).bytes <= few);
  assert.ok(reads(() => serializeConversation(session.range(500, 510))).bytes <= few);
  const tail = reads(() => buildRetainedTail(session, 2_000));
  const kept = lines.slice(-tail.result.length).reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
  assert.ok(tail.result.length > 0 && tail.bytes > 0 && tail.bytes <= kept, `${tail.bytes} of ${kept}`);
});

test("many at once, and one file opened twice, do not mix", HANG, async () => {
  const paths = Array.from({ length: 40 }, (_, index) =>
    file(`${header}${entry("a", null, `${index}`.repeat(500))}`),
  );
  const sessions = await Promise.all([...paths, ...paths].map((path) => openSession(path)));
  for (const [index, session] of sessions.entries())
    assert.equal([...session][0].content, `${index % paths.length}`.repeat(500));
  sessions[0].append(userOfTokens(5));
  assert.deepEqual([sessions[0].length, sessions[40].length], [2, 1]);
});

test("open files are let go of", { skip: process.platform !== "linux" && "counts in /proc" }, async () => {
  const open = () => readdirSync("/proc/self/fd").length;
  const before = open();
  const kept = [];
  for (let index = 0; index < 200; index++) {
    kept.push(await openSession(file(SMALL)));
    await openSession(file(header)).catch(() => {});
    await openSession(file(SMALL), { leafId: "none" }).catch(() => {});
  }
  for (const session of kept) serializeConversation(session);
  assert.ok(kept.length === 200 && open() < before + 40, `${open()} after ${before}`);
});
