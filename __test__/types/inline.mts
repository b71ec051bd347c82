// Messages written in place, as in an example, need neither a type nor a cast.

import {
  buildRetainedTail,
  compactionSummaryWouldExceedBudget,
  countTokens,
  estimateContextTokens,
  estimateSummaryPromptTokens,
  estimateTokens,
  findCut,
  generateCompaction,
  planChunks,
  reduceSummaryInput,
  serializeConversation,
  summaryFits,
} from "../../index.js";

const budget = { hardLimit: 168_000, requestHeadroom: 32_000, keepRecentTokens: 33_600 };

export const text = serializeConversation([
  { role: "user", content: "hi" },
  { role: "assistant", content: [{ type: "text", text: "hello" }] },
]);
export const tokens = estimateTokens({ role: "user", content: "hi" });
export const context = estimateContextTokens([{ role: "user", content: "hi" }]);
export const cut = findCut([{ role: "user", content: "hi" }], 20_000);
export const tail = buildRetainedTail([{ role: "user", content: "hi" }], 100);
export const size = estimateSummaryPromptTokens({ messagesToSummarize: [{ role: "user", content: "hi" }] });
export const exceeds = compactionSummaryWouldExceedBudget(
  {
    messagesToSummarize: [{ role: "user", content: "hi" }],
    turnPrefixMessages: [{ role: "assistant", content: [] }],
    isSplitTurn: true,
  },
  budget,
);
export const counted: number = await countTokens("hi", "o200k_base");
export const fits: boolean = await summaryFits(
  { messagesToSummarize: [{ role: "user", content: "hi" }] },
  budget,
  undefined,
  { encoding: "cl100k_base" },
);
export const chunks = planChunks(
  { messagesToSummarize: [{ role: "user", content: "hi" }] },
  { promptLimit: 9_000 },
);
export const reduced = reduceSummaryInput({ messagesToSummarize: [{ role: "user", content: "hi" }] });
export const { summary } = await generateCompaction({
  preparation: { messagesToSummarize: [{ role: "user", content: "hi" }] },
  budget,
  summarizer: { kind: "extractive" },
});
