// A provider on the loopback that answers by script and remembers what it was sent.

import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createBareServer } from "node:net";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import { BASE_PATH, ID, readRequest, sse } from "./wire.mjs";
import { eventsOf, plainOf } from "./wire-answers.mjs";

/** @typedef {import("./wire.mjs").Api} Api */
/**
 * What comes back, when, and how it ends. A string is an answer with that text; a function is asked with the request.
 *
 * @typedef {import("./wire-answers.mjs").Answer & {
 *   as?: "stream" | "plain",
 *   sse?: Parameters<typeof sse>[1],
 *   status?: number,
 *   headers?: Record<string, string | string[]>,
 *   body?: string | Buffer | object,
 *   raw?: string | Buffer,
 *   beforeMs?: number,
 *   firstByteMs?: number,
 *   split?: number | number[],
 *   pauseMs?: number,
 *   at?: number,
 *   end?: End,
 * }} Reply
 */
/**
 * `normal` ends the message; `reset` sends RST; `half-close` and `destroy` close the socket without the message's end;
 * `silent` holds it open for ever; `never` does not even send headers.
 *
 * @typedef {"normal" | "reset" | "half-close" | "destroy" | "silent" | "never"} End
 */
/** @typedef {string | Reply | ((request: Received) => string | Reply | Promise<string | Reply>)} Step */
/**
 * @typedef {{
 *   index: number, method: string, url: string, headers: Record<string, any>, rawHeaders: string[],
 *   body: Buffer, json: any, stream: boolean, system: string, prompt: string, maxTokens: number,
 *   socket: import("node:net").Socket, isClosed: boolean, closed: Promise<void>,
 * }} Received `closed` settles when the request's socket has closed, `isClosed` tells so
 */

export const KEY = "sk-test-0123456789-key";

/** Nothing that is alive takes so long. */
export const HANG_MS = 20_000;

/**
 * @param {{ after(done: () => any): void } | undefined} t whose end closes it; else call `close`
 * @param {{ api: Api, steps?: Step[], model?: object | ((base: any) => object), summarizer?: object, tls?: object, host?: string }} options the
 *   last step stands for all further requests
 */
