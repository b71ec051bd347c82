// A session file that changes: while it is read, and after it was opened.

import assert from "node:assert/strict";
import {
  appendFileSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import * as library from "../index.js";
import { openSession, sessionFileError, sessionFolder } from "./support/session-open.mjs";
import { asPiReads } from "./support/session-oracle.mjs";
import { ordinary } from "./support/session-trees.mjs";

const { buildRetainedTail, contextBudget, estimateContextTokens, serializeConversation } = library;
const { file } = sessionFolder("changes");
/** Longer than any machine should take, in milliseconds. */
const HANG = { timeout: 120_000 };

const entry = (/** @type {string} */ id, /** @type {string | null} */ parentId) =>
  `${JSON.stringify({ type: "message", id, parentId, message: { role: "user", content: id } })}\n`;
const SMALL = `{"type":"session","version":3,"id":"s"}\n${entry("a", null)}${entry("b", "a")}${entry("c", "b")}`;
const linesOf = (/** @type {string} */ path) => readFileSync(path, "latin1").split("\n").length - 1;

/** What may befall a file after it was opened. @type {Record<string, (path: string) => void>} */
const CHANGES = {
  grown: (path) => appendFileSync(path, entry("d", "c")),
  truncated: (path) => truncateSync(path, SMALL.length - 10),
  emptied: (path) => truncateSync(path, 0),
  "rewritten at the same length": (path) => {
    writeFileSync(path, SMALL.replace('"content":"b"', '"content":"B"'));
    utimesSync(path, 2_000_000_000, 2_000_000_000);
  },
  "replaced by another of the same size and time": (path) => {
    const { atime, mtime } = statSync(path);
    writeFileSync(`${path}.new`, SMALL.replace('"content":"b"', '"content":"B"'));
    utimesSync(`${path}.new`, atime, mtime);
    renameSync(`${path}.new`, path);
  },
  removed: (path) => unlinkSync(path),
};

/** Everything that needs a text of the file again. @type {Record<string, (session: any) => any>} */
const READERS = {
  iterate: (session) => [...session],
  "a range": (session) => [...session.range(1, 2)],
  serializeConversation: (session) => serializeConversation(session),
  buildRetainedTail: (session) => buildRetainedTail(session, 1_000),
  generateCompaction: (session) =>
    library.generateCompaction({
      preparation: { messagesToSummarize: session },
      budget: contextBudget({}),
      summarizer: { kind: "extractive" },
    }),
  compactWithRecovery: async (session) => {
    const { kind, error } = /** @type {any} */ (
      await library.compactWithRecovery({
        preparation: { messagesToSummarize: session },
        budget: contextBudget({}),
        summarizer: { kind: "extractive" },
        reason: "threshold",
      })
    );
    assert.equal(kind, "failed", "no fallback either");
    throw error;
  },
};

for (const [name, change] of Object.entries(CHANGES)) {
  test(`a file that was ${name} gives no text any more, but its sizes`, async () => {
    for (const [reader, read] of Object.entries(READERS)) {
      const path = file(SMALL);
      utimesSync(path, 1_500_000_000, 1_500_000_000);
      const session = await openSession(path);
      const sizes = estimateContextTokens(session);
      change(path);
      await assert.rejects(async () => read(session), sessionFileError(path, `${name}, ${reader}`));
      assert.deepEqual(estimateContextTokens(session), sizes);
      const own = { role: "user", content: "not of the file" };
      session.truncate(0);
      session.append(own);
      assert.deepEqual([...session], [own], "the host's own messages need no file");
    }
  });
}

/** A second line that is not what it was, though nothing else says so. @type {Record<string, string>} */
const IN_PLACE = {
  "no JSON": entry("b", "a").replace('"content":"b"', '"content":xBx'),
  null: "null",
  "an array": "[]",
  "another entry": '{"type":"message","id":"b"}',
};

for (const [name, line] of Object.entries(IN_PLACE)) {
  test(`a line that became ${name} in place, at the same size and time, is session_file`, async () => {
    const [was, now] = [entry("b", "a"), `${line.trim().padEnd(entry("b", "a").length - 1)}\n`];
    for (const [reader, read] of Object.entries(READERS)) {
      const path = file(SMALL);
      utimesSync(path, 1_500_000_000, 1_500_000_000);
      const session = await openSession(path);
      writeFileSync(path, SMALL.replace(was, now));
      utimesSync(path, 1_500_000_000, 1_500_000_000);
      await assert.rejects(async () => read(session), sessionFileError(path, `${name}, ${reader}`));
    }
  });
}

test("opened again after a change, it is the file as it is now", async () => {
  const path = file(SMALL);
  const before = await openSession(path);
  appendFileSync(path, entry("d", "c"));
  const now = await openSession(path);
  assert.deepEqual([before.length, now.length, [...now].at(-1).content], [3, 4, "d"]);
});

/** Opens while `change` happens again and again; says whether the change was noticed. @param {string} path @param {() => void} change */
async function openDuring(path, change) {
  let settled = false;
  const opening = openSession(path).finally(() => {
    settled = true;
  });
  opening.catch(() => {});
  do {
    change();
    await turn();
  } while (!settled);
  const session = await opening.catch(
    (error) => sessionFileError(path, "while it was read")(error) && undefined,
  );
  if (session === undefined) return "refused";
  try {
    const text = [...session];
    assert.deepEqual(text, asPiReads(readFileSync(path))?.messages, "what it gives is what the file holds");
    return "whole";
  } catch (error) {
    sessionFileError(path, "noticed later")(error);
    return "later";
  }
}

test("a file that changes while it is read is an error, or read as it is afterwards", HANG, async () => {
  const content = ordinary(8 << 20);
  const ends = { refused: 0, later: 0, whole: 0 };
  for (let round = 0; round < 6; round++) {
    const path = file(content);
    let [last, count] = [(linesOf(path) - 2).toString(16).padStart(8, "0"), 0];
    const grow = () => {
      const id = `new${++count}`;
      appendFileSync(path, entry(id, last));
      last = id;
    };
    const changes = [
      grow,
      () => truncateSync(path, Math.floor(statSync(path).size * 0.9)),
      () => {
        writeFileSync(`${path}.new`, `${content}${entry(`new${++count}`, last)}`);
        renameSync(`${path}.new`, path);
      },
    ];
    ends[await openDuring(path, changes[round % 3] ?? grow)]++;
  }
  assert.ok(ends.refused > 0, JSON.stringify(ends));
});
