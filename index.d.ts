/**
 * Context compaction for coding agents built on pi.
 *
 * Text sizes are UTF-16 code units, as JavaScript's `length`; tokens are integers. No input is ever mutated:
 * messages that come back unchanged are the same objects, cut ones are shallow copies. Every function throws
 * (or rejects with) {@link CompactionError}; bad arguments are `invalid_argument`.
 *
 * The types are structural: pi's `AgentMessage`, `CompactionPreparation`, `Model` and settings fit without a
 * cast, and results keep the caller's own message type.
 */

/** Anything with a role. Unknown roles are accepted; they print and count nothing, as in pi. */
export interface MessageLike {
  readonly role: string;
}

/** The text form that one generation of pi sends; each equals its pi unit for unit. */
export type Dialect =
  /** pi-agent-core 0.87.1: thinking included, tool results cut plainly at 2,000 units, system messages uncounted. */
  | "pi-0.87"
  /** pi-coding-agent 1.6.0: thinking omitted, the cut never splits a surrogate pair, system messages counted. */
  | "pi-1.6";

/** How text is turned into sizes. */
export interface Sizing {
  /** Default `"pi-0.87"`. */
  dialect?: Dialect | undefined;
  /** UTF-16 units that one token stands for; above 0. Default 4 (requirements A37). */
  charsPerToken?: number | undefined;
}

/** Words around the text of a summary request. */
export interface PromptOptions extends Sizing {
  /** What the person asks of this checkpoint in particular; added to the instructions. */
  customInstructions?: string | undefined;
  /** The host's own prompts in place of ours. Their size counts (requirements G16). */
  prompts?: Partial<Record<"system" | "initial" | "update" | "turnPrefix" | "compress", string>> | undefined;
}

/** What is to be summarized. pi's `CompactionPreparation` fits. */
export interface SummaryInput<S> {
  /** The range that leaves the context. */
  messagesToSummarize: S;
  /** The beginning of a turn whose rest is kept. Counts only when `isSplitTurn` is true (requirements A42). */
  turnPrefixMessages?: S | undefined;
  isSplitTurn?: boolean | undefined;
  /** The checkpoint that this one carries on. */
  previousSummary?: string | undefined;
  /** Files that the session touched. Absent: read from the tool calls of the range. */
  fileOps?: FileOperations | undefined;
  /** Size of the context before, in tokens. Absent: estimated. */
  tokensBefore?: number | undefined;
}

/** Paths by what was done to them. */
export interface FileOperations {
  read: ReadonlySet<string>;
  written: ReadonlySet<string>;
  edited: ReadonlySet<string>;
}

/** What the host keeps its context below, in tokens. PI-Desktop's `ContextBudget` fits. */
export interface BudgetLimits {
  /** The most that a request's context may hold. */
  hardLimit: number;
  /** What the window holds beyond that. */
  requestHeadroom: number;
  keepRecentTokens?: number | undefined;
}

/** Limits of a model in tokens; 0 and absent mean unknown. pi-ai's `Model` fits. */
export interface ModelLimits {
  /** Default 128,000 where a budget is made of it; the budget's own window where one is given. */
  contextWindow?: number | undefined;
  /** The most it writes in one answer. Default 8,192. */
  maxTokens?: number | undefined;
  /** The most it reads in one request, where that is stated: caps the prompt. */
  maxInputTokens?: number | undefined;
}

/**
 * Would the summary request exceed the summary model's window? (ADR 0282, 0302; requirements A34–A42, G15, G16)
 *
 * True when the larger of the two requests — history with the previous summary, or turn prefix — reaches
 * window − answer − 2,048 tokens. The window is the summary model's, else the budget's; the answer's allowance is
 * 0.8 of the budget's headroom, no more than the model's `maxTokens`, and no more than half of a window that is not
 * the budget's own. Never throws for a budget that leaves no room: the answer is then `true`.
 *
 * @throws CompactionError `invalid_argument`: a budget that is no non-negative integer, a missing preparation, a
 *   list that is no array, a message that is no object.
 */
export function compactionSummaryWouldExceedBudget<M extends MessageLike>(
  preparation: SummaryInput<readonly M[]>,
  budget: BudgetLimits,
  summaryModel?: ModelLimits,
  options?: PromptOptions,
): boolean;

/**
 * Tokens of the larger of the two summary requests, template and instructions not counted (requirements A41).
 *
 * @throws CompactionError `invalid_argument`
 */
export function estimateSummaryPromptTokens<M extends MessageLike>(
  input: SummaryInput<readonly M[]>,
  options?: PromptOptions,
): number;

