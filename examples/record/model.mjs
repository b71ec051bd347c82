// The scripted model: an OpenAI chat completions server on the loopback that answers with the lines it is given.

import { once } from "node:events";
import { createServer } from "node:http";

/** Units of text in one chunk. */
const CHUNK = 48;

export class ScriptedModel {
  /** @type {import("./say.mjs").Answer[]} */
  #lines = [];
  #served = 0;
  #calls = 0;
  /** Tokens of the request before, which a provider would have cached. */
  #cached = 0;
  /** Calls by id, to be compared with their results. @type {Map<string, import("./say.mjs").Call>} */
  calls = new Map();
  #server = createServer((request, response) => void this.#answer(request, response));

  /** Starts to listen. @returns {Promise<string>} the base URL */
  async listen() {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${/** @type {any} */ (this.#server.address()).port}/v1`;
  }

  /** @param {import("./say.mjs").Answer[]} lines */
  expect(lines) {
    this.#lines.push(...lines);
  }

  /** Answers that were not asked for yet. */
  get waiting() {
    return this.#lines.length;
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
  async #answer(request, response) {
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    const line = this.#lines.shift();
    if (!line) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end('{"error":{"message":"the script is at its end"}}');
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const deltas = this.#deltas(line, JSON.parse(body));
    const id = `chatcmpl-${String(++this.#served).padStart(4, "0")}`;
    const send = (/** @type {object} */ rest) =>
      response.write(`data: ${JSON.stringify({ id, object: "chat.completion.chunk", ...rest })}\n\n`);
    for (const delta of deltas) send({ choices: [{ index: 0, delta, finish_reason: null }] });
    if (line.end === "hangs") return;
    if (line.end === "cut") {
      setTimeout(() => response.destroy(), 50);
      return;
    }
    send({
      choices: [{ index: 0, delta: {}, finish_reason: line.calls.length > 0 ? "tool_calls" : "stop" }],
    });
    send({ choices: [], usage: this.#usage(body, deltas) });
    response.end("data: [DONE]\n\n");
  }

  /** @param {import("./say.mjs").Answer} line @param {any} request */
  #deltas(line, request) {
    const text = typeof line.text === "function" ? line.text(lastOutput(request.messages)) : line.text;
    const deltas = [
      ...chunks(line.thinking ?? "").map((piece) => ({ reasoning_content: piece })),
      ...chunks(text).map((piece) => ({ content: piece })),
      ...line.calls.flatMap((call, index) => this.#callDeltas(call, index)),
    ];
    // A call that hangs is caught in the middle of its arguments.
    return line.end === "hangs" && line.calls.length > 0 ? deltas.slice(0, -1) : deltas;
  }

  /** @param {import("./say.mjs").Call} call @param {number} index */
  #callDeltas(call, index) {
    const id = `call_${String(++this.#calls).padStart(4, "0")}`;
    this.calls.set(id, call);
    const begin = { index, id, type: "function", function: { name: call.name, arguments: "" } };
    const pieces = chunks(JSON.stringify(call.arguments));
    return [begin, ...pieces.map((piece) => ({ index, function: { arguments: piece } }))].map((piece) => ({
      tool_calls: [piece],
    }));
  }

  /** @param {string} body @param {object[]} deltas */
  #usage(body, deltas) {
    const prompt_tokens = Math.ceil(body.length / 4);
    const completion_tokens = deltas.length * (CHUNK / 4);
    const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
    const cached_tokens = Math.min(this.#cached, prompt_tokens);
    this.#cached = prompt_tokens;
    return { ...usage, prompt_tokens_details: { cached_tokens } };
  }
}

/** Cuts a text; whole characters, since each piece becomes a JSON text of its own. @param {string} text */
function chunks(text) {
  const characters = [...text];
  const count = Math.ceil(characters.length / CHUNK);
  return Array.from({ length: count }, (_, i) => characters.slice(i * CHUNK, (i + 1) * CHUNK).join(""));
}

/** @param {any[]} messages */
function lastOutput(messages) {
  const content = messages.findLast((message) => message.role === "tool")?.content ?? "";
  return typeof content === "string"
    ? content
    : content.map((/** @type {any} */ block) => block.text).join("");
}
