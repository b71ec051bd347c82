// A home for one pi: its agent folder, a session of its own, and a provider on the loopback.

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

const MODELS = [
  { id: "chat", contextWindow: 200_000, maxTokens: 16_384 },
  { id: "small", contextWindow: 32_000, maxTokens: 8_192 },
];

/** @typedef {Awaited<ReturnType<typeof homeOf>>} Home */

/**
 * @param {any} t whose end removes it
 * @param {{ steps?: import("./provider.mjs").Step[], chosen?: unknown, settingsText?: string, session?: string,
 *   keep?: number, compaction?: object, provider?: object }} how
 *   `chosen`: what the settings file holds, none when undefined; `session`: a file that is copied; `keep`: tokens that
 *   pi keeps
 */
export async function homeOf(t, how = {}) {
  const { steps = ["SUMMARY"], chosen, session = SAMPLE, keep = 4_000, compaction = {}, provider = {} } = how;
  const folder = mkdtempSync(join(tmpdir(), "pi-compaction-host-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const agent = join(folder, "agent");
  const cwd = join(folder, "work");
  for (const path of [agent, cwd]) mkdirSync(path);
  const server = await serve(t, { api: "openai-completions", steps });
  const fake = {
    baseUrl: server.model.baseUrl,
    api: "openai-completions",
    apiKey: KEY,
    models: MODELS,
    ...provider,
  };
  const write = (/** @type {string} */ name, /** @type {object} */ value) =>
    writeFileSync(join(agent, name), JSON.stringify(value));
  write("models.json", { providers: { fake } });
  write("settings.json", {
    compaction: { enabled: false, keepRecentTokens: keep, ...compaction },
    retry: { enabled: false },
    defaultProjectTrust: "always",
  });
  const settings = join(agent, SETTINGS_NAME);
  const text = how.settingsText ?? (chosen === undefined ? undefined : JSON.stringify(chosen));
  if (text !== undefined) writeFileSync(settings, text);
  const file = join(folder, "session.jsonl");
  writeFileSync(file, movedTo(cwd, readFileSync(session, "utf8")));
  return { folder, agent, cwd, settings, file, server, requests: server.requests };
}

/** A session whose folder is there. @param {string} cwd @param {string} text */
function movedTo(cwd, text) {
  const end = text.indexOf("\n");
  return JSON.stringify({ ...JSON.parse(text.slice(0, end)), cwd }) + text.slice(end);
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
