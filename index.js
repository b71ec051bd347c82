const { CompactionError, typed } = require("./js/errors.js");
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
  planChunks: typed(shaping.planChunks),
  reduceSummaryInput: typed(shaping.reduceSummaryInput),
  replayRetainedTail: typed(shaping.replayRetainedTail),
  serializeConversation: typed(sizing.serializeConversation),
};
