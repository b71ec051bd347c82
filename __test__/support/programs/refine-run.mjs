// One run of a session over sixteen chunks, with the cache that an earlier process kept; tells what it made.

import { readFileSync, writeFileSync } from "node:fs";
import { exportCache, importCache } from "../../../index.js";
import { sixteen } from "../sixteen.mjs";

const [path, strategy, failsAt] = process.argv.slice(2);
const kept = readFileSync(path, "utf8");
if (kept !== "") importCache(JSON.parse(kept));
const { error, calls, result } = await sixteen({ strategy, failsAt: Number(failsAt) });
writeFileSync(path, JSON.stringify(exportCache()));
const told = {
  code: error?.code,
  requests: calls.length,
  summary: result?.summary,
  details: result?.details,
};
process.stdout.write(JSON.stringify(told));
