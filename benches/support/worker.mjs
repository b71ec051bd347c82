// One fresh process: `worker.mjs ROW SESSION [ours | pi]` prints the figures of both sides as JSON, or the
// milliseconds of the very first call of one.

import { setTimeout } from "node:timers/promises";

import { rows } from "./rows.mjs";
import { readSession } from "./sessions.mjs";
import { loadOurs, loadPi } from "./sides.mjs";
import { cold, few, reported, timed, warm } from "./timing.mjs";

/** Milliseconds after which the collector is done with what loading left. */
const SETTLED = 100;

const [name, session, side] = process.argv.slice(2);
const row = rows.find((each) => each.name === name);
if (row === undefined) throw new Error(`no row is called ${name}`);
const data = await row.prepare(readSession(session));

const figures = side === undefined ? await both(row) : await firstCall(row);
console.log(JSON.stringify(figures ?? null));

/** @param {import("./rows.mjs").Row} row */
async function both(row) {
  const [ours, pi] = [loadOurs(), await loadPi()];
  await row.assertEqual(ours, pi, data);
  const measure = { warm, few, cold, main: reported("main"), wall: reported("wall"), first: undefined }[
    row.when
  ];
  return measure?.(
    () => row.ours(ours, data),
    () => row.pi(pi, data),
  );
}

/** @param {import("./rows.mjs").Row} row */
async function firstCall(row) {
  const call = await sideCall(row);
  await setTimeout(SETTLED);
  return timed(call, 1);
}

/** @param {import("./rows.mjs").Row} row */
async function sideCall(row) {
  if (side === "ours") {
    const ours = loadOurs();
    return () => row.ours(ours, data);
  }
  const pi = await loadPi();
  return () => row.pi(pi, data);
}
