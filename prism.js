"use strict";

// The names of Prism's documented API on this core.

const { CompactionError, typed } = require("./js/errors.js");
const context = require("./js/prism/context.js");
const entry = require("./js/prism/entry.js");
const error = require("./js/prism/error.js");
const middleware = require("./js/prism/middleware.js");
const redact = require("./js/prism/redact.js");
const retry = require("./js/prism/retry.js");
const strategy = require("./js/prism/strategy.js");
const trigger = require("./js/prism/trigger.js");

const { applyCompactionMiddleware, applyRetryMiddleware } = middleware;
const assertCompactionTrigger = typed(trigger.assertCompactionTrigger);
const createAttentionTruncationTrigger = typed(trigger.createAttentionTruncationTrigger);
const createDefaultCompactionStrategy = typed(strategy.createDefaultCompactionStrategy);
const createDefaultRetryPolicy = typed(retry.createDefaultRetryPolicy);
const errorToErrorInfo = typed(error.errorToErrorInfo);
const httpStatusError = typed(error.httpStatusError);
const { isCompactionEntryData } = entry;
const { isTransientErrorInfo } = error;
const rebuildSessionContext = typed(context.rebuildSessionContext);
const redactSecrets = typed(redact.redactSecrets);
const resolveInputCap = typed(trigger.resolveInputCap);
const { resolveShouldCompact } = trigger;
const { waitForRetry } = retry;

// Plain names, so that Node finds them as named ESM imports.
module.exports = {
  CompactionError,
  applyCompactionMiddleware,
  applyRetryMiddleware,
  assertCompactionTrigger,
  createAttentionTruncationTrigger,
  createDefaultCompactionStrategy,
  createDefaultRetryPolicy,
  errorToErrorInfo,
  httpStatusError,
  isCompactionEntryData,
  isTransientErrorInfo,
  rebuildSessionContext,
  redactSecrets,
  resolveInputCap,
  resolveShouldCompact,
  waitForRetry,
};
