// One fresh process: prints the milliseconds that Prism's default strategy and the rebuilding of a context take, by the
// number of entries.

import { createRequire } from "node:module";

import { timed } from "./timing.mjs";

/** @type {typeof import("../../prism.js")} */
const { createDefaultCompactionStrategy, rebuildSessionContext } = createRequire(import.meta.url)(
  "../../prism.js",
);

const [entries] = process.argv.slice(2).map(Number);
/** So many calls that a million entries are visited. */
const RUNS = Math.ceil(1_000_000 / entries);
const text = "what was said in a session ".repeat(8);

/** A branch of words, by turns of a person and a model. */
const branch = Array.from({ length: entries }, (_, at) => ({
  id: `entry-${at}`,
  ...(at === 0 ? {} : { parentId: `entry-${at - 1}` }),
  sessionId: "session",
  timestamp: "2026-01-01T00:00:00.000Z",
  kind: "message",
  message: { role: at % 2 === 0 ? "user" : "assistant", content: [{ type: "text", text: `${at} ${text}` }] },
}));
const strategy = createDefaultCompactionStrategy();
const { entries: made } = await strategy.compact({ sessionId: "session", entries: branch });
const compacted = [...branch, ...made];

console.log(
  JSON.stringify({
    compact: await timed(() => strategy.compact({ sessionId: "session", entries: branch }), RUNS),
    rebuild: await timed(() => rebuildSessionContext(compacted), RUNS),
  }),
);
