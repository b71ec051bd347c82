/**
 * The names of Prism's documented compaction and retry API, on this package's core (requirements E1–E129).
 *
 * Sizes of texts are UTF-16 code units, as JavaScript's `length`; times are milliseconds; tokens are integers. The types
 * are structural: Prism's own entries, models, strategies and policies fit without a cast. No input is changed, and no
 * entry is copied. Bad arguments are a {@link CompactionError} `invalid_argument` whose message begins with the path of
 * the field, e.g. `context.entries[3].parentId`; no message holds a value.
 */

export { CompactionError } from "./index.js";

/** Anything that a message holds. Read are `text`, `tool_call` and `tool_result`, of the last two only the name. */
export interface ContentBlock {
  readonly type: string;
}

/** A message of a session. */
export interface Message {
  /** The words of `user` and `assistant` go into a summary. */
  readonly role: string;
  readonly content: readonly ContentBlock[] | string;
}

/** An entry of a session. Kinds that are not known are kept and say nothing. */
export interface SessionEntry {
  /** Unique in its list. */
  readonly id: string;
  /** The entry before it on its branch; the first has none. */
  readonly parentId?: string | null | undefined;
  readonly sessionId?: string | undefined;
  readonly timestamp?: string | undefined;
  /** `message`, `summary`, `model_change`, `label`, `compaction`, or another. */
  readonly kind: string;
  /** Of a `message`. */
  readonly message?: Message | undefined;
  /** Of a `model_change`. */
  readonly model?: { readonly provider: string; readonly model: string } | undefined;
  /** Of a `label`. */
  readonly label?: string | undefined;
  /** Of a `summary` or a `compaction`. */
  readonly summary?: string | undefined;
  readonly data?: unknown;
}

/** What a compaction entry says of itself, in `data` (requirements E52–E55). */
export interface CompactionEntryData {
  /** The last older entry that the summary covers: what stands behind it is still read. Absent where nothing was older. */
  readonly throughEntryId?: string;
  /** The recent message entries that the model still reads word for word. */
  readonly keepEntryIds?: readonly string[];
  /** Which strategy wrote it. */
  readonly strategy?: string;
  /** `manual`, `auto`, or a host's own word. */
  readonly trigger?: "manual" | "auto" | (string & {});
}

/** A compaction as it is stored. */
export interface CompactionEntry {
  readonly id: string;
  /** The leaf of the branch that was compacted. Absent for a branch without entries. */
  readonly parentId?: string;
  readonly sessionId: string;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly kind: "compaction";
  readonly summary: string;
  readonly data: CompactionEntryData;
}

/** What a strategy is told: entries and nothing that could hold a credential (requirement E125). */
export interface CompactionContext {
  readonly sessionId: string;
  /**
   * The entries of the session. Their last one is the leaf, and its ancestors are what is compacted. Ahead of the first
   * that names a parent, compactions aside, each entry follows the one before.
   */
  readonly entries: readonly SessionEntry[];
  /** In the place of the strategy's own. */
  readonly keepRecentEntries?: number;
  /** Default `manual`. */
  readonly trigger?: "manual" | "auto" | (string & {});
  /** In addition to the strategy's own. */
  readonly secrets?: readonly (string | undefined)[];
  /** For the strategy; the default one puts it nowhere. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** One that has fired rejects with its reason. */
  readonly signal?: AbortSignal;
}

