// How each row is measured: fresh processes, medians over them, the least and the most beside.

import { deepStrictEqual } from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { largeFile } from "./large-file.mjs";
import { leastRatio, rows, SMALL_FILE } from "./rows.mjs";
import { medians, spread } from "./timing.mjs";

/** @typedef {import("./rows.mjs").Row} Row */
/** @typedef {import("./lines.mjs").Line} Line */
/** @typedef {import("./nodes.mjs").NodeBinary} NodeBinary */
/** @typedef {{ node: NodeBinary, processes: number }} Under */

/**
 * @typedef {object} Measurement
 * @property {string} name
 * @property {boolean} perSession
 * @property {(under: Under, session: string) => Promise<Line[]>} lines
 */

/** Pairs of processes that make up one sample of a first call. */
const PAIRS = 7;
/** Milliseconds within which an abort has to reject, and the addon has to load. */
const ABORT_WITHIN = 20;
const LOAD_WITHIN = 15;
/**
 * What a session file of 200 MB has to reach: times, milliseconds beyond an idle loop, megabytes. Repeated to 200 MB,
 * `large` has 209,000 entries, which at 160 bytes each may take more than that: its growth is shown without a measure.
 */
const LARGE = { faster: 12, stall: 10, growth: { before: 32 } };

/** What a fresh process prints. @param {NodeBinary} node @param {string} script @param {string[]} args */
async function work(node, script, ...args) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const { stdout } = await promisify(execFile)(node.path, [path, ...args]);
  return JSON.parse(stdout);
}

/** @template T @param {number} count @param {() => Promise<T>} sample */
async function repeated(count, sample) {
  const samples = [];
  for (let i = 0; i < count; i++) samples.push(await sample());
  return samples;
}

/** @param {Record<string, number>[]} figures */
function summed(figures) {
  return /** @type {any} */ ({ ...medians(figures), spread: spread(figures) });
}

/** Side by side with pi. @param {Row} row @returns {Measurement} */
function compared(row) {
  return {
    name: row.name,
    perSession: true,
    lines: async ({ node, processes }, session) => {
      const isFirst = row.when === "first";
      // A process that measures both sides asserts their equality; first calls are too early for that.
      if (isFirst) await work(node, "worker.mjs", row.name, session);
      const sample = () =>
        isFirst ? firstCalls(node, row, session) : work(node, "worker.mjs", row.name, session);
      const figures = summed(await repeated(processes, sample));
      return [
        { row: row.name, session, unit: "ms", ...figures, atLeast: leastRatio(row, node.major, session) },
      ];
    },
  };
}

/** @param {NodeBinary} node @param {Row} row @param {string} session */
async function firstCalls(node, row, session) {
  const side = (/** @type {string} */ name) => work(node, "worker.mjs", row.name, session, name);
  const pairs = await repeated(PAIRS, async () => {
    const ours = await side("ours");
    const pi = await side("pi");
    const native = { ours, pi, ratio: pi / ours };
    if (row.pure === undefined) return native;
    const pure = await side("pure");
    return { ...native, pure, pureRatio: pi / pure };
  });
  return medians(pairs);
}

/** A file larger than what anyone should have to wait for. @type {Measurement} */
const large = {
  name: "session file of 200 MB",
  perSession: true,
  lines: async ({ node, processes }, session) => {
    const path = await largeFile(session);
    const pairs = await repeated(processes, async () => {
      const ours = await work(node, "large-session.mjs", "ours", path);
      const pi = await work(node, "large-session.mjs", "pi", path);
      deepStrictEqual(ours.answer, pi.answer);
      return { ours, pi };
    });
    const of = (/** @type {"wall" | "stall" | "megabytes"} */ what) =>
      pairs.map(({ ours, pi }) => ({ pi: pi[what], ours: ours[what] }));
    const walls = of("wall").map(({ pi, ours }) => ({ pi, ours, ratio: pi / ours }));
    const line = (/** @type {string} */ name, /** @type {"ms" | "MB"} */ unit) =>
      /** @type {const} */ ({ row: `${large.name}, ${name}`, session, unit });
    return [
      { ...line("wall", "ms"), ...summed(walls), atLeast: LARGE.faster },
      { ...line("held beyond an idle loop", "ms"), ...summed(of("stall")), atMost: LARGE.stall },
      {
        ...line("memory growth", "MB"),
        ...summed(of("megabytes")),
        atMost: Reflect.get(LARGE.growth, session),
      },
    ];
  },
};

/** From abort to rejection, and until the model's server sees its socket closed. @type {Measurement} */
const aborts = {
  name: "abort to rejection",
  perSession: false,
  lines: async ({ node, processes }) => {
    /** @type {any[][]} */
    const samples = await repeated(processes, () => work(node, "abort.mjs"));
    /** @param {"rejected" | "closed"} what @param {string} row @returns {(stage: any, at: number) => Line[]} */
    const linesOf = (what, row) => (stage, at) => {
      if (stage[what] === undefined) return [];
      const figures = samples.map((stages) => ({
        ours: stages[at][what].median,
        most: stages[at][what].most,
      }));
      return [{ row: `${row}, ${stage.stage}`, unit: "ms", ...summed(figures), atMost: ABORT_WITHIN }];
    };
    const [stages] = samples;
    return [
      ...stages.flatMap(linesOf("rejected", aborts.name)),
      ...stages.flatMap(linesOf("closed", "abort to closed socket")),
    ];
  },
};

/** @type {Measurement} */
const load = {
  name: "load of the addon",
  perSession: false,
  lines: async ({ node, processes }) => {
    const samples = await repeated(processes, async () => ({ ours: await work(node, "load.mjs") }));
    return [{ row: load.name, unit: "ms", ...summed(samples), atMost: LOAD_WITHIN }];
  },
};

/** The main thread while a model compacts 10 MB: never held for longer than reading the messages took. @type {Measurement} */
const stall = {
  name: "10 MB through a model",
  perSession: false,
  lines: async ({ node, processes }) => {
    const samples = await repeated(processes, () => work(node, "stall.mjs"));
    const line = (/** @type {"read" | "held" | "wall"} */ what, /** @type {string} */ name) => ({
      row: `${stall.name}, ${name}`,
      unit: /** @type {const} */ ("ms"),
      ...summed(samples.map((sample) => ({ ours: sample[what] }))),
    });
    const read = line("read", "reading the messages");
    return [read, { ...line("held", "held after that"), atMost: read.ours }, line("wall", "all of it")];
  },
};

/** Entries of a session under Prism's names: twice as many are to take twice as long. */
const ENTRIES = [1_000, 100_000, 200_000];

/** @type {Measurement} */
const prism = {
  name: "Prism's default strategy",
  perSession: false,
  lines: async ({ node, processes }) => {
    const lines = [];
    for (const entries of ENTRIES) {
      const samples = await repeated(processes, () => work(node, "prism.mjs", String(entries)));
      const line = (/** @type {"compact" | "rebuild"} */ what, /** @type {string} */ name) => ({
        row: `${name}, ${entries.toLocaleString("en-US")} entries`,
        unit: /** @type {const} */ ("ms"),
        ...summed(samples.map((sample) => ({ ours: sample[what] }))),
      });
      lines.push(line("compact", prism.name), line("rebuild", "Prism's context rebuilt"));
    }
    return lines;
  },
};

/** Every measurement: what stands beside pi first, then what pi has nothing of. */
export const measurements = [
  ...rows.flatMap((row) => (row.name === SMALL_FILE ? [compared(row), large] : [compared(row)])),
  aborts,
  load,
  stall,
  prism,
];
