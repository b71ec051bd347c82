"use strict";

const { setImmediate } = require("node:timers");
const { CompactionError, later, typed, typedAsync } = require("./js/errors.js");
const { binding } = require("./js/crossing.js");
const { SessionTranscript, openSession: open } = require("./js/session.js");
const sizing = require("./js/sizing.js");
const { Transcript } = require("./js/transcript.js");
require("./js/warm-up.js");

// Who loads this package waits for sizes alone; the rest comes a turn later, or with its first call.
const cache = () => require("./js/cache.js");
const checkpoint = () => require("./js/checkpoint.js");
const entries = () => require("./js/session-entry.js");
const generate = () => require("./js/generate.js");
const recovery = () => require("./js/recovery.js");
const refine = () => require("./js/refine.js");
const shaping = () => require("./js/shaping.js");
const tokens = () => require("./js/tokens.js");

// No later than that: the files of a package that is updated under a running host are of another version.
setImmediate(() => {
  for (const module of [cache, checkpoint, entries, generate, recovery, refine, shaping, tokens]) {
    try {
      module();
    } catch {
      // Whoever calls its functions hears of it.
    }
  }
});

const COMPACTION_SUMMARY_RETRY_POLICY = Object.freeze(binding.summaryRetryPolicy());
const buildRetainedTail = typed(later(shaping, "buildRetainedTail"));
const compactionSummaryWouldExceedBudget = typed(sizing.compactionSummaryWouldExceedBudget);
const compactWithRecovery = typedAsync(later(recovery, "compactWithRecovery"));
const compactionMark = typed(later(checkpoint, "compactionMark"));
const contextBudget = typed(sizing.contextBudget);
const countTokens = typedAsync(later(tokens, "countTokens"));
const estimateContextTokens = typed(sizing.estimateContextTokens);
const estimateSummaryPromptTokens = typed(sizing.estimateSummaryPromptTokens);
const estimateTokens = typed(sizing.estimateTokens);
const exportCache = typed(later(cache, "exportCache"));
const findCut = typed(sizing.findCut);
const generateCompaction = typedAsync(later(generate, "generateCompaction"));
const importCache = typed(later(cache, "importCache"));
const openSession = typedAsync(open);
const parseRefineSettings = typed(later(refine, "parseRefineSettings"));
const planChunks = typed(later(shaping, "planChunks"));
const reduceSummaryInput = typed(later(shaping, "reduceSummaryInput"));
const refineBudgets = typed(later(refine, "refineBudgets"));
const replayRetainedTail = typed(later(shaping, "replayRetainedTail"));
const serializeConversation = typed(sizing.serializeConversation);
const stripFallbackNotice = typed(later(checkpoint, "stripFallbackNotice"));
const summaryFits = typedAsync(later(tokens, "summaryFits"));

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
