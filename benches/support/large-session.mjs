// One fresh process over a large session file: `large-session.mjs ours|pi FILE` prints as JSON how long it took, for
// how long the event loop was held at most beyond what an idle one is, by how much the process grew, and the answer.

import { readFileSync, writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";

import { ourAnswer, piAnswer } from "./session-file.mjs";
import { loadOurs, loadPiWithSessions } from "./sides.mjs";

/** Milliseconds after which the collector is done with what loading left. */
const SETTLED = 100;
/** Milliseconds of the idle run. */
const IDLE = 300;
/** Turns of the loop that a late timer needs to be noticed. */
const NOTICED = 10;
const MB = 1_000_000;

const [side, path] = process.argv.slice(2);
const call = await sideCall();
await setTimeout(SETTLED);
const idle = await held(() => setTimeout(IDLE));
const run = await held(() => grown(call));
const { wall, megabytes, answer } = run.result;
console.log(JSON.stringify({ wall, stall: Math.max(0, run.most - idle.most), megabytes, answer }));

async function sideCall() {
  if (side === "ours") {
    const ours = loadOurs();
    return () => ourAnswer(ours, path);
  }
  const pi = await loadPiWithSessions();
  return () => piAnswer(pi, path);
}

/** Milliseconds for which the loop was held at most. @template T @param {() => Promise<T>} work */
async function held(work) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await setTimeout(NOTICED);
  const result = await work();
  await setTimeout(NOTICED);
  delay.disable();
  return { most: delay.max / 1e6, result };
}

/** Time and memory of a call, from its beginning to the highest point. @param {() => unknown} work */
async function grown(work) {
  forgetHighest();
  const before = process.memoryUsage.rss();
  const start = performance.now();
  const answer = await work();
  const wall = performance.now() - start;
  return { wall, megabytes: Math.max(0, highest() - before) / MB, answer };
}

/** Linux keeps the mark from before otherwise, which loading may have set high. */
function forgetHighest() {
  if (process.platform === "linux") writeFileSync("/proc/self/clear_refs", "5");
}

/** The most that the process has held, in bytes; where that is not told, what it holds now. */
function highest() {
  if (process.platform !== "linux") return process.memoryUsage.rss();
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return Number(kilobytes) * 1_024;
}
