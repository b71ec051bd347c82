// The four wire formats from the provider's side: paths, events, errors, and what stands in a request.

/** @typedef {"openai-completions" | "openai-responses" | "anthropic-messages" | "google-generative-ai"} Api */
/** @typedef {{ event?: string, data: any }} Event */
/** @type {readonly Api[]} */
export const APIS = ["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai"];

export const ID = "scripted-1";

/** What each format appends to a host. @type {Record<Api, string>} */
export const BASE_PATH = {
  "openai-completions": "/v1",
  "openai-responses": "/v1",
  "anthropic-messages": "",
  "google-generative-ai": "/v1beta",
};

/** Path and query that a request must have. @param {Api} api @param {boolean} stream @param {string} id */
export function pathOf(api, stream, id = ID) {
  if (api === "openai-completions") return "/v1/chat/completions";
  if (api === "openai-responses") return "/v1/responses";
  if (api === "anthropic-messages") return "/v1/messages";
  return `/v1beta/models/${id}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`;
}

/**
 * Events as bytes of a stream.
 *
 * @param {Event[]} events
 * @param {{ eol?: string, names?: boolean, space?: boolean, last?: boolean }} how `last: false` leaves out the blank
 *   line behind the last event, `names: false` the `event` fields, `space: false` the space after each colon
 */
export function sse(events, { eol = "\n", names = true, space = true, last = true } = {}) {
  const colon = space ? ": " : ":";
  const texts = events.map(({ event, data }) => {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    const lines = text.split("\n").map((line) => `data${colon}${line}`);
    return [...(event && names ? [`event${colon}${event}`] : []), ...lines].join(eol);
  });
  return texts.join(eol + eol) + (last ? eol + eol : "");
}

/**
 * An error in the words of each format.
 *
 * @param {Api} api
 * @param {{ status?: number, code?: string, type?: string, message?: string }} failure
 */
export function errorOf(api, { status = 400, code, type, message = "It failed." }) {
  if (api === "anthropic-messages")
    return { type: "error", error: { type: type ?? code ?? "api_error", message } };
  if (api === "google-generative-ai") {
    return { error: { code: status, message, status: code ?? type ?? "INTERNAL" } };
  }
  return { error: { message, type: type ?? "error", param: null, code: code ?? null } };
}

/** An error inside a stream. @param {Api} api @param {Parameters<typeof errorOf>[1]} failure @returns {Event} */
export function errorEvent(api, failure) {
  const data = /** @type {any} */ (errorOf(api, failure));
  if (api === "anthropic-messages") return { event: "error", data };
  if (api !== "openai-responses") return { data };
  const { code, type, message } = data.error;
  return { event: "error", data: { type: "error", code: code ?? type, message, param: null } };
}

/** @param {any} content a string, or a list of parts with text */
const textOf = (content) =>
  typeof content === "string"
    ? content
    : (content ?? []).map((/** @type {any} */ part) => part.text).join("");

/** System text, prompt and allowance of a request. @param {Api} api @param {any} body */
export function readRequest(api, body) {
  if (api === "anthropic-messages") {
    const prompt = textOf(body.messages?.[0]?.content);
    return { system: textOf(body.system), prompt, maxTokens: body.max_tokens };
  }
  if (api === "google-generative-ai") {
    const prompt = textOf(body.contents?.[0]?.parts);
    const maxTokens = body.generationConfig?.maxOutputTokens;
    return { system: textOf(body.systemInstruction?.parts), prompt, maxTokens };
  }
  const messages = body.messages ?? body.input ?? [];
  const user = messages.find((/** @type {any} */ { role }) => role === "user");
  const system = messages.find((/** @type {any} */ { role }) => role === "system" || role === "developer");
  const maxTokens = body.max_completion_tokens ?? body.max_tokens ?? body.max_output_tokens;
  return { system: textOf(system?.content), prompt: textOf(user?.content), maxTokens };
}
