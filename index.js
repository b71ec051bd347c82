const { CompactionError, typed, typedAsync } = require("./js/errors.js");
const { generateCompaction } = require("./js/generate.js");
const shaping = require("./js/shaping.js");
const sizing = require("./js/sizing.js");

module.exports = {
  CompactionError,
  buildRetainedTail: typed(shaping.buildRetainedTail),
  compactionSummaryWouldExceedBudget: typed(sizing.compactionSummaryWouldExceedBudget),
  contextBudget: typed(sizing.contextBudget),
  estimateContextTokens: typed(sizing.estimateContextTokens),
  estimateSummaryPromptTokens: typed(sizing.estimateSummaryPromptTokens),
  estimateTokens: typed(sizing.estimateTokens),
  findCut: typed(sizing.findCut),
  generateCompaction: typedAsync(generateCompaction),
  planChunks: typed(shaping.planChunks),
  reduceSummaryInput: typed(shaping.reduceSummaryInput),
  replayRetainedTail: typed(shaping.replayRetainedTail),
  serializeConversation: typed(sizing.serializeConversation),
};
