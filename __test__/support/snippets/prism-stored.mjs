// A stored session with a secret in it, a runtime, and a provider that is busy at first.

import assert from "node:assert/strict";

import { createMemoryStore } from "../../../examples/prism/store.mjs";
import { httpStatusError } from "../../../prism.js";
import { talk } from "../entries.mjs";
import { answers, fails, scripted } from "../prism-session.mjs";

export { createAgent } from "../../../examples/prism/session.mjs";
export { model } from "../prism-session.mjs";

const KEY = "sk-live-0123";
const raw = talk(24, (at) => (at === 1 ? `the key is ${KEY}` : `text ${at}`));

export const sessionId = "s";
export const store = createMemoryStore(raw);
export const provider = scripted([fails(httpStatusError({ status: 503 })), answers("Here.")]);

export default () => ({
  env: { API_KEY: KEY },
  after: (/** @type {{ stdout: string }} */ { stdout }) => {
    assert.match(
      stdout,
      /the key is \*{12}[\s\S]*\b25\n$/,
      "the branch: all that was stored, and the compaction",
    );
    assert.doesNotMatch(stdout, /sk-live/);
  },
});

/** What the snippet leaves in the store. */
export async function afterwards() {
  const entries = await store.list(sessionId);
  assert.deepEqual(entries.slice(0, raw.length), raw, "E123 E129: what was stored is as it was");
  const compactions = entries.filter((/** @type {any} */ { kind }) => kind === "compaction");
  const said = compactions.map((/** @type {any} */ { data }) => [data.trigger, data.keepEntryIds.length]);
  assert.deepEqual(said, [
    ["manual", 4],
    ["auto", 4],
    ["manual", 4],
  ]);
  assert.equal(provider.requests.length, 3, "E129: one turn was tried again");
  assert.doesNotMatch(JSON.stringify(compactions), /sk-live/);
}
