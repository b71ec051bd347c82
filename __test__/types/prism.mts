// Shapes as Prism declares them fit without a cast, both ways.

import {
  assertCompactionTrigger,
  type CompactionStrategy,
  createAttentionTruncationTrigger,
  createDefaultCompactionStrategy,
  createDefaultRetryPolicy,
  httpStatusError,
  isTransientErrorInfo,
  type RetryPolicy,
  rebuildSessionContext,
  resolveInputCap,
  resolveShouldCompact,
} from "../../prism.js";

interface PrismEntry {
  readonly id: string;
  readonly parentId?: string;
  readonly sessionId: string;
  readonly timestamp: string;
  readonly kind:
    | "message"
    | "event"
    | "summary"
    | "metadata"
    | "model_change"
    | "label"
    | "custom"
    | "compaction";
  readonly message?: {
    readonly role: "system" | "user" | "assistant" | "tool";
    readonly content: readonly PrismBlock[];
  };
  readonly model?: { readonly provider: string; readonly model: string; readonly displayName?: string };
  readonly label?: string;
  readonly summary?: string;
  readonly data?: unknown;
}
type PrismBlock =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "tool_result";
      readonly toolCallId: string;
      readonly name: string;
      readonly result?: unknown;
    };

interface PrismStrategy {
  readonly name: string;
  compact(context: {
    readonly sessionId: string;
    readonly entries: readonly PrismEntry[];
    readonly keepRecentEntries?: number;
    readonly trigger?: "manual" | "auto" | string;
    readonly secrets?: readonly (string | undefined)[];
    readonly metadata?: Readonly<Record<string, unknown>>;
    readonly signal?: AbortSignal;
  }): Promise<{ readonly summary: string; readonly entries?: readonly PrismEntry[] }>;
}

declare const entries: readonly PrismEntry[];
export const strategy: PrismStrategy = createDefaultCompactionStrategy({
  keepRecentEntries: 4,
  secrets: [undefined],
});
export const ours: CompactionStrategy = createDefaultCompactionStrategy();
export const policy: RetryPolicy = createDefaultRetryPolicy({ jitter: 0, random: Math.random });
export const delay = createDefaultRetryPolicy().decide({
  sessionId: "s",
  runId: "r",
  attempt: 1,
  error: httpStatusError(new Response(null, { status: 503 })),
}).delayMs;

const context = rebuildSessionContext(entries);
export const roles: ("system" | "user" | "assistant" | "tool")[] = context.messages.map(({ role }) => role);
export const same: readonly PrismEntry[] = context.entries;
export const transient: boolean = isTransientErrorInfo({ message: "timeout" });

const trigger: unknown = { type: "input_ratio", ratio: 0.9 };
assertCompactionTrigger(trigger);
export const decision: Promise<boolean> = resolveShouldCompact(
  { trigger },
  {
    sessionId: "s",
    entryCount: 1,
    estimateInputTokens: () => 1,
    resolveInputCapTokens: () => resolveInputCap({}, { limits: { contextWindow: 200_000 } }),
  },
);
export const truncated: number = createAttentionTruncationTrigger({ threshold: 2 }).observe({
  truncated: true,
});
export const compacted = ours.compact({ sessionId: "s", entries });

// @ts-expect-error a trigger of no known type
const unknown: Parameters<typeof resolveShouldCompact>[0] = { trigger: { type: "never" } };
export const refused = resolveShouldCompact(unknown, { sessionId: "s", entryCount: 1 });
