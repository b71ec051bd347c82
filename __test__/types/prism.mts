// Shapes as Prism declares them fit without a cast, both ways.

import {
  applyCompactionMiddleware,
  applyRetryMiddleware,
  assertCompactionTrigger,
  type CompactionEntryData,
  type CompactionMiddlewarePayload,
  type CompactionOptions,
  type CompactionStrategy,
  createAttentionTruncationTrigger,
  createDefaultCompactionStrategy,
  createDefaultRetryPolicy,
  type DefaultCompactionStrategyOptions,
  errorToErrorInfo,
  httpStatusError,
  isCompactionEntryData,
  isTransientErrorInfo,
  type RetryContext,
  type RetryDecision,
  type RetryMiddlewarePayload,
  type RetryOptions,
  type RetryPolicy,
  rebuildSessionContext,
  redactSecrets,
  resolveInputCap,
  resolveShouldCompact,
  waitForRetry,
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

// Options that an agent takes are options of what it makes of them.
const retry: RetryOptions = { maxAttempts: 3, jitter: 0, secrets: [undefined], metadata: { tenant: 1 } };
export const madeOf: RetryPolicy = createDefaultRetryPolicy(retry);
const compaction: CompactionOptions = { strategy: ours, thresholdEntries: 40, trigger, secrets: ["s"] };
const options: DefaultCompactionStrategyOptions = { name: "mine", maxSummaryChars: 2_000 };
export const chosen: CompactionStrategy = compaction.strategy ?? createDefaultCompactionStrategy(options);

const data: unknown = { keepEntryIds: ["a"] };
export const kept: CompactionEntryData | undefined = isCompactionEntryData(data) ? data : undefined;

export async function stored(payload: CompactionMiddlewarePayload): Promise<string | undefined> {
  const result = await applyCompactionMiddleware(payload, { run: (_name, given) => given });
  return result?.entries?.[0]?.id;
}

export async function tried(context: RetryContext, signal: AbortSignal): Promise<RetryDecision> {
  const payload: RetryMiddlewarePayload = { context, decision: await policy.decide(context) };
  const decision = await applyRetryMiddleware(payload, undefined);
  await waitForRetry(decision, signal);
  return decision;
}

export const info: string = errorToErrorInfo(new Error("x"), ["s"]).message;
export const event: { readonly type: string } = redactSecrets({ type: "done" }, ["s", undefined]);
/** Of the default strategy the entry is known to be there. */
export const made = createDefaultCompactionStrategy()
  .compact({ sessionId: "s", entries })
  .then(({ entries: [entry] }): readonly string[] | undefined => entry.data.keepEntryIds);

// @ts-expect-error a count, not a text
createDefaultCompactionStrategy({ keepRecentEntries: "8" });
// @ts-expect-error no such option
createDefaultRetryPolicy({ retries: 3 });
// @ts-expect-error entries are not optional
ours.compact({ sessionId: "s" });
// @ts-expect-error a trigger of the host's own has a callback
export const incomplete: CompactionOptions = { trigger: { type: "custom" } };
