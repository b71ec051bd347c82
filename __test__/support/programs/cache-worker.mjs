// What a worker finds in its cache before and after a run of its own.

import { parentPort } from "node:worker_threads";
import { exportCache } from "../../../index.js";
import { sixteen } from "../sixteen.mjs";

const before = exportCache().entries.length;
const { calls } = await sixteen({});
parentPort?.postMessage({ before, requests: calls.length, after: exportCache().entries.length });
