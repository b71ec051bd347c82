// Does docs/electron.md's recipe for the drop-in work from an empty project? In Electron: npm run test:electron.

import assert from "node:assert/strict";
import test from "node:test";
import { fileURLToPath } from "node:url";
import * as pi from "../index.js";
import { followed } from "./support/recipe.mjs";

const session = await pi.openSession(fileURLToPath(new URL("../examples/session.jsonl", import.meta.url)));

/** What the page's runtime has to say of the sample session. */
function expected() {
  const messages = [...session];
  const budget = pi.contextBudget({ contextWindow: 32_768, maxTokens: 8_192 });
  const input = { messagesToSummarize: messages };
  const chunks = pi.planChunks(input, { promptLimit: 22_528 }).length;
  const kept = pi.buildRetainedTail(messages, budget.keepRecentTokens).length;
  const exceeds = pi.compactionSummaryWouldExceedBudget(input, budget, { maxTokens: 8_192 });
  assert.ok(exceeds && chunks > 1 && kept > 1, "the sample shows something");
  return `too large for one request: ${exceeds}\nchunks: ${chunks}\nkept: ${kept}\n`;
}

test("the package beside the bundle", async (t) => {
  const { said, names } = await followed(t, "the package beside it", process.execPath);
  assert.equal(said, expected());
  assert.deepEqual(names, ["agent.mjs", "node_modules"]);
});

test("nothing but the binary beside the bundle", async (t) => {
  const { said, names } = await followed(t, "the binary beside it", process.execPath);
  assert.equal(said, expected());
  assert.deepEqual(
    names.map((name) => name.replace(/^.*\./, ".")),
    [".mjs", ".node"],
  );
});

test("exact tokens without their tables say what is missing, in a bundle too", async (t) => {
  const agent = `
    import { countTokens } from "pi-compaction-native";
    countTokens("two words", "o200k_base").catch(({ code, message }) => console.log(code, message));`;
  const { said } = await followed(t, "the binary beside it", process.execPath, agent);
  assert.match(said, /^unsupported_api .*install the package pi-compaction-native-tokens/);
});
