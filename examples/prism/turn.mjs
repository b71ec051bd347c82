// One request to a provider, tried again only while nothing of its answer was seen.

import {
  applyRetryMiddleware,
  createDefaultRetryPolicy,
  errorToErrorInfo,
  waitForRetry,
} from "pi-compaction-native/prism";

/** Events behind which a failure is final: somebody has seen a part of the answer. */
const OUTPUT = new Set(["message_started", "message_delta", "tool_call"]);

/**
 * @typedef {object} Turn
 * @property {any} provider
 * @property {any} request assembled once for all attempts
 * @property {{ sessionId: string, runId: string }} run
 * @property {any} [retry] a host's `RetryOptions`; without them nothing is tried again
 * @property {any} [middleware]
 * @property {AbortSignal} [signal]
 * @property {(event: any) => void} emit
 */

/** The assistant's message. @param {Turn} turn @returns {Promise<any>} */
export async function providerTurn(turn) {
  for (let attempt = 1; ; attempt++) {
    turn.signal?.throwIfAborted();
    const tried = await attempted(turn);
    if (tried.message) return tried.message;
    turn.signal?.throwIfAborted();
    if (tried.hasOutput || !turn.retry || !(await waited(turn, attempt, tried.error))) throw tried.error;
  }
}

/** @param {Turn} turn @returns {Promise<{ message?: any, error?: any, hasOutput: boolean }>} */
async function attempted({ provider, request, run, signal, emit }) {
  /** @type {any[]} */
  const content = [];
  let hasOutput = false;
  try {
    for await (const event of provider.generate({ ...request, signal })) {
      if (event.type === "error") throw event.error;
      hasOutput ||= OUTPUT.has(event.type);
      if (event.type === "message_delta") say(content, event.text);
      if (event.type === "tool_call") content.push(event);
      emit({ ...event, ...run });
    }
    return { message: { role: "assistant", content }, hasOutput };
  } catch (error) {
    return { error, hasOutput };
  }
}

/** One block for words that follow each other: a secret may have come in pieces. @param {any[]} content @param {string} text */
function say(content, text) {
  const last = content[content.length - 1];
  if (last?.type === "text") last.text += text;
  else content.push({ type: "text", text });
}

/** Whether it is worth another attempt; then its delay is over. @param {Turn} turn @param {number} attempt @param {unknown} thrown */
async function waited({ run, retry, middleware, signal, emit }, attempt, thrown) {
  const policy = retry.policy ?? createDefaultRetryPolicy(retry);
  const error = errorToErrorInfo(thrown, retry.secrets);
  const context = { ...run, attempt, error, ...(retry.metadata ? { metadata: retry.metadata } : {}), signal };
  const decision = await applyRetryMiddleware(
    { context, decision: await policy.decide(context) },
    middleware,
  );
  if (!decision.retry) return false;
  emit({ type: "retry_scheduled", ...run, attempt, delayMs: decision.delayMs ?? 0, error });
  await waitForRetry(decision, signal);
  return true;
}
