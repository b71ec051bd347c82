// A conversation, and a client of the host's own in front of a model server.

import { serve } from "../provider.mjs";

export * from "./conversation.mjs";

const NAMED = "https://gateway.example/v1/chat/completions";

/** @param {{ t: any }} test */
export default async function prepare({ t }) {
  // Neither streamed nor asked for as pi asks: the answer alone counts.
  const { model, requests } = await serve(t, { api: "openai-completions", steps: [{ body: ANSWER }] });
  return {
    replace: { [NAMED]: `${model.baseUrl}/chat/completions` },
    env: { GATEWAY_KEY: "sk-test" },
    after() {
      if (requests.length !== 1) throw new Error(`${requests.length} requests in place of one`);
    },
  };
}

const ANSWER = { choices: [{ message: { content: "# Goal\nPort it." }, finish_reason: "stop" }] };
