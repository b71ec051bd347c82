"use strict";

const { CompactionError, typed, typedAsync } = require("./js/errors.js");
const generate = require("./js/generate.js");
const shaping = require("./js/shaping.js");
const sizing = require("./js/sizing.js");
const { Transcript } = require("./js/transcript.js");
require("./js/warm-up.js");

const COMPACTION_SUMMARY_RETRY_POLICY = generate.COMPACTION_SUMMARY_RETRY_POLICY;
const buildRetainedTail = typed(shaping.buildRetainedTail);
const compactionSummaryWouldExceedBudget = typed(sizing.compactionSummaryWouldExceedBudget);
const contextBudget = typed(sizing.contextBudget);
const estimateContextTokens = typed(sizing.estimateContextTokens);
const estimateSummaryPromptTokens = typed(sizing.estimateSummaryPromptTokens);
const estimateTokens = typed(sizing.estimateTokens);
const findCut = typed(sizing.findCut);
const generateCompaction = typedAsync(generate.generateCompaction);
const planChunks = typed(shaping.planChunks);
const reduceSummaryInput = typed(shaping.reduceSummaryInput);
const replayRetainedTail = typed(shaping.replayRetainedTail);
const serializeConversation = typed(sizing.serializeConversation);

// Plain names, so that Node finds them as named ESM imports.
module.exports = {
  COMPACTION_SUMMARY_RETRY_POLICY,
  CompactionError,
  Transcript,
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
};
