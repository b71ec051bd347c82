import assert from "node:assert/strict";
import { inspect } from "node:util";
import { RETRY, run } from "../support/model.mjs";

/** @typedef {import("./wire.mjs").Api} Api */
/** @typedef {Awaited<ReturnType<typeof run>>} Outcome */

/** What a gateway serves, and both ways to ask for it. @type {{ api: Api, stream: boolean, how: string }[]} */
export const WAYS = /** @type {Api[]} */ ([
  "openai-completions",
  "openai-responses",
  "anthropic-messages",
]).flatMap((api) =>
  [true, false].map((stream) => ({ api, stream, how: `${api}, ${stream ? "streamed" : "in one piece"}` })),
);

/** One retry, so that a failure that passes shows and costs a second at most. */
export const ONCE_MORE = Object.freeze({ ...RETRY, maxRetries: 1 });

/** @param {string} name @returns {string} what the script that starts the servers said */
export function setting(name) {
  const value = process.env[name];
  if (value === undefined)
    throw new Error(`${name} is not set: run these tests by \`npm run test:gateways\``);
  return value;
}

/**
 * A summarizer behind a gateway. Anthropic's base URL has no version in it, as in pi.
 *
 * @param {string} url @param {{ api: Api, stream: boolean }} way @param {object} model
 */
export function behind(url, { api, stream }, model) {
  const baseUrl = api === "anthropic-messages" ? url : `${url}/v1`;
  const limits = { contextWindow: 32_768, maxTokens: 1_024 };
  const summarizer = {
    kind: "http",
    model: { provider: "gateway", api, baseUrl, ...limits, ...model },
    apiKey: setting("GATEWAY_KEY"),
    stream,
  };
  return /** @type {any} */ ({ calls: [], summarizer });
}

/** @param {Outcome} outcome @returns {any} the result */
export function succeeded({ result, error }) {
  assert.equal(error, undefined, inspect(error));
  return result;
}

/** @param {Outcome} outcome @param {object} expected properties of the error @returns {any} the error */
export function refused({ result, error }, expected) {
  assert.equal(result, undefined, `a summary came back: ${inspect(result)}`);
  assert.equal(error?.name, "CompactionError", inspect(error));
  for (const [name, value] of Object.entries(expected))
    assert.equal(error[name], value, `${name} of ${inspect(error)}`);
  assert.ok(!inspect(error).includes(setting("GATEWAY_KEY")), "no key in an error");
  return error;
}

/** @param {Outcome} outcome @param {string} type @returns {any[]} */
export function eventsOf({ events }, type) {
  return events.filter((event) => event.type === type);
}
