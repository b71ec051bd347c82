// A provider in a process of its own, so that its work is not counted as the asking process's.

import { setTimeout as wait } from "node:timers/promises";
import { serve } from "../provider.mjs";

const [api, delay] = process.argv.slice(2);
const step = async () => {
  await wait(Number(delay));
  return "SUMMARY";
};
const provider = await serve(undefined, { api: /** @type {any} */ (api), steps: [step] });
process.send?.(provider.model);
process.on("disconnect", () => process.exit(0));