/**
 * The conversation text of a summary request: pi's `convertToLlm` and `serializeConversation` in one, unit for
 * unit. Where pi throws, this does not: an argument without JSON text prints `[unserializable]`, any other such
 * part (a missing `content`, a null block) prints nothing.
 *
 * @throws CompactionError `invalid_argument`
 */
export function serializeConversation<M extends MessageLike>(
  messages: readonly M[],
  options?: Sizing,
): string;

/**
 * Tokens of one message by pi's `estimateTokens`: all its characters, tool results uncapped, an image as 4,800.
 * Where pi throws or answers `NaN`, the part counts nothing.
 *
 * @throws CompactionError `invalid_argument`
 */
export function estimateTokens<M extends MessageLike>(message: M, options?: Sizing): number;

/** What a context holds, in tokens. */
export interface ContextTokens {
  /** Reported and estimated together. */
  tokens: number;
  /** As the provider last reported. */
  usageTokens: number;
  /** Estimated for the messages after that report. */
  trailingTokens: number;
  /** Index of the message with the report; `null` when there is none. */
  lastUsageIndex: number | null;
}

/**
 * Tokens of a context: the last usable report of an assistant message plus an estimate of what follows it (pi's
 * `estimateContextTokens`).
 *
 * @param options.afterIndex reports of messages up to and including this index are ignored: they were made
 *   before a compaction. Default −1.
 * @throws CompactionError `invalid_argument`
 */
export function estimateContextTokens<M extends MessageLike>(
  messages: readonly M[],
  options?: Sizing & { afterIndex?: number | undefined },
): ContextTokens;

/** Every budget that follows from a model's limits, in tokens but for the characters (requirements F1). */
export interface ContextBudget {
  /** The most that a request's context may hold. */
  hardLimit: number;
  /** What the window holds beyond that. */
  requestHeadroom: number;
  /** Recent context that a compaction keeps. */
  keepRecentTokens: number;
  /** The most that a summary may take. */
  summaryOutput: number;
  /** The guard's limit: a summary prompt must stay below it. */
  summaryInputLimit: number;
  /** The most that a fallback's tail may take. */
  fallbackTailTokens: number;
  /** The most UTF-16 units that a fallback carries of an earlier summary. */
  fallbackSummaryChars: number;
}

/**
 * The budgets of a model; an unknown window is 128,000, an unknown output 8,192 tokens.
 *
 * @throws CompactionError `invalid_argument`
 */
export function contextBudget(model: ModelLimits): ContextBudget;

/** Where a context is cut. */
export interface CutPoint {
  /** Index of the first message that stays; the number of messages when the range is empty. */
  firstKeptIndex: number;
  /** Index of the message that begins the turn which is cut through; −1 when none is. */
  turnStartIndex: number;
  /** Whether a turn is cut through. */
  isSplitTurn: boolean;
}

/**
 * pi's cut point: the newest messages of at least `keepRecentTokens` tokens stay. Never between a call and its
 * results: when trailing results alone reach the target, the cut steps back to their call.
 *
 * @param keepRecentTokens a non-negative integer
 * @throws CompactionError `invalid_argument`
 */
export function findCut<M extends MessageLike>(
  messages: readonly M[],
  keepRecentTokens: number,
  options?: Sizing,
): CutPoint;

/**
 * The one reduced form of an input that does not fit (requirements A43–A54): each tool result cut to its first
 * 500 units with a visible marker, thinking dropped; user text, assistant text and call arguments untouched, no
 * message removed. A reduced text is never longer than it was; reducing twice changes nothing.
 *
 * @returns the reduced input; `undefined` when there is nothing to reduce
 * @throws CompactionError `invalid_argument`
 */
export function reduceSummaryInput<P extends SummaryInput<readonly MessageLike[]>>(input: P): P | undefined;

export interface RetainedTailOptions extends Sizing {
  /**
   * `"active_turn"`: the user message that began the newest turn is kept ahead of the window when the window does
   * not hold it, cut to half the budget (requirements C23, C24). `"completed_turn"`: the window ends on a finished
   * assistant message, so that it reads as history (C26). Default: the plain window.
   */
  retentionMode?: "active_turn" | "completed_turn" | undefined;
}

/**
 * The newest provider-valid window of a range that fits `maxTokens` by {@link estimateTokens} (ADR 0302;
 * requirements C8–C29).
 *
 * Holds no result without its call, no call without its result, no assistant message that ended in `error`,
 * `aborted` or `deferred`, and no message that pi would not send. The newest message is always kept, cut to the
 * budget with a visible marker but to no less than 64 units; the window is empty only when nothing is replayable.
 *
 * @param maxTokens a non-negative integer
 * @throws CompactionError `invalid_argument`
 */
