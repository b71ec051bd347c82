// A home for one pi: its agent folder, sessions of its own, and a provider on the loopback.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { KEY, serve } from "./provider.mjs";

export const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
export const EXTENSION = join(PACKAGE, "extensions/refine-compact.ts");
export const SAMPLE = join(PACKAGE, "examples/session.jsonl");
export const SETTINGS_NAME = "pi-compaction-native.json";
/** The chat's model. */
export const CHAT = "fake/chat";
/** So small that the sample needs several chunks. */
export const SMALL = "fake/small";

export const MODELS = [
  { id: "chat", contextWindow: 200_000, maxTokens: 16_384 },
  { id: "small", contextWindow: 32_000, maxTokens: 8_192 },
];

/** @typedef {import("./provider.mjs").Step} Step */
/** @typedef {Awaited<ReturnType<typeof homeOf>>} Home */

/**
 * @param {import("./pi-hosts.mjs").Scope} scope whose end removes it
 * @param {{ compaction?: object, models?: object[], provider?: string }} how settings of pi over those that leave
 *   compacting to the tests; `provider` is one more, with the same models
 */
export async function homeOf(scope, { compaction = {}, models = MODELS, provider = "fake" } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "pi-compaction-host-"));
  scope.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const agent = join(folder, "agent");
  const cwd = join(folder, "work");
  for (const path of [agent, cwd]) mkdirSync(path);
  const script = new Script();
  const server = await serve(scope, {
    api: "openai-completions",
    steps: [(request) => script.step(request)],
  });
  const { baseUrl } = server.model;
  const write = (/** @type {string} */ name, /** @type {object} */ value) =>
    writeFileSync(join(agent, name), JSON.stringify(value));
  const fake = { baseUrl, api: "openai-completions", apiKey: KEY, models };
  write("models.json", { providers: { fake, [provider]: fake } });
  write("settings.json", {
    compaction: { enabled: false, keepRecentTokens: 4_000, ...compaction },
    retry: { enabled: false },
    defaultProjectTrust: "always",
    defaultProvider: "fake",
    defaultModel: "chat",
  });
  const settings = join(agent, SETTINGS_NAME);
  const { requests } = server;
  return {
    folder,
    agent,
    cwd,
    settings,
    server,
    requests,
    ...givers({ folder, cwd, settings, script, requests }),
  };
}

/** What a test changes between one compaction and the next. */
function givers({ folder, cwd, settings, script, requests }) {
  let sessions = 0;
  return {
    /** What the settings file holds; a string is its text, `undefined` removes it. @param {unknown} chosen */
    choose(chosen) {
      rmSync(settings, { force: true, recursive: true });
      if (chosen !== undefined) writeFileSync(settings, textOf(chosen));
    },
    /** What the provider answers from now on; the last step stands for all further requests. @param {Step[]} steps */
    script(steps) {
      script.begin(steps, requests.length);
    },
    /** A copy of the sample as a session of its own. @param {(text: string) => string} change */
    session(change = (text) => text) {
      const file = join(folder, `session-${++sessions}.jsonl`);
      writeFileSync(file, change(movedTo(cwd, readFileSync(SAMPLE, "utf8"), sessions)));
      return file;
    },
  };
}

/** @param {unknown} chosen */
const textOf = (chosen) => (typeof chosen === "string" ? chosen : JSON.stringify(chosen));

class Script {
  /** @type {Step[]} */
  #steps = ["SUMMARY"];
  #from = 0;

  /** @param {Step[]} steps @param {number} from the index of the first request */
  begin(steps, from) {
    this.#steps = steps;
    this.#from = from;
  }

  /** Steps count from the beginning of theirs. @param {import("./provider.mjs").Received} request */
  step(request) {
    const index = request.index - this.#from;
    const step = this.#steps[Math.min(index, this.#steps.length - 1)];
    return typeof step === "function" ? step({ ...request, index }) : step;
  }
}

/** A session whose folder is there, and whose id is its own. @param {string} cwd @param {string} text @param {number} at */
function movedTo(cwd, text, at) {
  const end = text.indexOf("\n");
  const header = JSON.parse(text.slice(0, end));
  return JSON.stringify({ ...header, id: `${header.id}-${at}`, cwd }) + text.slice(end);
}

/** What a pi of this home needs of its environment, and nothing of ours. @param {{ folder: string, agent: string }} home */
export function environmentOf({ folder, agent }) {
  const { PATH, SystemRoot } = process.env;
  const own = { HOME: folder, PI_CODING_AGENT_DIR: agent, PI_OFFLINE: "1", PI_TELEMETRY: "0" };
  return { ...(SystemRoot ? { SystemRoot } : {}), PATH, ...own };
}

/** The entries of a session file. @param {string} path @returns {any[]} */
export function entriesOf(path) {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
}

/** @param {any[]} entries */
export const ledgerOf = (entries) =>
  entries.filter(({ customType }) => customType === "refine-compact").map(({ data }) => data);

/** @param {any[]} entries */
export const checkpointsOf = (entries) => entries.filter(({ type }) => type === "compaction");
