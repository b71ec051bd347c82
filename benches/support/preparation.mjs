// From messages to the bytes of a request, on both sides: as one step, and with everything that comes before it.

import { deepStrictEqual } from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";

/** @typedef {import("./sides.mjs").Ours} Ours */
/** @typedef {import("./sides.mjs").Pi} Pi */
/** @typedef {{ main: number, wall: number }} Held milliseconds of the main thread, and from call to bytes */

/** Nobody answers: the event that ends a measured call comes before the request leaves. */
const NOWHERE = "http://127.0.0.1:9/v1";
const KEEP_RECENT = 20_000;
const REDUCED = 500;
const MARKER = "\n\n[... tool output truncated for the summary request]";

/** @param {number} contextWindow @param {string} baseUrl */
const modelOf = (contextWindow, baseUrl = NOWHERE) => ({
  api: "openai-completions",
  provider: "none",
  id: "none",
  baseUrl,
  contextWindow,
  maxTokens: 8_192,
});

/**
 * Our side, until the body of the first request is there: it is built before the event.
 *
 * @param {Ours} ours @param {any} preparation @param {any} model
 * @returns {Promise<Held>}
 */
export async function prepareBody(ours, preparation, model) {
  const controller = new AbortController();
  const before = performance.eventLoopUtilization();
  const start = performance.now();
  const held = await new Promise((resolve) => {
    const onEvent = (/** @type {any} */ { type }) => {
      if (type !== "request") return;
      const { active } = performance.eventLoopUtilization(before);
      resolve({ main: active, wall: performance.now() - start });
      controller.abort();
    };
    const budget = ours.contextBudget(model);
    const summarizer = /** @type {const} */ ({ kind: "http", model });
    const request = { preparation, budget, summarizer, signal: controller.signal, onEvent };
    ours.generateCompaction(request).catch((error) => error.name === "AbortError" || resolve(error));
  });
  if (held instanceof Error) throw held;
  return held;
}

/** pi's side: what its client sends. @param {string} text @param {any} model */
function bodyOf(text, model) {
  const content = `<conversation>\n${text}\n</conversation>\n\nSummarize.`;
  const messages = [
    { role: "system", content: "You summarize." },
    { role: "user", content },
  ];
  const { id, maxTokens } = model;
  return Buffer.from(JSON.stringify({ model: id, messages, stream: true, max_completion_tokens: maxTokens }));
}

/** The conversation in the first request that our side really sends. @param {Ours} ours @param {any} preparation @param {number} window */
async function sentConversation(ours, preparation, window) {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const model = modelOf(window, `http://127.0.0.1:${port}/v1`);
  const controller = new AbortController();
  const summarizer = /** @type {const} */ ({ kind: "http", model });
  const budget = ours.contextBudget(model);
  const run = ours.generateCompaction({ preparation, budget, summarizer, signal: controller.signal });
  run.catch(() => {});
  const [request] = await once(server, "request");
  const chunks = await request.toArray();
  controller.abort();
  server.close();
  server.closeAllConnections();
  const { content } = JSON.parse(Buffer.concat(chunks).toString()).messages[1];
  return content.slice("<conversation>\n".length, content.indexOf("\n</conversation>"));
}

/** Tags are made harmless and lone surrogates mended on our side. @param {string} text */
const comparable = (text) =>
  Buffer.from(text)
    .toString()
    .replace(/[<\u2039]/g, "<");

/** A window into which the whole session fits. */
const WIDE = 2_000_000;

