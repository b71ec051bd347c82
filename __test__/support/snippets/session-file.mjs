// Session files under the names that the documentation gives them: the sample, and one that is worth a large window.

import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { messages } from "./conversation.mjs";
import * as modelServer from "./model-server.mjs";

export { budget, model } from "./conversation.mjs";

const SAMPLE = fileURLToPath(new URL("../../../examples/session.jsonl", import.meta.url));
const timestamp = "2026-01-01T00:00:00.000Z";

function longSession() {
  const header = { type: "session", version: 3, id: "long", timestamp, cwd: "/project" };
  const entries = [messages, messages, messages].flat().map((message, index) => {
    return { type: "message", id: `e${index}`, parentId: index ? `e${index - 1}` : null, timestamp, message };
  });
  return [header, ...entries].map((entry) => `${JSON.stringify(entry)}\n`).join("");
}

/** @param {{ t: any, folder: string, snippet: import("../snippets.mjs").Snippet }} test */
export default function prepare(test) {
  copyFileSync(SAMPLE, join(test.folder, "session.jsonl"));
  writeFileSync(join(test.folder, "SESSION.jsonl"), longSession());
  return modelServer.default(test);
}
