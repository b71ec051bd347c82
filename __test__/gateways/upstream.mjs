// A provider on the loopback, to stand behind a gateway: what it does is the name of the model that is asked for.

import { createServer } from "node:http";
import { END_EVENTS, errorEvent, plain, streamed } from "./wire.mjs";

/** @typedef {import("./wire.mjs").Api} Api */
/** @typedef {{ api: Api, model: string, stream: boolean, units: number }} Asked */

export const SUMMARY = "## Goal\nPort the tokenizer.\n\n## Progress\nThe scanner is done.";
/** Seconds in the header `Retry-After` of a rate limit. */
export const RETRY_AFTER = 1;
/** Tokens, at four units each, beyond which `small-window` refuses a prompt. */
export const SMALL_WINDOW = 6_000;

/** @type {Record<string, Api>} */
const PATHS = {
  "/chat/completions": "openai-completions",
  "/responses": "openai-responses",
  "/messages": "anthropic-messages",
};

/** @type {Record<string, (reply: Reply, asked: Asked) => void>} */
const SCRIPTS = {
  success: (reply) => reply.says(SUMMARY),
  length: (reply) => reply.says("## Goal\nPort the", true),
  "rate-limit": (reply) =>
    reply.refuses(
      429,
      "rate_limit_exceeded",
      "Rate limit reached for requests per min. Please try again in 1s.",
      {
        "retry-after": String(RETRY_AFTER),
      },
    ),
  quota: (reply) =>
    reply.refuses(
      429,
      "insufficient_quota",
      "You exceeded your current quota, please check your plan and billing details.",
    ),
  overflow: (reply, asked) => reply.overflows(asked, 1_000),
  "small-window": (reply, asked) =>
    asked.units / 4 > SMALL_WINDOW ? reply.overflows(asked, SMALL_WINDOW) : reply.says(SUMMARY),
  overloaded: (reply) =>
    reply.refuses(503, "overloaded_error", "The server is overloaded. Please retry later."),
  "cut-stream": (reply) => reply.breaksOff([]),
  "stream-error": (reply, { api }) =>
    reply.breaksOff([errorEvent(api, "server_error", "The server had an error.")]),
};

/** The behaviours, by name of the model. */
export const BEHAVIOURS = Object.keys(SCRIPTS);

/** @returns {Promise<{ url: string, close(): Promise<void> }>} */
export async function startUpstream() {
  /** @type {Record<string, number>} */
  const asked = {};
  const server = createServer((request, response) => {
    if (request.url === "/asked") return response.end(JSON.stringify(asked));
    read(request).then((body) => answer(request, response, body, asked));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const close = () =>
    new Promise((resolve) => {
      server.close(() => resolve(undefined));
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, close: /** @type {() => Promise<void>} */ (close) };
}

/** @param {import("node:http").IncomingMessage} request */
async function read(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

/**
 * @param {import("node:http").IncomingMessage} request
 * @param {import("node:http").ServerResponse} response
 * @param {string} text
 * @param {Record<string, number>} seen requests by model
 */
function answer(request, response, text, seen) {
  const api = Object.entries(PATHS).find(([path]) => request.url?.split("?")[0].endsWith(path))?.[1];
  const body = text ? JSON.parse(text) : {};
  const script = SCRIPTS[body.model];
  if (!api || !script) {
    response.writeHead(404, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ error: { type: "not_found", message: `${request.method} ${request.url}` } }),
    );
    return;
  }
  seen[body.model] = (seen[body.model] ?? 0) + 1;
  const asked = { api, model: body.model, stream: body.stream === true, units: text.length };
  script(new Reply(response, asked), asked);
}

class Reply {
  /** @param {import("node:http").ServerResponse} response @param {Asked} asked */
  constructor(response, asked) {
    this.response = response;
    this.asked = asked;
  }

  /** @param {string} text @param {boolean} length */
  says(text, length = false) {
    const { api, model, stream } = this.asked;
    const whole = { text, length, model };
    if (stream) this.#events(streamed(api, whole));
    else this.#json(200, plain(api, whole));
  }

  /** A stream without its end; `last` in the place of it. @param {import("./wire.mjs").SseEvent[]} last */
  breaksOff(last) {
    const { api, model, stream } = this.asked;
    const events = streamed(api, { text: "## Goal\nPort the", model });
    if (stream) this.#events([...events.slice(0, -END_EVENTS), ...last]);
    else this.refuses(500, "server_error", "The server had an error.");
  }

  /** @param {number} status @param {string} code @param {string} message @param {Record<string, string>} headers */
  refuses(status, code, message, headers = {}) {
    const anthropic = this.asked.api === "anthropic-messages";
    const type = anthropic && status === 429 ? "rate_limit_error" : code;
    const error = { message, type, ...(anthropic ? {} : { param: null, code }) };
    this.#json(status, anthropic ? { type: "error", error } : { error }, headers);
  }

  /** @param {Asked} asked @param {number} window tokens */
  overflows({ api, units }, window) {
    const tokens = Math.ceil(units / 4);
    if (api === "anthropic-messages") {
      this.refuses(400, "invalid_request_error", `prompt is too long: ${tokens} tokens > ${window} maximum`);
      return;
    }
    const limit = `This model's maximum context length is ${window} tokens.`;
    const found = `However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`;
    this.refuses(400, "context_length_exceeded", `${limit} ${found}`);
  }

  /** @param {number} status @param {object} body @param {Record<string, string>} headers */
  #json(status, body, headers = {}) {
    this.response.writeHead(status, { "content-type": "application/json", ...headers });
    this.response.end(JSON.stringify(body));
  }

  /** @param {import("./wire.mjs").SseEvent[]} events */
  #events(events) {
    this.response.writeHead(200, { "content-type": "text/event-stream" });
    for (const { event, data } of events) {
      const name = event === undefined ? "" : `event: ${event}\n`;
      this.response.write(`${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
    }
    this.response.end();
  }
}