/** All messages as the bytes of one request. */
export const body = {
  prepare: (/** @type {{ messages: any[] }} */ { messages }) => ({
    preparation: { messagesToSummarize: messages, turnPrefixMessages: [], isSplitTurn: false },
    model: modelOf(WIDE),
  }),
  ours: (/** @type {Ours} */ ours, /** @type {any} */ { preparation, model }) =>
    prepareBody(ours, preparation, model),
  pi: (/** @type {Pi} */ pi, /** @type {any} */ { preparation, model }) =>
    bodyOf(pi.serializeConversation(preparation.messagesToSummarize), model),
  assertEqual: async (/** @type {Ours} */ ours, /** @type {Pi} */ pi, /** @type {any} */ { preparation }) =>
    deepStrictEqual(
      comparable(await sentConversation(ours, preparation, WIDE)),
      comparable(pi.serializeConversation(preparation.messagesToSummarize)),
    ),
};

const WINDOW = 200_000;
const LIMIT = WINDOW - 8_192 - 2_048;

/** Cut, guard, one reduction where it is needed, and the bytes of the request for the history. */
export const whole = {
  prepare: (/** @type {{ messages: any[] }} */ { messages }) => ({
    messages,
    entries: messages.map((message, i) => ({ type: "message", id: `${i}`, message })),
    model: modelOf(WINDOW),
  }),
  ours: async (/** @type {Ours} */ ours, /** @type {any} */ { messages, model }) => {
    const start = performance.now();
    const preparation = ourPreparation(ours, messages);
    const cut = performance.now() - start;
    const { main, wall } = await prepareBody(ours, preparation, model);
    return { main: cut + main, wall: cut + wall };
  },
  pi: (/** @type {Pi} */ pi, /** @type {any} */ data) => bodyOf(piText(pi, data), data.model),
  assertEqual: async (/** @type {Ours} */ ours, /** @type {Pi} */ pi, /** @type {any} */ data) =>
    deepStrictEqual(
      comparable(await sentConversation(ours, ourPreparation(ours, data.messages), WINDOW)),
      comparable(piText(pi, data)),
    ),
};

/** @param {Ours} ours @param {any[]} messages */
function ourPreparation(ours, messages) {
  const { firstKeptIndex, turnStartIndex, isSplitTurn } = ours.findCut(messages, KEEP_RECENT);
  const historyEnd = isSplitTurn ? turnStartIndex : firstKeptIndex;
  return {
    messagesToSummarize: messages.slice(0, historyEnd),
    turnPrefixMessages: messages.slice(historyEnd, firstKeptIndex),
    isSplitTurn,
  };
}

/** The same steps on pi's own functions. @param {Pi} pi @param {any} data */
function piText(pi, { messages, entries }) {
  const { firstKeptEntryIndex, turnStartIndex, isSplitTurn } = pi.findCutPoint(
    entries,
    0,
    entries.length,
    KEEP_RECENT,
  );
  const historyEnd = isSplitTurn ? turnStartIndex : firstKeptEntryIndex;
  const history = messages.slice(0, historyEnd);
  const prefix = messages.slice(historyEnd, firstKeptEntryIndex);
  const fits = (/** @type {any[]} */ messagesToSummarize, /** @type {any[]} */ turnPrefixMessages) =>
    pi.promptTokens({ messagesToSummarize, turnPrefixMessages, isSplitTurn }) < LIMIT;
  if (fits(history, prefix)) return pi.serializeConversation(history);
  const reduced = history.map(reducedMessage);
  if (!fits(reduced, prefix.map(reducedMessage))) throw new Error("the session needs chunks");
  return pi.serializeConversation(reduced);
}

/** Tool output cut to its beginning, thinking left out (requirements A44 to A46). @param {any} message */
function reducedMessage(message) {
  if (message.role === "assistant") {
    return {
      ...message,
      content: message.content.filter((/** @type {any} */ { type }) => type !== "thinking"),
    };
  }
  if (message.role !== "toolResult") return message;
  const texts = message.content.filter((/** @type {any} */ { type }) => type === "text");
  const text = texts.map((/** @type {any} */ block) => block.text).join("");
  if (text.length <= REDUCED + MARKER.length) return message;
  return { ...message, content: [{ type: "text", text: text.slice(0, REDUCED) + MARKER }] };
}
