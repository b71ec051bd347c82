// What a provider answers in each of the three wire formats, small but whole.

/** @typedef {"openai-completions" | "openai-responses" | "anthropic-messages"} Api */
/** @typedef {{ event?: string, data: object | string }} SseEvent */
/** @typedef {{ text: string, length?: boolean, model: string }} Answer */

export const USAGE = Object.freeze({ input: 11, output: 7 });

const COMPLETIONS_USAGE = { prompt_tokens: USAGE.input, completion_tokens: USAGE.output, total_tokens: 18 };
const TOKENS = { input_tokens: USAGE.input, output_tokens: USAGE.output };
const RESPONSES_USAGE = {
  ...TOKENS,
  total_tokens: 18,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
};

/** @param {Api} api @param {Answer} answer @returns {object} */
export function plain(api, { text, length = false, model }) {
  if (api === "openai-completions") {
    const message = { role: "assistant", content: text };
    const choice = { index: 0, message, finish_reason: length ? "length" : "stop" };
    return completion("chat.completion", model, { choices: [choice], usage: COMPLETIONS_USAGE });
  }
  if (api === "openai-responses") return response(model, text, length);
  return message(model, {
    content: [{ type: "text", text }],
    stop_reason: length ? "max_tokens" : "end_turn",
  });
}

/** Events at the end of a stream, in each format, that say how it ended. */
export const END_EVENTS = 3;

/** The events of a whole stream. @param {Api} api @param {Answer} answer @returns {SseEvent[]} */
export function streamed(api, { text, length = false, model }) {
  if (api === "openai-completions") return completionEvents(model, text, length);
  if (api === "openai-responses") return responseEvents(model, text, length);
  return messageEvents(model, text, length);
}

/** @param {Api} api @param {string} type @param {string} text @returns {SseEvent} */
export function errorEvent(api, type, text) {
  const error = { type, code: type, message: text };
  if (api === "openai-completions") return { data: { error } };
  if (api === "openai-responses")
    return { event: "error", data: { ...error, type: "error", param: null, sequence_number: 9 } };
  return { event: "error", data: { type: "error", error: { type, message: text } } };
}

/** @param {string} object @param {string} model @param {object} more */
function completion(object, model, more) {
  return { id: "chatcmpl-1", object, created: 1_700_000_000, model, ...more };
}

/** @param {string} model @param {string} text @param {boolean} length @returns {SseEvent[]} */
function completionEvents(model, text, length) {
  const chunk = (/** @type {object} */ delta, finish_reason = /** @type {string | null} */ (null)) => ({
    data: completion("chat.completion.chunk", model, { choices: [{ index: 0, delta, finish_reason }] }),
  });
  const usage = { choices: [], usage: COMPLETIONS_USAGE };
  return [
    chunk({ role: "assistant", content: "" }),
    ...halves(text).map((content) => chunk({ content })),
    chunk({}, length ? "length" : "stop"),
    { data: completion("chat.completion.chunk", model, usage) },
    { data: "[DONE]" },
  ];
}

/** @param {string} model @param {string} text @param {boolean} length @param {object} more */
function response(model, text, length, more = {}) {
  const status = length ? "incomplete" : "completed";
  const content = [{ type: "output_text", text, annotations: [] }];
  return {
    id: "resp_1",
    object: "response",
    created_at: 1_700_000_000,
    model,
    status,
    incomplete_details: length ? { reason: "max_output_tokens" } : null,
    error: null,
    output: [{ id: "msg_1", type: "message", role: "assistant", status, content }],
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    usage: RESPONSES_USAGE,
    ...more,
  };
}

/** @param {string} model @param {string} text @param {boolean} length @returns {SseEvent[]} */
function responseEvents(model, text, length) {
  const started = response(model, "", false, { status: "in_progress", output: [], usage: null });
  const item = { id: "msg_1", type: "message", role: "assistant", status: "in_progress", content: [] };
  const at = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const whole = /** @type {any} */ (response(model, text, length));
  const events = [
    { type: "response.created", response: started },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.content_part.added", ...at, part: { type: "output_text", text: "", annotations: [] } },
    ...halves(text).map((delta) => ({ type: "response.output_text.delta", ...at, delta })),
    { type: "response.output_text.done", ...at, text },
    { type: "response.output_item.done", output_index: 0, item: whole.output[0] },
    { type: length ? "response.incomplete" : "response.completed", response: whole },
  ];
  return events.map((data, sequence_number) => ({ event: data.type, data: { ...data, sequence_number } }));
}

/** @param {string} model @param {object} more */
function message(model, more) {
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model,
    stop_sequence: null,
    usage: TOKENS,
    ...more,
  };
}

/** @param {string} model @param {string} text @param {boolean} length @returns {SseEvent[]} */
function messageEvents(model, text, length) {
  const usage = { input_tokens: USAGE.input, output_tokens: 1 };
  const delta = { stop_reason: length ? "max_tokens" : "end_turn", stop_sequence: null };
  const events = [
    { type: "message_start", message: message(model, { content: [], stop_reason: null, usage }) },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...halves(text).map((part) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: part },
    })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta, usage: TOKENS },
    { type: "message_stop" },
  ];
  return events.map((data) => ({ event: data.type, data }));
}

/** @param {string} text */
function halves(text) {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}
