// A runtime over the drop-in: does one compaction with the runtime's own steps, and one in a single call.

import type { AgentMessage } from "@earendil-works/pi-agent-core";
import { compactWithRecovery, estimateTokens, type HttpSummarizer } from "pi-compaction-native";
import * as runtime from "./compaction.js";

interface Input {
  messages: AgentMessage[];
  model: { contextWindow: number; maxTokens: number };
  http: HttpSummarizer;
  hanging: HttpSummarizer;
}

process.once("message", async (input: Input) => {
  const report = await answers(input).catch((error) => ({ error: `${error.stack}\n${error.cause?.stack}` }));
  process.send?.(report, () => process.disconnect());
});

async function answers({ messages, model, http, hanging }: Input) {
  const budget = runtime.contextBudgetLimitsFor(model);
  const limits = { ...budget, modelMaxTokens: model.maxTokens };
  const input = { messagesToSummarize: messages, turnPrefixMessages: [], isSplitTurn: false };
  const users = messages.filter(({ role }) => role === "user");
  const request = { reason: "threshold" as const, preparation: input, budget };
  return {
    names: Object.keys(runtime).sort(),
    sizes: [budget, runtime.compactionSummaryInputLimit(limits), runtime.estimateSummaryPromptTokens(input)],
    exceeds: runtime.compactionSummaryWouldExceedBudget(input, budget, model),
    chunks: runtime.planSummaryChunks(input, { summaryInputLimit: 4_000, reserveTokens: 100 }),
    tail: runtime.selectRecentTail(messages, 600, { latestUserGoal: users.at(-1) }),
    users: runtime.selectRetainedUserMessages(users, 200),
    cut: messages.map((message) => estimateTokens(runtime.truncateMessageToTail(message, 50))),
    replayed: runtime.replayRetainedTail(messages),
    written: await compactWithRecovery({ ...request, summarizer: http }),
    aborted: await abortedAtFirstToken({ ...request, summarizer: hanging }),
  };
}

/** What a run rejects with that is given up as soon as its answer has begun. */
async function abortedAtFirstToken(request: Parameters<typeof compactWithRecovery>[0]) {
  const controller = new AbortController();
  const outcome = compactWithRecovery({
    ...request,
    signal: controller.signal,
    onEvent: ({ type }) => type === "first_token" && controller.abort("given up"),
  });
  return outcome.catch((reason) => reason);
}
