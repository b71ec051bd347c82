// pi-coding-agent 1.6.0 and this package, both ways, without a cast.

import {
  buildRetainedTail,
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
import type { AgentMessage } from "../oracle/node_modules/@earendil-works/pi-agent-core/dist/index.js";
import type { CompactionPreparation } from "../oracle/node_modules/pi-1.6/dist/core/compaction/compaction.js";
import type {
  CompactionEntry,
  CompactionResult,
  ContextUsageEstimate,
  ExtensionAPI,
  SessionBeforeCompactEvent,
} from "./pi-1.6-names.mjs";

declare const event: SessionBeforeCompactEvent;
declare const entry: CompactionEntry;

type Preparation = SessionBeforeCompactEvent["preparation"];

const { preparation } = event;
const messages = preparation.messagesToSummarize;

export const samePreparation: CompactionPreparation = preparation;
export const text: string = serializeConversation(messages, { dialect: "pi-1.6" });
export const tokens: number[] = messages.map((message) => estimateTokens(message, { dialect: "pi-1.6" }));
export const size: number = estimateSummaryPromptTokens(preparation, { dialect: "pi-1.6", charsPerToken: 3 });
export const context: ContextUsageEstimate = estimateContextTokens(messages);
export const cut = findCut(messages, preparation.settings.keepRecentTokens);
export const tail: AgentMessage[] = buildRetainedTail(messages, 8_000, { retentionMode: "completed_turn" });
export const stored: AgentMessage[] = replayRetainedTail<AgentMessage>(entry);
export const chunks: AgentMessage[][] | undefined = planChunks(preparation, {
  promptLimit: 90_000,
  boundary: "turn",
});
export const reduced: Preparation | undefined = reduceSummaryInput(preparation);

/** The extension that a user would write. */
export default function extension(pi: ExtensionAPI): void {
  pi.on("session_before_compact", async ({ preparation, signal, customInstructions }, { model }) => {
    const budget = contextBudget(model ?? {});
    if (!compactionSummaryWouldExceedBudget(preparation, budget, model)) return undefined;
    const summarizer = { kind: "extractive" } as const;
    const compaction = await generateCompaction({
      preparation,
      budget,
      summarizer,
      signal,
      customInstructions,
    });
    const result: CompactionResult = compaction;
    const id: string = compaction.firstKeptEntryId;
    return { compaction: { ...result, firstKeptEntryId: id } };
  });
}
