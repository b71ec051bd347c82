// The names of PI-Desktop's agent runtime, called as it calls them, with pi-agent-core 0.87.1's types and no cast.

import type { AgentMessage, CompactionPreparation } from "@earendil-works/pi-agent-core";
import type { Api, Model, Usage } from "@earendil-works/pi-ai";
import * as runtime from "../../../examples/pi-desktop/compaction.js";

declare const messages: AgentMessage[];
declare const message: AgentMessage;
declare const model: Model<Api>;
declare const preparation: CompactionPreparation;
declare const record: runtime.ContextCheckpointRecord;
declare const usage: Usage | undefined;
declare const stored: unknown;

const input = {
  messagesToSummarize: preparation.messagesToSummarize,
  turnPrefixMessages: preparation.turnPrefixMessages,
  isSplitTurn: preparation.isSplitTurn,
  previousSummary: preparation.previousSummary,
};

export const limits: { hardLimit: number; requestHeadroom: number; keepRecentTokens: number } =
  runtime.contextBudgetLimitsFor({ contextWindow: model.contextWindow, maxTokens: model.maxTokens });
export const tokens: number = runtime.estimateSummaryPromptTokens(input);
export const exceeds: boolean = runtime.compactionSummaryWouldExceedBudget(preparation, limits, {
  contextWindow: model.contextWindow,
  maxTokens: model.maxTokens,
});
export const reduced: typeof input | undefined = runtime.reduceSummaryInput(input);
const { hardLimit, requestHeadroom } = limits;
export const limit: number = runtime.compactionSummaryInputLimit({ hardLimit, requestHeadroom });
export const ofModel: number = runtime.compactionSummaryInputLimit({
  hardLimit,
  requestHeadroom,
  modelMaxTokens: model.maxTokens,
});
export const chunks: AgentMessage[][] | undefined = runtime.planSummaryChunks(input, {
  summaryInputLimit: limit,
  reserveTokens: 0,
});
export const sum: Usage | undefined = runtime.addSummaryUsage(usage, usage);
export const tails: AgentMessage[][] = [
  runtime.selectRecentTail(messages, 100),
  runtime.selectRecentTail(messages, 100, { latestUserGoal: message }),
];
export const cut: AgentMessage = runtime.truncateMessageToTail(message, 100);
export const stripped: AgentMessage = runtime.stripDanglingToolCalls(message);
export const replayed: AgentMessage[] | undefined = runtime.replayRetainedTail(stored);
export const known: AgentMessage | undefined = runtime.isRetainedTailMessage(stored) ? stored : undefined;
export const users: AgentMessage[] = runtime.selectRetainedUserMessages(
  messages,
  runtime.retainedUserMessageBudget({ hardLimit }),
);
export const carried: string = runtime.stripCompactionFallbackNotice(record.summary);
export const mark: { id: string; generation: number; summarized: boolean; fallback?: "retained_tail" } =
  runtime.contextCompactionMark(record);
export const policy: { enabled: boolean; maxRetries: number; baseDelayMs: number } =
  runtime.COMPACTION_SUMMARY_RETRY_POLICY;
export const constants: number[] = [
  runtime.COMPACTION_SUMMARY_MAX_RETRIES,
  runtime.COMPACTION_SUMMARY_RETRY_BASE_MS,
  runtime.COMPACTION_REDUCED_TOOL_RESULT_CHARS,
  runtime.COMPACTION_SUMMARY_PROMPT_SAFETY_TOKENS,
  runtime.COMPACTION_SUMMARY_MAX_CHUNKS,
];
export const words: string[] = [
  runtime.COMPACTION_RETAINED_TAIL_SHAPE,
  runtime.SUMMARY_CHUNK_TRUNCATION_MARKER,
  runtime.CHECKPOINT_TRUNCATION_MARKER,
];
