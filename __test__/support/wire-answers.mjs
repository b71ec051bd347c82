// Answers in the four wire formats, streamed and in one piece.

import { ID } from "./wire.mjs";

/** @typedef {import("./wire.mjs").Api} Api */
/** @typedef {import("./wire.mjs").Event} Event */
/**
 * How an answer ends: by a name that all formats share, or in the format's own word. `none` sends no end at all.
 *
 * @typedef {"stop" | "length" | "filter" | "refusal" | "tool" | "none" | (string & {})} Ending
 */
/**
 * @typedef {{
 *   text?: string,
 *   pieces?: string[],
 *   thinking?: string,
 *   ending?: Ending,
 *   usage?: object | null,
 *   startUsage?: object,
 * }} Answer
 */

const CREATED = 1_700_000_000;

/** What a provider reports when the script says nothing else. @type {Record<Api, object>} */
export const USAGE = {
  "openai-completions": { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
  "openai-responses": { input_tokens: 100, output_tokens: 20, total_tokens: 120 },
  "anthropic-messages": { output_tokens: 20 },
  "google-generative-ai": { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
};
/** What Anthropic reports when an answer begins. */
const START_USAGE = { input_tokens: 100, output_tokens: 1 };

/** @type {Record<Api, Record<string, string>>} */
const ENDINGS = {
  "openai-completions": { filter: "content_filter", refusal: "stop", tool: "tool_calls" },
  "openai-responses": { length: "max_output_tokens", filter: "content_filter" },
  "anthropic-messages": { stop: "end_turn", length: "max_tokens", filter: "refusal", tool: "tool_use" },
  "google-generative-ai": {
    stop: "STOP",
    length: "MAX_TOKENS",
    filter: "SAFETY",
    refusal: "RECITATION",
    tool: "STOP",
  },
};

/** @param {Api} api @param {Answer} answer */
const reason = (api, { ending = "stop" }) => ENDINGS[api][ending] ?? ending;

/** @param {Answer} answer */
const piecesOf = ({ text = "SUMMARY", pieces }) => pieces ?? (text === "" ? [] : halves(text));

/** A text in two, never through a surrogate pair. @param {string} text */
function halves(text) {
  const units = [...text];
  const half = Math.ceil(units.length / 2);
  return [units.slice(0, half).join(""), units.slice(half).join("")].filter((piece) => piece !== "");
}

/** @param {Api} api @param {Answer} answer */
const usageOf = (api, { usage }) => (usage === undefined ? USAGE[api] : usage);

/** The events of a streamed answer. @param {Api} api @param {Answer} answer @returns {Event[]} */
export function eventsOf(api, answer = {}) {
  return STREAMS[api](answer);
}

/** The one JSON value of an answer in one piece. @param {Api} api @param {Answer} answer @returns {any} */
export function plainOf(api, answer = {}) {
  return PLAIN[api](answer);
}

/** @type {Record<Api, (answer: Answer) => Event[]>} */
const STREAMS = {
  "openai-completions": completionEvents,
  "openai-responses": responseEvents,
  "anthropic-messages": anthropicEvents,
  "google-generative-ai": (answer) => googleParts(answer).map((data) => ({ data })),
};

/** @type {Record<Api, (answer: Answer) => any>} */
const PLAIN = {
  "openai-completions": plainCompletion,
  "openai-responses": (answer) => responseObject(answer, true),
  "anthropic-messages": plainAnthropic,
  "google-generative-ai": plainGoogle,
};

/** @param {Answer} answer @returns {Event[]} */
function completionEvents(answer) {
  const chunk = (/** @type {any} */ delta, finish_reason = null) => ({
    data: completion("chat.completion.chunk", [{ index: 0, delta, finish_reason }]),
  });
  const deltas = [
    { role: "assistant", content: "" },
    ...(answer.thinking ? [{ reasoning_content: answer.thinking }] : []),
    ...piecesOf(answer).map((content) => ({ content })),
    ...(answer.ending === "refusal" ? [{ refusal: "I cannot." }] : []),
    ...(answer.ending === "tool" ? [{ tool_calls: [{ index: 0, ...TOOL_CALL }] }] : []),
  ];
  const events = deltas.map((delta) => chunk(delta));
  if (answer.ending === "none") return events;
  events.push(chunk({}, /** @type {any} */ (reason("openai-completions", answer))));
  const usage = usageOf("openai-completions", answer);
  const report = { ...completion("chat.completion.chunk", []), usage };
  if (usage) events.push({ data: /** @type {any} */ (report) });
  return [...events, { data: "[DONE]" }];
}

const TOOL_CALL = { id: "call_1", type: "function", function: { name: "read", arguments: '{"path":"a"}' } };

/** @param {string} object @param {any[]} choices */
const completion = (object, choices) => ({ id: "chatcmpl-1", object, created: CREATED, model: ID, choices });

/** @param {Answer} answer */
function plainCompletion(answer) {
  const message = {
    role: "assistant",
    content: piecesOf(answer).join(""),
    refusal: answer.ending === "refusal" ? "I cannot." : null,
    ...(answer.thinking ? { reasoning_content: answer.thinking } : {}),
    ...(answer.ending === "tool" ? { tool_calls: [TOOL_CALL] } : {}),
  };
  const finish_reason = answer.ending === "none" ? null : reason("openai-completions", answer);
  const usage = usageOf("openai-completions", answer);
  const choices = [{ index: 0, message, finish_reason }];
  return { ...completion("chat.completion", choices), ...(usage ? { usage } : {}) };
}

/** @param {Answer} answer @param {boolean} ended */
function responseObject(answer, ended) {
  const incomplete =
    answer.ending !== undefined && !["stop", "refusal", "tool", "none"].includes(answer.ending);
  const status = !ended || answer.ending === "none" ? "in_progress" : incomplete ? "incomplete" : "completed";
  const usage = ended ? usageOf("openai-responses", answer) : null;
  return {
    id: "resp_1",
    object: "response",
    created_at: CREATED,
    model: ID,
    status,
    error: null,
    incomplete_details: ended && incomplete ? { reason: reason("openai-responses", answer) } : null,
    output: ended ? responseItems(answer) : [],
    usage,
  };
}

/** @param {Answer} answer */
function responseItems(answer) {
  const text = piecesOf(answer).join("");
  const status = "completed";
  const part = { type: "output_text", text, annotations: [] };
  const content =
    answer.ending === "refusal" ? [{ type: "refusal", refusal: "I cannot." }] : text ? [part] : [];
  const thought = { type: "summary_text", text: answer.thinking };
  return [
    ...(answer.thinking ? [{ type: "reasoning", id: "rs_1", summary: [thought] }] : []),
    ...(content.length > 0 ? [{ type: "message", id: "msg_1", role: "assistant", status, content }] : []),
    ...(answer.ending === "tool"
      ? [{ type: "function_call", id: "fc_1", call_id: "call_1", name: "read", arguments: "{}", status }]
      : []),
  ];
}

/** @param {Answer} answer @returns {Event[]} */
function responseEvents(answer) {
  const events = /** @type {any[]} */ ([
    { type: "response.created", response: responseObject(answer, false) },
    { type: "response.in_progress", response: responseObject(answer, false) },
  ]);
  for (const [output_index, item] of responseItems(answer).entries()) {
    events.push(...itemEvents(answer, /** @type {any} */ (item), output_index));
  }
  if (answer.ending !== "none") {
    const response = responseObject(answer, true);
    events.push({ type: `response.${response.status}`, response });
  }
  return events.map((data, sequence_number) => ({ event: data.type, data: { ...data, sequence_number } }));
}

/** @param {Answer} answer @param {any} item @param {number} output_index */
function itemEvents(answer, item, output_index) {
  const at = { item_id: item.id, output_index, content_index: 0 };
  const bare = item.type === "message" ? { ...item, status: "in_progress", content: [] } : item;
  const events = /** @type {any[]} */ ([{ type: "response.output_item.added", output_index, item: bare }]);
  if (item.type === "reasoning") {
    const summary = { ...at, summary_index: 0 };
    const part = { type: "summary_text", text: "" };
    events.push({ type: "response.reasoning_summary_part.added", ...summary, part });
    events.push({ type: "response.reasoning_summary_text.delta", ...summary, delta: answer.thinking });
  }
  if (item.type === "message") events.push(...messageEvents(answer, item.content[0], at));
  return [...events, { type: "response.output_item.done", output_index, item }];
}

/** @param {Answer} answer @param {any} part @param {object} at */
function messageEvents(answer, part, at) {
  const refused = part.type === "refusal";
  const empty = refused ? { type: "refusal", refusal: "" } : { ...part, text: "" };
  const deltas = refused ? [part.refusal] : piecesOf(answer);
  return [
    { type: "response.content_part.added", ...at, part: empty },
    ...deltas.map((delta) => ({ type: `response.${part.type}.delta`, ...at, delta })),
    { type: `response.${part.type}.done`, ...at, [refused ? "refusal" : "text"]: part.text ?? part.refusal },
    { type: "response.content_part.done", ...at, part },
  ];
}

const TOOL_USE = { type: "tool_use", id: "toolu_1", name: "read", input: {} };

/** @param {Answer} answer @returns {Event[]} */
function anthropicEvents(answer) {
  const message = { ...anthropicMessage([]), usage: answer.startUsage ?? START_USAGE };
  const events = /** @type {any[]} */ ([{ type: "message_start", message }, { type: "ping" }]);
  for (const [index, { block, deltas }] of anthropicBlocks(answer).entries()) {
    events.push({ type: "content_block_start", index, content_block: block });
    events.push(...deltas.map((delta) => ({ type: "content_block_delta", index, delta })));
    events.push({ type: "content_block_stop", index });
  }
  if (answer.ending !== "none") events.push(...anthropicEnd(answer));
  return events.map((data) => ({ event: data.type, data }));
}

/** @param {Answer} answer */
function anthropicEnd(answer) {
  const delta = { stop_reason: reason("anthropic-messages", answer), stop_sequence: null };
  const usage = usageOf("anthropic-messages", answer);
  return [{ type: "message_delta", delta, ...(usage ? { usage } : {}) }, { type: "message_stop" }];
}

/** @param {any[]} content */
function anthropicMessage(content) {
  const head = { id: "msg_1", type: "message", role: "assistant", model: ID };
  return { ...head, content, stop_reason: /** @type {string | null} */ (null), stop_sequence: null };
}

/** @param {Answer} answer */
function anthropicBlocks(answer) {
  const { thinking } = answer;
  const texts = piecesOf(answer);
  const blocks = [];
  if (thinking) {
    const deltas = [
      { type: "thinking_delta", thinking },
      { type: "signature_delta", signature: "c2ln" },
    ];
    blocks.push({ block: { type: "thinking", thinking: "", signature: "" }, deltas });
  }
  if (texts.length > 0) {
    blocks.push({
      block: { type: "text", text: "" },
      deltas: texts.map((text) => ({ type: "text_delta", text })),
    });
  }
  const input = { type: "input_json_delta", partial_json: '{"path":"a"}' };
  if (answer.ending === "tool") blocks.push({ block: TOOL_USE, deltas: [input] });
  return blocks;
}

/** @param {Answer} answer */
function plainAnthropic(answer) {
  const text = piecesOf(answer).join("");
  const content = [
    ...(answer.thinking ? [{ type: "thinking", thinking: answer.thinking, signature: "c2ln" }] : []),
    ...(text ? [{ type: "text", text }] : []),
    ...(answer.ending === "tool" ? [{ ...TOOL_USE, input: { path: "a" } }] : []),
  ];
  const stop_reason = answer.ending === "none" ? null : reason("anthropic-messages", answer);
  const usage = { ...(answer.startUsage ?? START_USAGE), ...usageOf("anthropic-messages", answer) };
  return { ...anthropicMessage(content), stop_reason, ...(answer.usage === null ? {} : { usage }) };
}

/** @param {Answer} answer */
function googleParts(answer) {
  const parts = [
    ...(answer.thinking ? [{ text: answer.thinking, thought: true }] : []),
    ...piecesOf(answer).map((text) => ({ text })),
    ...(answer.ending === "tool" ? [{ functionCall: { name: "read", args: { path: "a" } } }] : []),
  ];
  const chunks = parts.map((part) => googleChunk([part]));
  if (answer.ending === "none") return chunks;
  const usageMetadata = usageOf("google-generative-ai", answer);
  const finishReason = reason("google-generative-ai", answer);
  return [...chunks, { ...googleChunk([], finishReason), ...(usageMetadata ? { usageMetadata } : {}) }];
}

/** @param {any[]} parts @param {string} [finishReason] */
function googleChunk(parts, finishReason) {
  const content = { role: "model", ...(parts.length > 0 ? { parts } : {}) };
  return { candidates: [{ content, index: 0, ...(finishReason ? { finishReason } : {}) }], modelVersion: ID };
}

/** @param {Answer} answer */
function plainGoogle(answer) {
  const chunks = googleParts(answer);
  const parts = chunks.flatMap(({ candidates }) => candidates[0].content.parts ?? []);
  const last = /** @type {any} */ (chunks.at(-1) ?? googleChunk([]));
  const usageMetadata = usageOf("google-generative-ai", answer);
  const candidates = [{ ...last.candidates[0], content: { role: "model", parts } }];
  return { ...last, candidates, ...(usageMetadata ? { usageMetadata } : {}) };
}
