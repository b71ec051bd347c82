// pi-agent-core 0.87.1 and this package, both ways, without a cast.

import {
  buildRetainedTail,
  type CompactionResult,
  compactionSummaryWouldExceedBudget,
  contextBudget,
  estimateContextTokens,
  estimateSummaryPromptTokens,
  estimateTokens,
  findCut,
  generateCompaction,
  planChunks,
  reduceSummaryInput,
  replayRetainedTail,
  serializeConversation,
} from "../../index.js";
import type { Api, Model } from "../oracle/node_modules/@earendil-works/pi-ai/dist/index.js";
import type {
  AgentMessage,
  CompactionEntry,
  CompactionPreparation,
  CompactionSettings,
  CompactResult,
  estimateContextTokens as piContextTokens,
} from "../oracle/node_modules/pi-0.87/dist/index.js";

declare const messages: AgentMessage[];
declare const frozen: readonly AgentMessage[];
declare const preparation: CompactionPreparation;
declare const settings: CompactionSettings;
declare const model: Model<Api>;
declare const entry: CompactionEntry;

// pi's values in …
const budget = contextBudget(model);
export const exceeds: boolean = compactionSummaryWouldExceedBudget(preparation, budget, model, {
  dialect: "pi-0.87",
});
export const size: number = estimateSummaryPromptTokens(preparation);
export const text: string = serializeConversation(messages) + serializeConversation(frozen);
export const tokens: number = messages
  .map((message) => estimateTokens(message))
  .reduce((sum, each) => sum + each, 0);
export const cut = findCut(frozen, settings.keepRecentTokens);

// … and results back into pi's types.
export const context: ReturnType<typeof piContextTokens> = estimateContextTokens(messages, { afterIndex: 3 });
export const tail: AgentMessage[] = buildRetainedTail(messages, budget.keepRecentTokens);
export const again: AgentMessage[] = buildRetainedTail(frozen, 100, { retentionMode: "active_turn" });
export const stored: AgentMessage[] = replayRetainedTail<AgentMessage>(entry);
export const chunks: AgentMessage[][] | undefined = planChunks(preparation, {
  promptLimit: budget.summaryInputLimit,
});
export const reduced: CompactionPreparation | undefined = reduceSummaryInput(preparation);
export const cutPreparation: CompactionPreparation = { ...preparation, retainedTail: tail };

/** What the harness's hook takes. */
export async function hook(signal: AbortSignal): Promise<{ compaction?: CompactResult }> {
  const request = { preparation, budget, summarizer: { kind: "extractive" as const }, signal };
  const compaction = await generateCompaction(request);
  const result: CompactResult = compaction;
  const kept: AgentMessage[] = compaction.retainedTail;
  return { compaction: { ...result, retainedTail: kept } };
}

/** A preparation alone is enough; the result names the kind of the preparation. */
export function named(): Promise<CompactionResult<CompactionPreparation>> {
  return generateCompaction({
    preparation,
    budget,
    summarizer: { kind: "extractive", maxSummaryChars: 2_000 },
  });
}
