// A provider that plays a script, and a session that is listened to.

import { createAgent } from "../../examples/prism/session.mjs";
import { createMemoryStore } from "../../examples/prism/store.mjs";
import { talk } from "./entries.mjs";

export const model = Object.freeze({
  provider: "acme",
  model: "large",
  limits: { contextWindow: 200_000, maxOutputTokens: 8_000 },
});

/** A failure that passes by itself. */
export const busy = Object.freeze({ message: "busy", code: 503 });

/** An answer in full. @param {string} text */
export const answers = (text) => [
  { type: "message_started" },
  { type: "message_delta", text },
  { type: "done" },
];

/** An answer that begins and fails. @param {any[]} events @param {any} error */
export const fails = (error, events = /** @type {any[]} */ ([])) => [...events, { type: "error", error }];

/**
 * Each request takes the next step of the script, then `ok` for ever.
 *
 * @param {any[][]} [script]
 */
export function scripted(script = []) {
  /** @type {any[]} */
  const requests = [];
  return {
    requests,
    async *generate(/** @type {any} */ { signal, ...request }) {
      requests.push(structuredClone(request));
      for (const event of script[requests.length - 1] ?? answers("ok")) {
        signal?.throwIfAborted();
        if (typeof event === "function") await event();
        else yield event;
      }
    },
  };
}

/** @param {any} [config] @param {any[][]} [script] */
export function session(config, script) {
  const provider = scripted(script);
  const agent = createAgent({ model, provider, ...config });
  const made = agent.createSession({ id: "s" });
  /** @type {any[]} */
  const events = [];
  made.subscribe((event) => events.push(event));
  const types = () => events.map(({ type }) => type);
  return { session: made, provider, events, types, requests: provider.requests };
}

/** One whose branch is there already. @param {number} length @param {any} [config] @param {any[][]} [script] */
export function stored(length, config, script) {
  const store = createMemoryStore(talk(length));
  return { store, ...session({ store, ...config }, script) };
}

/** @param {any} store @returns {Promise<any[]>} */
export const entriesOf = (store) => store.list("s");
