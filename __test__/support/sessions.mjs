import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** @typedef {import("./transcripts.mjs").Message} Message */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Session files: our own sample, and real ones where they lie beside the repository. */
function paths() {
  const shared = join(ROOT, "..", "shared", "sessions");
  const real = existsSync(shared) ? readdirSync(shared).filter((name) => name.endsWith(".jsonl")) : [];
  const own = join(ROOT, "examples", "session.jsonl");
  return [...(existsSync(own) ? [own] : []), ...real.sort().map((name) => join(shared, name))];
}

/** The messages of a session file. @param {string} path @returns {Message[]} */
function messagesOf(path) {
  const lines = readFileSync(path, "utf8").split("\n");
  const entries = lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line));
  return entries.filter((entry) => entry.type === "message").map((entry) => entry.message);
}

/** @returns {{ name: string, messages: Message[] }[]} */
export function sessions() {
  return paths().map((path) => ({ name: path.slice(path.lastIndexOf("/") + 1), messages: messagesOf(path) }));
}
