// A loop of a host's own: its branch, its next request, and a provider that is busy at first.

import { createAgent } from "../../../examples/prism/session.mjs";
import { talk } from "../entries.mjs";
import { model, scripted } from "../prism-session.mjs";

export { estimateTokens } from "../../../examples/prism/attention.mjs";
export { model } from "../prism-session.mjs";

export const sessionId = "s";
export const runId = "r";
export const secrets = ["sk-live-0123"];
export const signal = undefined;
export const middleware = undefined;

export const before = talk(30);
export const request = { model, messages: before.map(({ message }) => message) };
export const session = createAgent({ model, provider: scripted() }).createSession({ id: sessionId });

let asked = 0;
/** The third request is answered. */
export const ask = async () => new Response("fine", { status: ++asked < 3 ? 503 : 200 });
