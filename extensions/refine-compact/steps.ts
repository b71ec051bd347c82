// The core's events, in words.

import type { CompactionDetails, CompactionEvent } from "../../index.js";
import type { Ledger } from "./ledger.ts";

const count = (value: number): string => value.toLocaleString("en-US");
const many = (value: number, noun: string): string => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;

/** @param model `provider/id` */
export function tellStep(ledger: Ledger, model: string, event: CompactionEvent): void {
  if (event.type === "warning") {
    ledger.line(event.type, event.message, "warning");
    return;
  }
  const text = wordsOf(model, event);
  if (text !== undefined) ledger.line(event.type, text);
}

function wordsOf(model: string, event: Exclude<CompactionEvent, { type: "warning" }>): string | undefined {
  switch (event.type) {
    case "plan":
      return `${model}: ${many(event.requests, "chunk")} planned`;
    case "chunk": {
      const share = Math.round((100 * event.index) / event.of);
      const how = event.cached ? ", known from before" : "";
      return `chunk ${event.index}/${event.of} (${share} %): summary of ${many(event.summaryTokens, "token")}${how}`;
    }
    case "split": {
      const why = event.cause === "prompt" ? "its prompt would be too large" : "its answer was cut off";
      return `chunk ${event.index}/${event.of} halved, level ${event.depth}: ${why}`;
    }
    case "compress":
      return `summary compressed from ${count(event.tokensBefore)} to ${many(event.tokensAfter, "token")}`;
    case "retry":
      return `chunk ${event.index}: try ${event.attempt} failed (${event.code}), the next in ${event.delayMs / 1000} s`;
    case "replan":
      return `${model} takes less than it states: ${many(event.requests, "chunk")} planned anew`;
    default:
      return undefined;
  }
}

/** The last line of a run that wrote a checkpoint. */
export function totalOf(details: CompactionDetails, elapsedMs: number): string {
  const { chunks = 0, retrySplits = 0, shrinkCount = 0, cacheHits = 0, tokensBefore, tokensAfter } = details;
  const known = cacheHits > 0 ? `, ${count(cacheHits)} known from before` : "";
  const parts = [many(chunks, "chunk") + known, many(retrySplits, "split"), many(shrinkCount, "compression")];
  const sizes = `${count(tokensBefore)} to ${many(tokensAfter, "token")}`;
  return `done: ${parts.join(", ")}, ${(elapsedMs / 1000).toFixed(1)} s, ${sizes}`;
}
