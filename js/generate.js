"use strict";

const { binding } = require("./crossing.js");
const { checkedRequest, modelName } = require("./request.js");
const { run } = require("./run.js");
const { measuredTokens } = require("./sizing.js");

/** @param {any} request */
async function generateCompaction(request) {
  const checked = checkedRequest(request);
  const ended = await run(request, checked);
  if (ended.error) throw ended.error;
  return compactionOf(request, checked.range, ended);
}

/**
 * What pi's hook takes.
 *
 * @param {any} request @param {import("./list.js").MessageList} range @param {import("./run.js").Ended} ended
 */
function compactionOf(request, range, { checkpoint, tally }) {
  const { summarizer } = request;
  const { summary, readFiles, modifiedFiles, tokensBefore, tokensAfter, written } = checkpoint;
  return {
    ...recordOf(request.preparation, () => measuredTokens(range, request)),
    summary,
    ...(tally.usage ? { usage: tally.usage } : {}),
    details: {
      readFiles,
      modifiedFiles,
      summarizer: summarizer.kind,
      ...(written ? howWritten(summarizer, written, tally) : {}),
      tokensBefore,
      tokensAfter,
    },
  };
}

/** What a compaction takes over of its preparation. @param {any} preparation @param {() => number} estimate */
function recordOf(preparation, estimate) {
  /** @type {Record<string, any>} */
  const record = { tokensBefore: preparation.tokensBefore ?? estimate() };
  for (const kept of ["firstKeptEntryId", "retainedTail"]) {
    if (kept in preparation) record[kept] = preparation[kept];
  }
  return record;
}

/** How a model wrote a summary. @param {any} summarizer @param {any} written @param {any} tally */
function howWritten(summarizer, { budgets, ...shape }, { requests, cacheHits, splits, compressions }) {
  const how = { ...shape, requests, cacheHits };
  if (!budgets) return { strategy: "chain", ...how };
  const refineCompactModel = modelName(summarizer);
  return {
    strategy: "refine",
    ...how,
    refineCompactModel,
    budgets,
    retrySplits: splits,
    shrinkCount: compressions,
  };
}

/** The policy when none is given. */
const COMPACTION_SUMMARY_RETRY_POLICY = Object.freeze(binding.summaryRetryPolicy());

module.exports = { COMPACTION_SUMMARY_RETRY_POLICY, compactionOf, generateCompaction, recordOf };
