// What is asked in each process, and what Node answers to it here.

import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import * as pi from "../../index.js";
import { serve } from "../support/provider.mjs";
import { soundTranscript } from "../support/sound.mjs";

const require = createRequire(import.meta.url);
const questions = { ...require("./app/answers.js"), ...require("./app/others.js") };

// Behind a proxy the loopback is not reached.
for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]) {
  delete process.env[name];
  delete process.env[name.toLowerCase()];
}

/** Turns of every shape; more than a small window holds. */
const messages = Array.from({ length: 12 }, (_, seed) => soundTranscript(seed)).flat();
const model = { contextWindow: 32_768, maxTokens: 8_192 };

/** @param {any} t */
export async function question(t) {
  const api = "openai-completions";
  const summary = await serve(t, { api, steps: ["SUMMARY"], model });
  const begun = { pieces: Array(40).fill("word "), at: 1_500, end: /** @type {const} */ ("silent") };
  const silent = await serve(t, { api, steps: [begun], model });
  return {
    input: {
      messages,
      model,
      budget: pi.contextBudget(model),
      http: summary.summarizer,
      hanging: silent.summarizer,
      // What is kept of one question must not answer the next.
      sessionId: randomUUID(),
      session: fileURLToPath(new URL("../../examples/session.jsonl", import.meta.url)),
    },
    summary,
    silent,
  };
}

/** What Node answers, as it reads after a journey through JSON. @param {"answers" | "others"} name @param {any} input */
export async function answered(name, input) {
  return JSON.parse(JSON.stringify(await questions[name](pi, JSON.parse(JSON.stringify(input)))));
}
