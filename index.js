"use strict";

const { CompactionError, typed, typedAsync } = require("./js/errors.js");
const cache = require("./js/cache.js");
const checkpoint = require("./js/checkpoint.js");
const generate = require("./js/generate.js");
const recovery = require("./js/recovery.js");
const refine = require("./js/refine.js");
const session = require("./js/session.js");
const shaping = require("./js/shaping.js");
const sizing = require("./js/sizing.js");
const tokens = require("./js/tokens.js");
const { Transcript } = require("./js/transcript.js");
require("./js/warm-up.js");

const COMPACTION_SUMMARY_RETRY_POLICY = generate.COMPACTION_SUMMARY_RETRY_POLICY;
const buildRetainedTail = typed(shaping.buildRetainedTail);
const compactionSummaryWouldExceedBudget = typed(sizing.compactionSummaryWouldExceedBudget);
const compactWithRecovery = typedAsync(recovery.compactWithRecovery);
const compactionMark = typed(checkpoint.compactionMark);
const contextBudget = typed(sizing.contextBudget);
const countTokens = typedAsync(tokens.countTokens);
const estimateContextTokens = typed(sizing.estimateContextTokens);
const estimateSummaryPromptTokens = typed(sizing.estimateSummaryPromptTokens);
const estimateTokens = typed(sizing.estimateTokens);
const exportCache = typed(cache.exportCache);
const findCut = typed(sizing.findCut);
const generateCompaction = typedAsync(generate.generateCompaction);
const importCache = typed(cache.importCache);
const openSession = typedAsync(session.openSession);
const { SessionTranscript } = session;
const parseRefineSettings = typed(refine.parseRefineSettings);
const planChunks = typed(shaping.planChunks);
const reduceSummaryInput = typed(shaping.reduceSummaryInput);
const refineBudgets = typed(refine.refineBudgets);
const replayRetainedTail = typed(shaping.replayRetainedTail);
const serializeConversation = typed(sizing.serializeConversation);
const stripFallbackNotice = typed(checkpoint.stripFallbackNotice);
const summaryFits = typedAsync(tokens.summaryFits);

// Plain names, so that Node finds them as named ESM imports.
module.exports = {
  COMPACTION_SUMMARY_RETRY_POLICY,
  CompactionError,
  SessionTranscript,
  Transcript,
  buildRetainedTail,
  compactWithRecovery,
  compactionMark,
  compactionSummaryWouldExceedBudget,
  contextBudget,
  countTokens,
  estimateContextTokens,
  estimateSummaryPromptTokens,
  estimateTokens,
  exportCache,
  findCut,
  generateCompaction,
  importCache,
  openSession,
  parseRefineSettings,
  planChunks,
  reduceSummaryInput,
  refineBudgets,
  replayRetainedTail,
  serializeConversation,
  stripFallbackNotice,
  summaryFits,
};
