"use strict";

const { checkedRequest } = require("./request.js");
const { run } = require("./run.js");
const { measuredTokens } = require("./sizing.js");

/** @typedef {import("./request.js").Checked} Checked */

/** @param {any} request */
async function generateCompaction(request) {
  const checked = checkedRequest(request);
  const ended = await run(request, checked);
  if (ended.error) throw ended.error;
  return compactionOf(checked, ended);
}

/** What pi's hook takes. @param {Checked} checked @param {import("./run.js").Ended} ended */
function compactionOf({ host, range, options }, { checkpoint, tally }) {
  const { summary, readFiles, modifiedFiles, tokensBefore, tokensAfter, written } = checkpoint;
  return {
    ...recordOf(host, () => measuredTokens(range, options)),
    summary,
    ...(tally.usage ? { usage: tally.usage } : {}),
    details: {
      readFiles,
      modifiedFiles,
      summarizer: host.kind,
      ...(written ? howWritten(host.model, written, tally) : {}),
      tokensBefore,
      tokensAfter,
    },
  };
}

/** What a compaction takes over of its preparation. @param {Checked["host"]} host @param {() => number} estimate */
function recordOf({ record }, estimate) {
  return { ...record, tokensBefore: record.tokensBefore ?? estimate() };
}

/** How a model wrote a summary. @param {string} refineCompactModel @param {any} written @param {any} tally */
function howWritten(
  refineCompactModel,
  { budgets, ...shape },
  { requests, cacheHits, splits, compressions },
) {
  const how = { ...shape, requests, cacheHits };
  if (!budgets) return { strategy: "chain", ...how };
  return {
    strategy: "refine",
    ...how,
    refineCompactModel,
    budgets,
    retrySplits: splits,
    shrinkCount: compressions,
  };
}

module.exports = { compactionOf, generateCompaction, recordOf };