export interface CompactionResult {
  readonly summary: string;
  /** Exactly one from the default strategy, to be appended under the leaf. */
  readonly entries?: readonly SessionEntry[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Writes a compaction. What registers one does nothing until a host passes it on (requirement E118). */
export interface CompactionStrategy {
  readonly name: string;
  compact(context: CompactionContext): Promise<CompactionResult> | CompactionResult;
}

export interface DefaultCompactionStrategyOptions {
  /** Default `default-compaction`. */
  readonly name?: string;
  /** The newest messages that stay as they are; a count, 0 for none. Default 8. */
  readonly keepRecentEntries?: number;
  /** Most UTF-16 units of a summary; a count. Default 4,000. */
  readonly maxSummaryChars?: number;
  /** Exact strings that are masked, unit for unit, as they are and as they stand in JSON. Undefined ones are ignored. */
  readonly secrets?: readonly (string | undefined)[];
}

/** The default strategy, whose compaction is known to hold one entry. */
export interface DefaultCompactionStrategy extends CompactionStrategy {
  compact(context: CompactionContext): Promise<{ summary: string; entries: [CompactionEntry] }>;
}

/**
 * A strategy without a model: older words of `user` and `assistant`, summaries, model changes, labels, and the names of
 * tool calls and results, a line each (`role: text`), oldest first. Never a tool's result, metadata or settings.
 *
 * The lines of an earlier compaction come first, unchanged, and only what it does not cover follows. Lines that exceed
 * `maxSummaryChars` are cut to a common length; where there are too many, the first and the newest stay and `…` stands
 * for the others. Time grows in proportion to the number of entries.
 *
 * @throws CompactionError `invalid_argument`, also as the rejection of `compact`: options, entries of foreign shape, an
 * id that is there twice, a parent that is missing or descends from its child.
 */
export function createDefaultCompactionStrategy(
  options?: DefaultCompactionStrategyOptions,
): DefaultCompactionStrategy;

/** Whether a value has the shape of {@link CompactionEntryData}. Never throws. */
export function isCompactionEntryData(value: unknown): value is CompactionEntryData;

/** What a branch leaves to its model. */
export interface SessionContext<E extends SessionEntry> {
  /** The last entry of the branch; absent in a session without entries. */
  leafId: string | undefined;
  /** The branch, whole: the same objects. */
  entries: E[];
  /** The messages behind what the latest compaction covers and the ones that it keeps, in order: the same objects. */
  messages: NonNullable<E["message"]>[];
  /** The latest compaction's summary, unless it is empty, and those of summary entries behind what it covers. */
  summaries: string[];
}

/**
 * The context of a branch. The latest compaction entry counts whose `data` and `summary` have their shape; one of
 * another shape is an entry like any other. Of one whose `throughEntryId` is not on the branch before it, all before it
 * is taken for covered; ids that it keeps and the branch does not hold are passed over.
 *
 * @throws CompactionError `invalid_argument`: entries of foreign shape, an id that is there twice, a parent that is
 * missing, a leaf that is not in the list.
 */
export function rebuildSessionContext<E extends SessionEntry>(
  entries: readonly E[],
  options?: { readonly leafId?: string | undefined },
): SessionContext<E>;

/** What a host's own trigger is told: ids and numbers. */
export interface CompactionTriggerContext {
  readonly sessionId: string;
  readonly entryCount: number;
  /** Resolved when it is read. */
  readonly estimatedInputTokens: number;
  /** Resolved when it is read; throws where no cap can be resolved. */
  readonly inputCapTokens: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/** When to compact. */
export type CompactionTrigger =
  /** More entries than a count. Estimates nothing. */
  | { readonly type: "threshold_entries"; readonly entries: number }
  /** The input has at least this part of its cap; above 0, at most 1. */
  | { readonly type: "input_ratio"; readonly ratio: number }
  /** The host's own rule. Only `true` compacts. */
  | {
      readonly type: "custom";
      readonly shouldCompact: (context: CompactionTriggerContext) => boolean | Promise<boolean>;
    };

/** Compaction as agents, runs and `compact()` take it. */
export interface CompactionOptions {
  /** Default: {@link createDefaultCompactionStrategy} with the same options. */
  readonly strategy?: CompactionStrategy;
  /** Compacts by itself when the branch has more entries. Absent, with no trigger: never. Ignored beside a trigger. */
  readonly thresholdEntries?: number;
  readonly trigger?: CompactionTrigger;
  readonly keepRecentEntries?: number;
  readonly maxSummaryChars?: number;
  /** Masked in summaries, events and stored texts. */
  readonly secrets?: readonly (string | undefined)[];
  /** For the strategy, and for a `custom` trigger. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/** @throws CompactionError `invalid_argument`: an unknown `type`, or a field of wrong type or range. */
export function assertCompactionTrigger(trigger: unknown): asserts trigger is CompactionTrigger;

export interface ResolveShouldCompactOptions {
  /** In the place of the two counts. */
  readonly trigger?: CompactionTrigger | undefined;
  /** Compact above this many entries. */
  readonly thresholdEntries?: number | undefined;
  /** Compact from this many estimated tokens; counts where there is no `thresholdEntries`. */
  readonly compactAfterTokens?: number | undefined;
}

export interface ResolveShouldCompactInput {
  readonly sessionId: string;
  /** Entries of the branch, the input that is about to be sent included. */
  readonly entryCount: number;
  /**
   * The branch as it stood before that input. One that ends in a compaction is not compacted again, whatever the trigger
   * says (requirement E94).
   */
  readonly entries?: readonly SessionEntry[] | undefined;
  /** Tokens of the input, a number from 0. Called at most once, and only by rules that need it. */
  readonly estimateInputTokens?: () => number;
  /** The cap, e.g. by {@link resolveInputCap}. Called at most once, and only by rules that need it. */
  readonly resolveInputCapTokens?: () => number;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** One that has fired, or fires while a `custom` trigger is asked, rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Hears what a `custom` trigger threw. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * Whether to compact now: the one decision for sessions, memories and hosts. A `custom` callback that throws decides
 * `false`; a cap that `input_ratio` cannot get rejects with whatever the resolver threw, for it is the configuration
 * that is wrong.
 *
 * @throws CompactionError `invalid_argument`: an unknown trigger, or a field of wrong type or range.
 */
export function resolveShouldCompact(
  options: ResolveShouldCompactOptions,
  input: ResolveShouldCompactInput,
): Promise<boolean>;

/**
 * Tokens that a request may have: `maxInputTokens`, else the model's window without its answer and a reserve (default
 * 1,024).
 *
 * @throws CompactionError `invalid_argument`: neither is known, or nothing is left.
 */
export function resolveInputCap(
  options?: {
    readonly maxInputTokens?: number | undefined;
    readonly reserveTokens?: number | undefined;
  },
  model?: {
    readonly limits?:
      | { readonly contextWindow?: number | undefined; readonly maxOutputTokens?: number | undefined }
      | undefined;
  },
): number;

export interface AttentionTruncationTrigger {
  /** For {@link CompactionOptions.trigger}: `true` once when enough turns in a row were truncated. */
  readonly trigger: Extract<CompactionTrigger, { type: "custom" }>;
  /** Takes an `attention_compiled` event, ignores others, and tells how many turns in a row were truncated. */
  observe(event: { readonly type?: string; readonly truncated?: unknown }): number;
  /** Truncated turns in a row since the last compaction that it asked for, or since one that was not truncated. */
  streak(): number;
  /** Begins to count anew, e.g. after a compaction by hand. */
  reset(): void;
}

/** @throws CompactionError `invalid_argument`: `threshold` is no count from 1. Default 2. */
export function createAttentionTruncationTrigger(options?: {
  readonly threshold?: number;
}): AttentionTruncationTrigger;

/** A failure as data. */
export interface ErrorInfo {
  readonly name?: string;
  readonly message: string;
  /** A provider's status as a number, or a code. */
  readonly code?: string | number;
  /** How long the provider asks to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** What a retry policy is told: no messages, no provider, no credential (requirement E127). */
export interface RetryContext {
  readonly sessionId: string;
  readonly runId: string;
  /** The attempt that failed, from 1. */
  readonly attempt: number;
  readonly error: ErrorInfo;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Once it has fired, nothing is tried again. */
  readonly signal?: AbortSignal;
}

export interface RetryDecision {
  readonly retry: boolean;
  /** Milliseconds to wait. Absent is 0. */
  readonly delayMs?: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface RetryPolicy {
  readonly name: string;
  decide(context: RetryContext): Promise<RetryDecision> | RetryDecision;
}

/** Retries as agents and runs take them. */
export interface RetryOptions {
  /** Default: {@link createDefaultRetryPolicy} with the same options. */
  readonly policy?: RetryPolicy;
  /** Attempts in all, from 1. Default 3. */
  readonly maxAttempts?: number;
  /** The first delay, from 0; each further one is twice the one before. Default 100. */
  readonly baseDelayMs?: number;
  /** The longest delay, jitter and a provider's wish included, from 0. Default 1,000. */
  readonly maxDelayMs?: number;
  /** How far a delay may lie below or above, as a part of it, from 0 to 1. Default 0.25; 0 for exact delays. */
  readonly jitter?: number;
  /** Draws from 0 to 1. One that throws or draws no number spreads nothing. Default `Math.random`. */
  readonly random?: () => number;
  /** Masked in errors and events (`errorToErrorInfo`). */
  readonly secrets?: readonly (string | undefined)[];
  /** Goes into the context of the policy. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface DefaultRetryPolicyOptions extends Omit<RetryOptions, "policy"> {
  /** Default `default-retry`. */
  readonly name?: string;
}

/** The default policy, which decides at once. */
export interface DefaultRetryPolicy extends RetryPolicy {
  decide(context: RetryContext): RetryDecision;
}

/**
 * Retries what {@link isTransientErrorInfo} calls transient, while attempts are left and the signal has not fired. A
 * delay is `retryAfterMs`, else `baseDelayMs · 2^(attempt − 1)`, then spread, then capped.
 *
 * @throws CompactionError `invalid_argument`, also from `decide`.
 */
export function createDefaultRetryPolicy(options?: DefaultRetryPolicyOptions): DefaultRetryPolicy;

/**
 * Whether a failure passes by itself: its code, else its nearest cause's, or a word of its message is `ETIMEDOUT`,
 * `ECONNRESET`, `429`, `500`, `502`, `503`, `504`, `timeout`, `rate_limit` or `temporarily_unavailable`. False for an
 * abort, for anything else, and for a failure that is known to last behind such a code or word: a used-up quota, a prompt
 * that is too large, any status 400. Never throws.
 */
export function isTransientErrorInfo(error: unknown): boolean;

/**
 * Waits as decided; at once where nothing is tried again.
 *
 * @throws the signal's reason, as soon as it fires; CompactionError `invalid_argument` for a delay that is no number
 * from 0.
 */
export function waitForRetry(decision: RetryDecision, signal?: AbortSignal): Promise<void>;

/** An error that is also an {@link ErrorInfo}. */
export interface HttpStatusError extends Error {
  readonly name: string;
  readonly code: number;
  readonly retryAfterMs?: number;
}

/**
 * The error of a response that is none: `code` is its status, `retryAfterMs` what its headers ask for (`retry-after-ms`,
 * else `retry-after` in seconds or as a date, else the same as LiteLLM relays it). Its body is not read.
 *
 * @throws CompactionError `invalid_argument`: no status from 100 to 599.
 */
export function httpStatusError(
  response: {
    readonly status: number;
    readonly headers?:
      | { get(name: string): string | null }
      | Readonly<Record<string, string | readonly string[] | undefined>>
      | null
      | undefined;
  },
  options?: {
    /** Default `HTTP` and the status. */
    readonly message?: string | undefined;
    /** Masked in the message. */
    readonly secrets?: readonly (string | undefined)[] | undefined;
  },
): HttpStatusError;

/**
 * What was thrown, as data and without secrets: no stack and no cause. Where it has no code of its own, the nearest
 * cause's stands for it, as Node's `fetch failed` has one.
 */
export function errorToErrorInfo(error: unknown, secrets?: readonly (string | undefined)[]): ErrorInfo;

/**
 * A copy of plain data with every secret masked, unit for unit: in texts and names of fields, at any depth. Errors
 * become their name, message and fields; what has a `toJSON` becomes that.
 */
export function redactSecrets<T>(value: T, secrets: readonly (string | undefined)[]): T;

/** A registry of middleware, as Prism's: `run` answers with the payload, or with another in its place. */
export interface Middleware {
  run(name: string, payload: unknown): unknown;
}

export interface RetryMiddlewarePayload {
  readonly context: RetryContext;
  readonly decision: RetryDecision;
}

export interface CompactionMiddlewarePayload {
  readonly context: CompactionContext;
  readonly result: CompactionResult;
}

/**
 * The decision behind the middleware `retry`: it may shorten the delay or stop the retry, and neither lengthen nor begin
 * one, also where it changes the payload itself. What it throws rejects.
 *
 * @throws CompactionError `invalid_argument`: a decision to retry whose delay is no number from 0.
 */
export function applyRetryMiddleware(
  payload: RetryMiddlewarePayload,
  middleware?: Middleware | undefined,
): Promise<RetryDecision>;

/**
 * The compaction behind the middleware `compaction`, which may rewrite it, or stop it by a `result` that is null; then
 * the answer is `undefined`. A summary that is rewritten alone becomes the entry's, too. Secrets of the context are masked
 * in the summary and in every field of its entries but those that name entries, also without a middleware. What it throws
 * rejects.
 *
 * @throws CompactionError `invalid_argument`: no context, or a result or an entry without a summary.
 */
export function applyCompactionMiddleware<R extends CompactionResult>(
  payload: { readonly context: CompactionContext; readonly result: R },
  middleware?: Middleware | undefined,
): Promise<R | undefined>;