export async function serve(t, { api, steps = ["SUMMARY"], model = {}, summarizer = {}, tls, host }) {
  /** @type {Received[]} */
  const requests = [];
  /** @type {Set<import("node:net").Socket>} */
  const sockets = new Set();
  /** @type {import("node:net").Socket[]} All there ever were. */
  const connections = [];
  /** @type {Error[]} Of the provider itself. */
  const faults = [];
  const listen = (/** @type {any} */ request, /** @type {any} */ response) => {
    receive(api, request, requests)
      .then((received) => play(api, steps[Math.min(received.index, steps.length - 1)], received, response))
      .catch((error) => faults.push(error) && response.destroy());
  };
  const server = tls ? createTlsServer(tls, listen) : createServer(listen);
  // A paused client must not be cut off by Node's own limits.
  Object.assign(server, { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 });
  server.on("connection", (socket) => {
    connections.push(socket);
    sockets.add(
      socket
        .setNoDelay(true)
        .setMaxListeners(0)
        .on("error", () => {}),
    );
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const origin = `${tls ? "https" : "http"}://${host ?? "127.0.0.1"}:${port}`;
  const close = () => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  };
  t?.after(close);
  const base = modelOf(api, origin);
  const fullModel = typeof model === "function" ? model(base) : { ...base, ...model };
  const by = { kind: /** @type {const} */ ("http"), model: fullModel, apiKey: KEY, ...summarizer };
  const seen = { requests, calls: requests, sockets, connections, faults };
  return { api, port, origin, model: fullModel, summarizer: by, close, ...seen };
}

/** A model as pi-ai has it. @param {Api} api @param {string} origin */
export function modelOf(api, origin) {
  return {
    id: ID,
    name: "Scripted",
    provider: "fake",
    api,
    baseUrl: origin + BASE_PATH[api],
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 200_000,
    maxTokens: 32_000,
  };
}

/** @param {Api} api @param {import("node:http").IncomingMessage} request @param {Received[]} requests */
async function receive(api, request, requests) {
  const { method = "", url = "", headers, rawHeaders, socket } = request;
  const received = /** @type {Received} */ (
    /** @type {unknown} */ ({
      index: requests.length,
      method,
      url,
      headers,
      rawHeaders,
      socket,
      isClosed: false,
    })
  );
  received.closed = new Promise((resolve) => {
    socket.once("close", () => {
      received.isClosed = true;
      resolve();
    });
  });
  requests.push(received);
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  received.body = Buffer.concat(chunks);
  received.json = parsed(received.body);
  received.stream = received.json?.stream === true || url.includes(":streamGenerateContent");
  return Object.assign(received, readRequest(api, received.json ?? {}));
}

/** @param {Buffer} body */
function parsed(body) {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** @param {Api} api @param {Step} step @param {Received} request @param {import("node:http").ServerResponse} response */
async function play(api, step, request, response) {
  const given = typeof step === "function" ? await step(request) : step;
  const reply = typeof given === "string" ? { text: given } : given;
  response.on("error", () => {});
  if (reply.beforeMs) await wait(reply.beforeMs);
  if (reply.end === "never") return;
  if (reply.raw !== undefined) return deliver(reply, Buffer.from(reply.raw), request.socket, request.socket);
  const { headers, body } = bytesOf(api, reply, request);
  const cut = reply.at !== undefined || (reply.end ?? "normal") !== "normal";
  const length =
    "text/event-stream" === headers["content-type"] || cut ? {} : { "content-length": body.length };
  response.writeHead(reply.status ?? 200, { ...length, ...headers });
  response.flushHeaders();
  if (reply.firstByteMs) await wait(reply.firstByteMs);
  await deliver(reply, body, response, request.socket);
}

/** @param {Api} api @param {Reply} reply @param {Received} request @returns {{ headers: Record<string, any>, body: Buffer }} */
function bytesOf(api, reply, request) {
  const { body, as = request.stream ? "stream" : "plain" } = reply;
  const json = { "content-type": "application/json" };
  const events = { "content-type": "text/event-stream" };
  if (body !== undefined) {
    const bytes = typeof body === "string" || Buffer.isBuffer(body);
    const text = bytes ? body : JSON.stringify(body);
    const type = as === "stream" && (reply.status ?? 200) < 400 && bytes ? events : json;
    return { headers: { ...type, ...reply.headers }, body: Buffer.from(text) };
  }
  if (as === "plain") {
    return { headers: { ...json, ...reply.headers }, body: Buffer.from(JSON.stringify(plainOf(api, reply))) };
  }
  return {
    headers: { ...events, ...reply.headers },
    body: Buffer.from(sse(eventsOf(api, reply), reply.sse)),
  };
}

/** Sends the bytes in the pieces that are asked for, then ends as asked. */
async function deliver(
  /** @type {Reply} */ { split, pauseMs, at, end = "normal" },
  /** @type {Buffer} */ body,
  /** @type {import("node:stream").Writable} */ to,
  /** @type {import("node:net").Socket} */ socket,
) {
  for (const piece of piecesOf(at === undefined ? body : body.subarray(0, at), split)) {
    if (socket.destroyed) return;
    to.write(piece);
    await (pauseMs ? wait(pauseMs) : turn());
  }
  if (end === "normal") return void to.end();
  if (end === "silent") return;
  // What was written must have left before the socket breaks.
  await new Promise((resolve) => socket.write("", resolve));
  if (end === "half-close") socket.end();
  else if (end === "reset") socket.resetAndDestroy();
  else socket.destroy();
}

/** @param {Buffer} body @param {number | number[]} [split] bytes of each piece, or where the cuts are */
function piecesOf(body, split) {
  if (body.length === 0) return [];
  if (split === undefined) return [body];
  const cuts = typeof split === "number" ? steps(body.length, split) : split;
  const ends = [...cuts.filter((cut) => cut > 0 && cut < body.length), body.length];
  return ends.map((end, index) => body.subarray(ends[index - 1] ?? 0, end));
}

/** @param {number} length @param {number} size */
const steps = (length, size) =>
  Array.from({ length: Math.floor(length / size) }, (_, index) => (index + 1) * size);

/** A server of bare sockets. @param {any} t @param {(socket: import("node:net").Socket) => void} meet */
export async function bare(t, meet) {
  /** @type {import("node:net").Socket[]} */
  const sockets = [];
  const server = createBareServer((socket) => {
    sockets.push(socket.on("error", () => {}));
    meet(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { sockets, port };
}

/** Turns until something holds; fails after a generous limit. @param {() => unknown} holds @param {string} what */
export async function until(holds, what = "it") {
  const limit = Date.now() + HANG_MS;
  while (!holds()) {
    if (Date.now() > limit) throw new Error(`${what} never came`);
    await wait(2);
  }
}

/** The promise, or a failure where it hangs. @template T @param {Promise<T>} promise @param {string} what @returns {Promise<T>} */
export async function soon(promise, what = "it") {
  const timer = new AbortController();
  const late = wait(HANG_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`${what} never came`);
  });
  late.catch(() => {});
  return Promise.race([promise, late]).finally(() => timer.abort());
}
