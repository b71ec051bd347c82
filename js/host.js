"use strict";

// The host's side of a run: its own client, its ear and its word on retries. Reports facts; the rules for them are
// in src/provider.

const { binding } = require("./crossing.js");
const { fromFailure } = require("./errors.js");
const { leave, tell } = require("./listener.js");
const { isWait, retryAfterIn } = require("./retry-after.js");

/** @typedef {import("./request.js").HostSide} HostSide */

/**
 * @typedef {object} HostRun
 * @property {object} run the native handle
 * @property {HostSide} asked
 * @property {AbortSignal} [signal] fires when the run is given up; the host's own client has one
 * @property {(outcome: any) => void} settle
 * @property {unknown} [thrown] what the host's client threw last
 */

/** What the native side calls. Nothing that a host's function throws may escape. @param {HostRun} host */
function callbackOf(host) {
  return (/** @type {any} */ call) => {
    if (call.kind === "event") tell(host.asked, call.event);
    else if (call.kind === "end") host.settle(call.outcome);
    else if (call.kind === "retry") binding.answerRetry(host.run, call.id, wordOn(host, call.failure));
    else complete(host, call);
  };
}

/** @param {HostRun} host */
function wordOn(host, failure) {
  try {
    const word = host.asked.wouldRetry(fromFailure(failure, host.thrown));
    leave(word);
    return typeof word === "boolean" ? word : null;
  } catch {
    return null;
  }
}

/** @param {HostRun} host */
async function complete(host, call) {
  if (host.signal?.aborted) return;
  const content = [{ type: "text", text: call.prompt }];
  const context = {
    systemPrompt: call.system,
    messages: [{ role: "user", content, timestamp: Date.now() }],
  };
  const options = {
    signal: host.signal,
    maxTokens: call.maxTokens,
    maxRetries: 0,
    cacheRetention: "none",
  };
  host.thrown = undefined;
  let reply;
  try {
    reply = answerOf(await host.asked.complete(context, options));
  } catch (thrown) {
    host.thrown = thrown;
    reply = failureTold(thrown);
  }
  binding.answerRequest(host.run, call.id, reply);
}

const NOTHING = Object.freeze({ text: "", callsTool: false, thinks: false, words: "" });

/** The facts of an assistant message. @param {any} message */
function answerOf(message) {
  if (message === null || typeof message !== "object") return { ...NOTHING, ending: "foreign" };
  const usage = usageOf(message.usage);
  if (message.stopReason === "error") {
    return { ...NOTHING, ...usage, ending: "error", words: String(message.errorMessage ?? "") };
  }
  if (!Array.isArray(message.content)) return { ...NOTHING, ...usage, ending: "foreign" };
  const blocks = message.content.filter((block) => block !== null && typeof block === "object");
  const texts = blocks.filter((block) => block.type === "text" && typeof block.text === "string");
  return {
    ...NOTHING,
    ...usage,
    text: texts.map((block) => block.text).join("\n"),
    callsTool: blocks.some((block) => block.type === "toolCall"),
    thinks: blocks.some((block) => block.type === "thinking"),
    ending: String(message.stopReason ?? "stop"),
  };
}

/** @param {any} usage */
function usageOf(usage) {
  if (usage === null || typeof usage !== "object") return {};
  const { input, output, cacheRead, cacheWrite, totalTokens, cost, cacheWrite1h, reasoning } = usage;
  const costs = [cost?.input, cost?.output, cost?.cacheRead, cost?.cacheWrite, cost?.total];
  const numbers = [input, output, cacheRead, cacheWrite, totalTokens, ...costs];
  return {
    usage: numbers.map((number) => (isAmount(number) ? number : 0)),
    ...(isAmount(cacheWrite1h) ? { cacheWrite1h } : {}),
    ...(isAmount(reasoning) ? { reasoning } : {}),
  };
}

/** @param {any} number */
function isAmount(number) {
  return Number.isFinite(number) && number >= 0;
}

/** How many causes behind an error are looked at: `fetch failed` hides its reason there. */
const CAUSES = 5;

/** The same where reading what was thrown throws in turn. @param {unknown} thrown */
function failureTold(thrown) {
  try {
    return failureOf(thrown);
  } catch {
    return { ...NOTHING, ending: "error" };
  }
}

/** The facts of what a client threw. @param {any} thrown */
function failureOf(thrown) {
  if (thrown?.name === "AbortError") return { ...NOTHING, ending: "aborted" };
  const words = [];
  for (let at = thrown, i = 0; at !== null && at !== undefined && i < CAUSES; at = at.cause, i++) {
    words.push(typeof at === "object" ? [at.code, at.message].filter(isWord).join(" ") : String(at));
    if (typeof at !== "object") break;
  }
  const code = [thrown?.code, thrown?.error?.code, thrown?.error?.type, thrown?.type].find(isWord);
  const status = [thrown?.status, thrown?.statusCode].find(Number.isInteger);
  return {
    ...NOTHING,
    ending: "error",
    words: words.join(": "),
    ...(code === undefined ? {} : { code }),
    ...(status === undefined ? {} : { status }),
    ...waitOf(thrown),
  };
}

/** @param {unknown} value */
function isWord(value) {
  return typeof value === "string" && value !== "";
}

/** How long a client's error asks to wait. @param {any} thrown */
function waitOf(thrown) {
  const { retryAfterMs: asked = undefined, headers = undefined } = thrown ?? {};
  const wish = isWait(asked) ? asked : retryAfterIn(headers);
  return wish === undefined ? {} : { retryAfterMs: wish };
}

module.exports = { CAUSES, callbackOf };