export function buildRetainedTail<M extends MessageLike>(
  messages: readonly M[],
  maxTokens: number,
  options?: RetainedTailOptions,
): M[];

/**
 * The messages of a stored tail that are sound. A checkpoint record without `details.retainedTailShape =
 * "recent_window"` yields only its latest user message (requirements C15–C18); a list of messages yields those that
 * can be replayed; anything else yields `[]`. Orphaned results and unanswered calls are dropped.
 */
export function replayRetainedTail<M extends MessageLike = MessageLike>(recordOrMessages: unknown): M[];

export interface ChunkOptions extends PromptOptions {
  /** Tokens that a summary prompt must stay below: {@link ContextBudget.summaryInputLimit}. */
  promptLimit: number;
  /** Tokens held back in each chunk for the carried summary. Default and least: those of the previous summary. */
  reserve?: number | undefined;
  /** The most chunks. Default 16. */
  maxChunks?: number | undefined;
  /** The fewest chunks, where the range has as many messages. Default 1. */
  minChunks?: number | undefined;
  /**
   * `"turn"`: cut between turns; inside a turn only where it does not fit a chunk or `maxChunks` would be exceeded,
   * then between calls with their results first. `"message"`: cut anywhere (ADR 0302). Default `"turn"`.
   */
  boundary?: "turn" | "message" | undefined;
}

/**
 * Contiguous chunks of history and turn prefix, each of which fits one summary request (ADR 0302; requirements
 * C30–C39, G4, G5). Together they are the range, in order, nothing lost or doubled. A message too large for a chunk
 * is cut with a visible marker, head and tail kept, arguments included, never through a surrogate pair.
 *
 * @returns the chunks; `undefined` when the range is empty or needs more than `maxChunks`
 * @throws CompactionError `summary_budget` when reserve and template leave nothing for text, or when a message
 *   cannot be cut small enough; `invalid_argument`
 */
export function planChunks<M extends MessageLike>(
  input: SummaryInput<readonly M[]>,
  options: ChunkOptions,
): M[][] | undefined;

/** Who writes the summary. A host must say so: a checkpoint without a model is never an accident. */
export type Summarizer = ExtractiveSummarizer;

/** No model: picked from the transcript by rule; the same input gives the same bytes. */
export interface ExtractiveSummarizer {
  kind: "extractive";
  /** The most UTF-16 units of the summary, file lists not counted. At least 256; default 4,000. */
  maxSummaryChars?: number | undefined;
}

export interface CompactionRequest<P extends SummaryInput<readonly MessageLike[]>> extends PromptOptions {
  preparation: P;
  budget: BudgetLimits;
  summarizer: Summarizer;
  signal?: AbortSignal | undefined;
}

/** What a checkpoint says of itself. An alias and no interface, so that it fits pi's `JsonValue`. */
export type CompactionDetails = {
  /** Files that were read and not changed, sorted. */
  readFiles: string[];
  /** Files that were written or edited, sorted. */
  modifiedFiles: string[];
  /** The kind of the summarizer. */
  summarizer: Summarizer["kind"];
  /** Estimated tokens of the range and the previous summary. */
  tokensBefore: number;
  /** Estimated tokens of the checkpoint in their place. */
  tokensAfter: number;
};

/** What pi's `session_before_compact` hook takes: `return { compaction: result }`. */
export type CompactionResult<P> = {
  /** The checkpoint. */
  summary: string;
  /** Size of the context before, in tokens: the preparation's, else an estimate. */
  tokensBefore: number;
  details: CompactionDetails;
} & Pick<P, Extract<keyof P, "firstKeptEntryId" | "retainedTail">>;

/**
 * Writes the checkpoint of a range.
 *
 * @returns rejects with {@link CompactionError} — `no_new_history` for an empty range, `summary_budget` when the
 *   budget leaves nothing for text, `invalid_argument` — or with `signal.reason`
 */
export function generateCompaction<P extends SummaryInput<readonly MessageLike[]>>(
  request: CompactionRequest<P>,
): Promise<CompactionResult<P>>;

/** A closed set; each message says what to do. */
export type CompactionErrorCode =
  | "invalid_argument"
  | "no_new_history"
  | "summary_budget"
  | "session_file"
  /** A fault of this package, with how to report it. */
  | "internal";

export class CompactionError extends Error {
  readonly name: "CompactionError";
  readonly code: CompactionErrorCode;
  /** Name, code and message; no cause. */
  toJSON(): { name: string; code: CompactionErrorCode; message: string };
}
