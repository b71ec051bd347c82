// pi 1.6 exports some of these from its entry and some from the file only.

export type { ContextUsageEstimate } from "../oracle/node_modules/pi-1.6/dist/core/compaction/compaction.js";
export type {
  CompactionEntry,
  CompactionResult,
  ExtensionAPI,
  SessionBeforeCompactEvent,
} from "../oracle/node_modules/pi-1.6/dist/index.js";
