// What a host may do to a session that is opened or compacted, and what it may not pay for it.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as library from "../index.js";
import { openSession, sessionFolder } from "./support/session-open.mjs";
import { ordinary } from "./support/session-trees.mjs";

const { path: folder, file } = sessionFolder("host");
const MB = 1 << 20;
/** Longer than any machine should take, in milliseconds. */
const HANG = { timeout: 120_000 };
const LARGE = file(ordinary(20 * MB));
const SMALL = file(ordinary(MB));
const here = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));

/** Runs a module in a process of its own. @param {string} code */
function run(code) {
  const args = ["--expose-gc", "--input-type=module", "-e", code];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

test("a listener of progress may be asynchronous, and fail", HANG, async () => {
  const failures = /** @type {unknown[]} */ ([]);
  const unhandled = (/** @type {unknown} */ reason) => failures.push(reason);
  process.on("unhandledRejection", unhandled);
  let heard = 0;
  const onProgress = async () => {
    heard++;
    throw new Error("the host's own fault");
  };
  await openSession(LARGE, { onProgress });
  await wait(50);
  process.off("unhandledRejection", unhandled);
  assert.deepEqual([failures, heard > 0], [[], true]);
});

test("no progress is told after an abort", HANG, async () => {
  for (let round = 0; round < 40; round++) {
    const controller = new AbortController();
    const late = /** @type {unknown[]} */ ([]);
    const onProgress = (/** @type {unknown} */ progress) => {
      if (controller.signal.aborted) late.push(progress);
    };
    const opening = openSession(LARGE, { signal: controller.signal, onProgress });
    await wait(round % 8);
    controller.abort();
    await opening.catch(() => {});
    await wait(2);
    assert.deepEqual(late, []);
  }
});

test("files asked for at once are read a few at a time", HANG, () => {
  const code = `
    import { openSession } from ${JSON.stringify(here("../index.js"))};
    globalThis.gc();
    const before = process.memoryUsage().rss;
    const open = () => openSession(${JSON.stringify(SMALL)});
    const sessions = await Promise.all(Array.from({ length: 300 }, open));
    const kept = sessions.reduce((sum, session) => sum + session.memoryUsage, 0);
    console.log((process.memoryUsage().rss - before - kept) / 2 ** 20);`;
  const grown = Number(run(code));
  assert.ok(grown < 200, `${grown} MiB beside what the sessions keep`);
});

test("a relative path without a working directory says what it needs", {
  skip: process.platform === "win32" && "a folder in use stays",
}, () => {
  const gone = join(folder, "gone");
  mkdirSync(gone);
  const code = `
    import { rmdirSync } from "node:fs";
    import { openSession } from ${JSON.stringify(here("../index.js"))};
    process.chdir(${JSON.stringify(gone)});
    rmdirSync(${JSON.stringify(gone)});
    const error = await openSession("x.jsonl").catch((error) => error);
    console.log(error.code, error.message);`;
  assert.match(run(code), /^invalid_argument path: .*absolute path/);
});

/** What a call reads of a file before it returns, and in all. @param {any} session @param {() => Promise<any>} call */
async function reading(session, call) {
  const before = session.bytesRead;
  const running = call();
  const first = session.bytesRead - before;
  const outcome = await running;
  return { first, all: session.bytesRead - before, outcome };
}

test("a recovery reads in the caller's turn no more than a window may hold", HANG, async () => {
  const session = await openSession(LARGE);
  const tail = session.length - 40;
  const requests = {
    "a summary, the transcript beside it": {
      preparation: { messagesToSummarize: session.range(0, 500) },
      transcript: session,
    },
    "a long range": { preparation: { messagesToSummarize: session.range(0, tail) } },
    "a tail kept": {
      preparation: { messagesToSummarize: session.range(0, tail), retainedTail: session.range(tail) },
    },
    "nothing new": {
      preparation: { messagesToSummarize: session.range(0, tail) },
      transcript: session,
      leafIsCheckpoint: true,
    },
  };
  for (const [name, request] of Object.entries(requests)) {
    const { first, outcome } = await reading(session, () =>
      library.compactWithRecovery(
        /** @type {any} */ ({
          reason: "threshold",
          budget: library.contextBudget({ contextWindow: 200_000, maxTokens: 8_192 }),
          summarizer: { kind: "extractive" },
          ...request,
        }),
      ),
    );
    assert.ok(first < MB, `${name}: ${first} bytes`);
    assert.notEqual(outcome.kind, "failed", `${name}: ${outcome.error?.message}`);
  }
});
