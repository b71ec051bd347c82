"use strict";

const { abortSignal, optional, required, summaryInput } = require("./arguments.js");
const { binding, stored } = require("./crossing.js");
const { CompactionError, invalidArgument } = require("./errors.js");
const { measuredTokens } = require("./sizing.js");

async function generateCompaction(request) {
  const { preparation, budget, summarizer } = required(request, "request");
  const signal = abortSignal(request.signal, "request.signal");
  required(budget, "request.budget");
  if (required(summarizer, "request.summarizer").kind !== "extractive") {
    throw invalidArgument("request.summarizer.kind", '"extractive"');
  }
  const { lists, previousSummary } = summaryInput(preparation, "request.preparation");
  if (signal?.aborted) throw signal.reason;
  const range = Object.values(lists).flat();
  const written = await binding.generate(
    stored(range, false, "request.preparation.messages"),
    previousSummary,
    fileOperations(preparation.fileOps),
    request,
    budget,
    summarizer,
  );
  if (signal?.aborted) throw signal.reason;
  if (written.code) throw new CompactionError(written.code, written.message);
  return result(preparation, range, request, written);
}

/** @param {any} fileOps the host's own record of the files, as pi keeps it */
function fileOperations(fileOps) {
  if (fileOps === undefined || fileOps === null) return undefined;
  const { read, written, edited } = required(fileOps, "request.preparation.fileOps");
  return { read: [...(read ?? [])], modified: [...(written ?? []), ...(edited ?? [])] };
}

/** What pi's hook takes. */
function result(preparation, range, request, written) {
  const { summary, readFiles, modifiedFiles, tokensBefore, tokensAfter } = written;
  const details = { readFiles, modifiedFiles, summarizer: "extractive", tokensBefore, tokensAfter };
  const compaction = {
    summary,
    tokensBefore: preparation.tokensBefore ?? measuredTokens(range, optional(request, "request")),
    details,
  };
  for (const kept of ["firstKeptEntryId", "retainedTail"]) {
    if (kept in preparation) compaction[kept] = preparation[kept];
  }
  return compaction;
}

module.exports = { generateCompaction };
