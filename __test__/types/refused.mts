// What the typings refuse. Each expectation fails the check as soon as the line below it is accepted.

import {
  buildRetainedTail,
  CompactionError,
  type CompactionErrorCode,
  type CompactionRequest,
  compactionSummaryWouldExceedBudget,
  contextBudget,
  countTokens,
  estimateContextTokens,
  estimateTokens,
  findCut,
  generateCompaction,
  type MessageLike,
  planChunks,
  reduceSummaryInput,
  serializeConversation,
  summaryFits,
} from "../../index.js";

interface Own extends MessageLike {
  readonly role: "user";
  readonly extra: number;
}
declare const own: readonly Own[];
const preparation = { messagesToSummarize: own };
const budget = { hardLimit: 168_000, requestHeadroom: 32_000 };
const summarizer = { kind: "extractive" } as const;

// The caller's own message type comes back.
export const tail: Own[] = buildRetainedTail(own, 100);
export const chunks: Own[][] | undefined = planChunks(preparation, { promptLimit: 1_000 });
export const reduced: typeof preparation | undefined = reduceSummaryInput(preparation);
// @ts-expect-error another message type does not
export const other: { role: "assistant" }[] = buildRetainedTail(own, 100);

// @ts-expect-error an unknown encoding
countTokens("text", "p50k_base");
// @ts-expect-error no encoding
summaryFits(preparation, budget, undefined, {});

// @ts-expect-error a request without a summarizer
generateCompaction({ preparation, budget });
// @ts-expect-error an unknown kind
generateCompaction({ preparation, budget, summarizer: { kind: "none" } });
// @ts-expect-error a request without a budget
generateCompaction({ preparation, summarizer });
// @ts-expect-error half a budget
generateCompaction({ preparation, budget: { hardLimit: 1 }, summarizer });
// @ts-expect-error a signal that is none
generateCompaction({ preparation, budget, summarizer, signal: {} });
// @ts-expect-error no array of messages
generateCompaction({ preparation: { messagesToSummarize: "text" }, budget, summarizer });
const request: CompactionRequest<typeof preparation> = { preparation, budget, summarizer };
// @ts-expect-error an unknown member in a request, as a typing error would be
generateCompaction<typeof preparation>({ ...request, singal: undefined });

// @ts-expect-error a message without a role
estimateTokens({ content: "text" });
// @ts-expect-error text in place of messages
serializeConversation("text");
// @ts-expect-error an unknown dialect
serializeConversation(own, { dialect: "pi-2" });
// @ts-expect-error a ratio as text
estimateTokens(own[0], { charsPerToken: "4" });
// @ts-expect-error no target
findCut(own);
// @ts-expect-error a budget as text
buildRetainedTail(own, "100");
// @ts-expect-error an unknown mode
buildRetainedTail(own, 100, { retentionMode: "turn" });
// @ts-expect-error no prompt limit
planChunks(preparation, {});
// @ts-expect-error an unknown boundary
planChunks(preparation, { promptLimit: 1, boundary: "line" });
// @ts-expect-error an unknown prompt
planChunks(preparation, { promptLimit: 1, prompts: { other: "x" } });
// @ts-expect-error a budget is needed
compactionSummaryWouldExceedBudget(preparation);
// @ts-expect-error a window as text
contextBudget({ contextWindow: "200000" });
// @ts-expect-error an index as text
estimateContextTokens(own, { afterIndex: "3" });

// The result names only what the preparation has.
const result = await generateCompaction({ preparation, budget, summarizer });
// @ts-expect-error no entry id went in
result.firstKeptEntryId;
const entered = await generateCompaction({
  preparation: { ...preparation, firstKeptEntryId: "e1" },
  budget,
  summarizer,
});
export const id: string = entered.firstKeptEntryId;
// @ts-expect-error an extractive checkpoint names its kind
export const kind: "http" = result.details.summarizer;

// Codes are a closed set.
export function advice(error: unknown): CompactionErrorCode | undefined {
  return error instanceof CompactionError ? error.code : undefined;
}
// @ts-expect-error no such code
export const code: CompactionErrorCode = "unknown";
// @ts-expect-error a code is read, not set
new CompactionError().code = "internal";
