// pi-ai's own streams (0.87.1), to compare with: the same provider is asked by them and by the addon.

import * as anthropic from "../oracle/node_modules/@earendil-works/pi-ai/dist/api/anthropic-messages.js";
import * as google from "../oracle/node_modules/@earendil-works/pi-ai/dist/api/google-generative-ai.js";
import * as completions from "../oracle/node_modules/@earendil-works/pi-ai/dist/api/openai-completions.js";
import * as responses from "../oracle/node_modules/@earendil-works/pi-ai/dist/api/openai-responses.js";

export { calculateCost } from "../oracle/node_modules/@earendil-works/pi-ai/dist/models.js";

/** @type {Record<import("./wire.mjs").Api, { stream: Function }>} */
const STREAMS = {
  "openai-completions": completions,
  "openai-responses": responses,
  "anthropic-messages": anthropic,
  "google-generative-ai": google,
};

/**
 * What pi-ai makes of the provider's answer.
 *
 * @param {import("./wire.mjs").Api} api @param {object} model @param {string} apiKey
 * @returns {Promise<{ text: string, stopReason: string, errorMessage?: string, usage: any }>}
 */
export async function askedByPi(api, model, apiKey) {
  const content = [{ type: "text", text: "go" }];
  const context = { systemPrompt: "Be brief.", messages: [{ role: "user", content, timestamp: 0 }] };
  const options = { apiKey, maxTokens: 1_000, maxRetries: 0, cacheRetention: "none" };
  const answer = await STREAMS[api].stream(model, context, options).result();
  const texts = answer.content.filter((/** @type {any} */ { type }) => type === "text");
  const { stopReason, errorMessage, usage } = answer;
  return {
    text: texts.map((/** @type {any} */ part) => part.text).join(""),
    stopReason,
    errorMessage,
    usage,
  };
}
