// A conversation, and a model server on the loopback in the place of each provider that is named.

import { serve } from "../provider.mjs";

export * from "./conversation.mjs";

/** The servers that snippets name, by the wire format that they speak. */
const SERVERS = /** @type {const} */ ({
  "https://api.anthropic.com": "anthropic-messages",
  "https://api.openai.com/v1": "openai-responses",
});

export const apiKey = "sk-test";

/** @param {{ t: any, snippet: import("../snippets.mjs").Snippet }} test */
export default async function prepare({ t, snippet }) {
  const named = Object.entries(SERVERS).filter(([url]) => snippet.text.includes(url));
  const servers = await Promise.all(named.map(([, api]) => serve(t, { api, steps: ["# Goal\nPort it."] })));
  return {
    replace: Object.fromEntries(servers.map(({ model }, index) => [named[index][0], model.baseUrl])),
    env: { ANTHROPIC_API_KEY: apiKey },
    after() {
      for (const { requests, faults } of servers) {
        if (requests.length === 0 || faults.length > 0) throw faults[0] ?? new Error("no model was asked");
      }
    },
  };
}
