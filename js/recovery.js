"use strict";

// A compaction that ends in one of three ways: with a summary that fits, with a fallback, or with a failure.

const { FALLBACK, RECENT_WINDOW } = require("./checkpoint.js");
const { CompactionError, fromNative } = require("./errors.js");
const { compactionOf, recordOf } = require("./generate.js");
const { MessageList } = require("./list.js");
const { tell } = require("./listener.js");
const { checkedRecovery, textTokens } = require("./recovery-request.js");
const { run } = require("./run.js");
const { retainedTail } = require("./shaping.js");
const { measuredTokens } = require("./sizing.js");

/** @typedef {import("./recovery-request.js").Recovery} Recovery */
/** @typedef {import("./run.js").Ended} Ended */

/** @param {any} request */
async function compactWithRecovery(request) {
  const recovery = checkedRecovery(request);
  const { signal, host } = recovery.checked;
  if (signal?.aborted) throw signal.reason;
  for (const message of recovery.warnings) tell(host, { type: "warning", message });
  const outcome = outcomeOf(recovery, await ending(recovery));
  // Who heard of the end may have given it up.
  if (signal?.aborted) throw signal.reason;
  return outcome;
}

/** @param {Recovery} recovery @param {Ended} ended */
function outcomeOf(recovery, ended) {
  if (ended.checkpoint) return summaryOutcome(recovery, ended);
  const fallback = ended.fallback && fallbackOutcome(recovery, ended);
  return fallback ?? failedOutcome(recovery, ended);
}

/** How the run ends. A malformed request and an abort are thrown on. @param {Recovery} recovery */
async function ending({ request, checked }) {
  try {
    return await run(request, checked);
  } catch (thrown) {
    if (checked.signal?.aborted) throw thrown;
    const error = fromNative(thrown);
    if (error.code === "invalid_argument") throw error;
    return { error, tally: { requests: 0, stages: [], warnings: [] } };
  }
}

/** @param {Recovery} recovery @param {Ended} ended */
function summaryOutcome(recovery, ended) {
  const { checked, options, kept, keptTokens, generation } = recovery;
  const compaction = compactionOf(checked, ended);
  const checkpoint = {
    ...compaction,
    retainedTail: kept,
    details: { ...compaction.details, generation },
  };
  return {
    kind: "summary",
    checkpoint,
    report: reportOf(recovery, ended, textTokens(compaction.summary, options) + keptTokens, []),
  };
}

/** A fallback whose tail fits, with the richest text that leaves it room; else why not even that is possible. @param {Recovery} recovery @param {Ended} ended */
function fallbackOutcome(recovery, ended) {
  const source = recovery.source();
  let fitting;
  for (const text of ended.fallback.texts) {
    const beside = tailBeside(source, recovery.options, text);
    if (beside.tail.length === 0) return undefined;
    if (beside.tailTokens <= beside.tailRoom) {
      fitting = beside;
      break;
    }
  }
  if (!fitting) return oversizedOutcome(recovery, ended);
  tell(recovery.checked.host, { type: "warning", message: KEPT });
  const report = reportOf(recovery, ended, fitting.tokens + fitting.tailTokens, ["fallback"]);
  report.warnings.push(KEPT);
  return { kind: "fallback", checkpoint: fallbackOf(recovery, ended, fitting), error: ended.error, report };
}

const KEPT = "there is no summary that fits; recent context is kept in its place";

/** A fallback's text with the tail that goes with it. @param {MessageList} source @param {any} options @param {any} text */
function tailBeside(source, options, text) {
  const tail = retainedTail(source, text.tailBudget, options);
  return { ...text, tail, tailTokens: measuredTokens(new MessageList([["messages", tail]]), options) };
}

/** @param {Recovery} recovery @param {Ended} ended @param {any} fitting */
function fallbackOf(recovery, { fallback, tally }, { summary, tokens, tail }) {
  const { checked, options, generation } = recovery;
  // Where nothing is new, what the checkpoint stood for is all that there was.
  const before = () => measuredTokens(checked.range, options) || recovery.tokensBefore;
  const { reason, readFiles, modifiedFiles, tokensBefore } = fallback;
  const details = {
    fallback: FALLBACK,
    retainedTailShape: RECENT_WINDOW,
    failureReason: reason,
    generation,
    readFiles,
    modifiedFiles,
    summarizer: checked.host.kind,
    tokensBefore,
    tokensAfter: tokens,
  };
  const { usage } = tally;
  return {
    ...recordOf(checked.host, before),
    summary,
    ...(usage ? { usage } : {}),
    retainedTail: tail,
    details,
  };
}

/** @param {Recovery} recovery @param {Ended} ended */
function failedOutcome(recovery, ended) {
  const report = reportOf(recovery, ended, recovery.tokensBefore, []);
  return { kind: "failed", error: ended.error, report };
}

/** Not even a fallback fits; why there is no summary is the cause. @param {Recovery} recovery @param {Ended} ended */
function oversizedOutcome(recovery, ended) {
  const message =
    "not even a fallback stays below the hard limit beside fixedTokens and pendingMessages; send less";
  const error = new CompactionError("checkpoint_oversized", message, { cause: ended.error });
  return { kind: "failed", error, report: reportOf(recovery, ended, recovery.tokensBefore, ["fallback"]) };
}

/** @param {Recovery} recovery @param {Ended} ended @param {number} tokensAfter @param {string[]} stages */
function reportOf({ tokensBefore, warnings }, { tally }, tokensAfter, stages) {
  return {
    tokensBefore,
    tokensAfter,
    shrank: tokensAfter < tokensBefore,
    requests: tally.requests,
    ...(tally.usage ? { usage: tally.usage } : {}),
    stages: [...tally.stages, ...stages],
    warnings: [...warnings, ...tally.warnings],
  };
}

module.exports = { compactWithRecovery };
