#!/usr/bin/env node
"use strict";
// The command line: looks at a session, or writes its checkpoint. The session file stays as it is.

const { parseArgs } = require("node:util");
const { version } = require("../package.json");

const HELP = `pi-compaction ${version}: context compaction for pi sessions

Usage:
  pi-compaction inspect SESSION [--window N] [--max-output N]
      what fills the context, and what a compaction would do with it
  pi-compaction compact SESSION [--json] [--window N] [--max-output N]
                        [--max-chars N | --model ID --base-url URL --api API]
      write a checkpoint to standard output; without a model it is picked
      from the session by rule

Options:
  --window N      context window of the model in tokens (128000)
  --max-output N  the most tokens it writes in one answer (8192)
  --max-chars N   the most UTF-16 units of the summary, at least 256 (4000)
  --model ID      the model that writes the summary
  --base-url URL  where it is reached, as pi has it: https://host/v1 for
                  OpenAI, without /v1 for Anthropic
  --api API       openai-completions, openai-responses, anthropic-messages or
                  google-generative-ai
  --json          print the whole result as JSON
  -h, --help      print this
  -v, --version   print the version

The model's key is read from PI_COMPACTION_API_KEY; proxies and certificates
from HTTPS_PROXY, HTTP_PROXY, NO_PROXY and NODE_EXTRA_CA_CERTS.
SESSION is a .jsonl file of pi, of any version; it is never written to.
Exit status: 0; 1 when it cannot be compacted, and why; 2 for a wrong call.
`;

/** Options of every command, then of each. */
const SHARED = { window: { type: "string" }, "max-output": { type: "string" } };
const COMMANDS = {
  inspect: { options: SHARED, run: () => require("./inspect.js") },
  compact: {
    options: {
      ...SHARED,
      json: { type: "boolean" },
      "max-chars": { type: "string" },
      model: { type: "string" },
      "base-url": { type: "string" },
      api: { type: "string" },
    },
    run: () => require("./compact.js"),
  },
};
/** The least value of each number. */
const LEAST = { window: 1, "max-output": 1, "max-chars": 256 };

class UsageError extends Error {}

/** @param {Record<string, unknown>} values */
function numbersOf(values) {
  const numbers = /** @type {Record<string, number | undefined>} */ ({});
  for (const [name, least] of Object.entries(LEAST)) {
    const given = values[name];
    if (given === undefined) continue;
    const number = /^\d+$/.test(String(given)) ? Number(given) : Number.NaN;
    if (!Number.isSafeInteger(number) || number < least)
      throw new UsageError(`--${name} takes a whole number of at least ${least}`);
    numbers[name] = number;
  }
  return numbers;
}

/** The model that is to write, or nothing. @param {Record<string, unknown>} values */
function modelOf({ model: id, "base-url": baseUrl, api, "max-chars": maxChars }) {
  const given = [id, baseUrl, api].filter((value) => value !== undefined && value !== "");
  if (given.length === 0) return undefined;
  if (given.length < 3) throw new UsageError("--model, --base-url and --api go together");
  if (maxChars !== undefined) throw new UsageError("--max-chars is for a summary without a model");
  return { id, baseUrl, api };
}

/** @param {readonly string[]} words @param {Record<string, { type: string }>} options */
function parsed(words, options) {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      options: /** @type {any} */ (options),
      allowPositionals: true,
    });
    return { values: /** @type {Record<string, unknown>} */ (values), positionals };
  } catch (error) {
    // Node's hint about "--" in the second sentence fits no call of ours.
    throw new UsageError(/** @type {Error} */ (error).message.split(". ")[0]);
  }
}

/** @param {readonly string[]} words */
function commandOf(words) {
  const [name, ...rest] = words;
  if (name === undefined) throw new UsageError("a command is missing: inspect or compact");
  const command = Object.hasOwn(COMMANDS, name)
    ? COMMANDS[/** @type {keyof typeof COMMANDS} */ (name)]
    : undefined;
  if (!command) throw new UsageError("the command is inspect or compact, and comes first");
  const { values, positionals } = parsed(rest, command.options);
  if (positionals.length !== 1 || positionals[0] === "")
    throw new UsageError(`${name} takes the path of one session`);
  const { window, "max-output": maxOutput, "max-chars": maxChars } = numbersOf(values);
  const json = values.json === true;
  const request = { path: positionals[0], window, maxOutput, maxChars, json, model: modelOf(values) };
  return () => command.run()(request);
}

/** What a person wrote, for what the library calls it. */
const OPTION_OF = {
  "request.summarizer.model.api": "--api",
  "request.summarizer.model.baseUrl": "--base-url",
  "request.summarizer.model.id": "--model",
  "request.summarizer.apiKey": "PI_COMPACTION_API_KEY",
  "summarizer.model.baseUrl": "--base-url",
  "summarizer.model.api": "--api",
  "summarizer.apiKey": "PI_COMPACTION_API_KEY",
};

/** @param {any} error */
function failed(error) {
  if (error instanceof UsageError) {
    process.stderr.write(`pi-compaction: ${error.message}; see pi-compaction --help\n`);
    return 2;
  }
  const { printable } = require("./text.js");
  const code = typeof error?.code === "string" ? error.code : "internal";
  const said = Object.entries(OPTION_OF).reduce(
    (words, [field, option]) => words.replaceAll(field, option),
    printable(String(error?.message ?? error)),
  );
  const key = [401, 403].includes(error?.status) ? "; the key is read from PI_COMPACTION_API_KEY" : "";
  process.stderr.write(`pi-compaction: ${code}: ${said}${key}\n`);
  return 1;
}

/** @param {readonly string[]} words */
async function main(words) {
  const asked = (/** @type {string[]} */ ...names) => words.some((word) => names.includes(word));
  if (asked("--help", "-h")) return void process.stdout.write(HELP);
  if (asked("--version", "-v")) return void process.stdout.write(`${version}\n`);
  try {
    await commandOf(words)();
  } catch (error) {
    process.exitCode = failed(error);
  }
}

// Whoever reads us may stop at any time, as `head` does; that is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (/** @type {any} */ error) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
}
main(process.argv.slice(2));
