"use strict";

// Every other function once: an old Node lacks what newer JavaScript has.

/** @param {any} pi the package @param {any} input */
async function others(pi, { messages, budget, model, session, sessionId }) {
  const preparation = { messagesToSummarize: messages };
  const complete = async () => ({ content: [{ type: "text", text: "SUMMARY" }] });
  const summarizer = { kind: "callback", model: { ...model, provider: "host", id: "client" }, complete };
  const request = { preparation, budget, summarizer, sessionId };
  const transcript = new pi.Transcript(messages);
  const range = { messagesToSummarize: transcript.range(1) };
  const opened = await pi.openSession(session);
  const fallback = await pi.compactWithRecovery({
    ...request,
    reason: "threshold",
    summarizer: { ...summarizer, complete: () => Promise.reject(new Error("401 no such key")) },
    sessionId: undefined,
  });
  const { checkpoint } = fallback;
  return {
    budgets: [pi.contextBudget(model), pi.refineBudgets({ summaryModel: model })],
    sizes: [
      pi.estimateSummaryPromptTokens(range),
      pi.estimateContextTokens(messages),
      messages.map((/** @type {any} */ message) => pi.estimateTokens(message)),
      pi.serializeConversation(transcript),
      pi.findCut(transcript, 300),
    ],
    shapes: [pi.reduceSummaryInput(preparation) ?? "nothing", pi.replayRetainedTail(checkpoint)],
    session: [opened.length, opened.skipped, opened.entryId(0), [...opened.range(0, 3)]],
    refine: await pi.generateCompaction({ ...request, strategy: "refine", now: 0 }),
    recovery: await pi.compactWithRecovery({ ...request, reason: "threshold" }),
    fallback: [checkpoint, pi.stripFallbackNotice(checkpoint.summary)],
    mark: pi.compactionMark({ id: "c", throughMessageId: "m", ...checkpoint }),
    settings: pi.parseRefineSettings({ maxPromptTokens: -1 }),
    cache: pi.exportCache(sessionId),
    error: thrown(() => pi.buildRetainedTail(messages, -1)),
    counted: [
      await pi.countTokens("antidisestablishmentarianism 數", "o200k_base"),
      await pi.summaryFits(preparation, budget, model, { encoding: "cl100k_base" }),
    ],
  };
}

/** @param {() => unknown} call */
function thrown(call) {
  try {
    return call();
  } catch (error) {
    return JSON.parse(JSON.stringify(error));
  }
}

module.exports = { others };
