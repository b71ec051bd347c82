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

/** Messages, or a range of a {@link Transcript}: wherever messages go in, a range may go in, with the same answer. */
export type Messages<M> = readonly M[] | TranscriptRange<M> | Transcript<M>;

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
  /** UTF-16 units that one token stands for; above 0. Default 4 (requirements A37); 3 in refine (D25). */
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
  /** What stays word for word behind the range. {@link compactWithRecovery} counts it and may have to cut it. */
  retainedTail?: S | undefined;
  /** Size of the context before, in tokens. Absent: estimated. */
  tokensBefore?: number | undefined;
  /**
   * pi's compaction settings: `reserveTokens`, 16,384 by default, goes into {@link refineBudgets}, `keepRecentTokens`
   * into a fallback's tail.
   */
  settings?: { reserveTokens?: number | undefined; keepRecentTokens?: number | undefined } | undefined;
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
  /** Recent context that a compaction keeps. Default: the preparation's setting, else that of {@link contextBudget}. */
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
  preparation: SummaryInput<Messages<M>>,
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
  input: SummaryInput<Messages<M>>,
  options?: PromptOptions,
): number;

/**
 * The conversation text of a summary request: pi's `convertToLlm` and `serializeConversation` in one, unit for
 * unit. Where pi throws, this does not: an argument without JSON text prints `[unserializable]`, any other such
 * part (a missing `content`, a null block) prints nothing.
 *
 * @throws CompactionError `invalid_argument`
 */
export function serializeConversation<M extends MessageLike>(messages: Messages<M>, options?: Sizing): string;

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
  messages: Messages<M>,
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
  messages: Messages<M>,
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
export function reduceSummaryInput<P extends SummaryInput<Messages<MessageLike>>>(input: P): P | undefined;

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
  messages: Messages<M>,
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
  /** The fewest chunks, where the range has as many call groups. Default 1. */
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
 * @returns the chunks — ranges where ranges went in —; `undefined` when the range is empty or needs more than
 *   `maxChunks`
 * @throws CompactionError `summary_budget` when reserve and template leave nothing for text, or when a message
 *   cannot be cut small enough; `invalid_argument`
 */
export function planChunks<M extends MessageLike>(
  input: SummaryInput<readonly M[]>,
  options: ChunkOptions,
): M[][] | undefined;
export function planChunks<M extends MessageLike>(
  input: SummaryInput<TranscriptRange<M> | Transcript<M>>,
  options: ChunkOptions,
): TranscriptRange<M>[] | undefined;

/** Who writes the summary. A host must say so: a checkpoint without a model is never an accident. */
export type Summarizer = HttpSummarizer | CallbackSummarizer | ExtractiveSummarizer;

/**
 * A model, spoken to natively: the request is built, sent, read and repeated off the main thread.
 *
 * The answer is streamed. Connections verify certificates by the platform's store and `NODE_EXTRA_CA_CERTS`, and go
 * through `HTTPS_PROXY` or `HTTP_PROXY` except to hosts in `NO_PROXY`, as `process.env` states them when the
 * compaction begins.
 */
export interface HttpSummarizer {
  kind: "http";
  model: HttpModel;
  /** The provider's key. Where headers authorize, none is needed. It is in no error, event or detail. */
  apiKey?: string | undefined;
  /** Sent over the model's own headers; `null` leaves a header out. */
  headers?: HttpHeaders | undefined;
  /** The longest silence of one request, in milliseconds from 1, also before its first byte. Default 300,000. */
  idleTimeoutMs?: number | undefined;
  /** `false` asks for the answer in one piece, for gateways that cannot stream. Default `true`. */
  stream?: boolean | undefined;
}

/**
 * Headers by name; `null` leaves out what would be sent otherwise. Those of the transport (`accept-encoding`,
 * `connection`, `content-length`, `transfer-encoding`) are not taken over.
 */
export type HttpHeaders = Readonly<Record<string, string | null | undefined>>;

/** The wire formats that are spoken. Any other `api` of pi needs a summarizer of kind `callback`. */
export type HttpApi =
  | "openai-completions"
  | "openai-responses"
  | "anthropic-messages"
  | "google-generative-ai";

/** A model behind a wire format. pi-ai's `Model` fits. */
export interface HttpModel extends SummaryModel {
  /** An {@link HttpApi}; anything else is `unsupported_api`. */
  api: string;
  /** As pi-ai has it: with `/v1` for OpenAI, without for Anthropic, with the version for Google. */
  baseUrl: string;
  /** Tokens of the context window. Needed here, from 1. */
  contextWindow: number;
  /** The most tokens of an answer. Needed here, from 1; no request asks for more. */
  maxTokens: number;
  headers?: HttpHeaders | undefined;
  /** Price of a million tokens; without it a cost is 0. */
  cost?: ModelCost | undefined;
  /** The provider's own name for pi's effort `low`, which a model that reasons is asked for; `null` for none. */
  thinkingLevelMap?: { readonly low?: string | null | undefined } | undefined;
  /**
   * Of pi-ai's settings those that change a summary request. Any other is ignored, but for `openRouterRouting` and
   * `vercelGatewayRouting`: a request that ignored where it may go would be wrong, so they are `unsupported_api`.
   */
  compat?: HttpCompat | undefined;
}

export interface HttpCompat {
  /** Field for the answer's allowance. Default `max_completion_tokens`; `max_tokens` at hosts that know only that. */
  maxTokensField?: "max_completion_tokens" | "max_tokens" | undefined;
  /** Whether a reasoning model's system prompt goes as `developer`. Default: as `system`, which all understand. */
  supportsDeveloperRole?: boolean | undefined;
  /** Whether `reasoning_effort` may be sent to a model that reasons. Default: to OpenAI's own host only. */
  supportsReasoningEffort?: boolean | undefined;
  /** Whether a stream reports usage when asked to. Default `true`. */
  supportsUsageInStreaming?: boolean | undefined;
  /** Whether a stream says how it ended; else `[DONE]` is its end. Default `true`. */
  supportsFinishReason?: boolean | undefined;
  /** Whether `max_output_tokens` may be sent. Default `true`. */
  supportsMaxOutputTokens?: boolean | undefined;
}

/** Price of a million tokens of each kind. */
export interface ModelCost extends TokenRates {
  /** Of all tiers whose threshold the tokens read exceed, the highest holds for the whole request. */
  tiers?: readonly (TokenRates & { inputTokensAbove: number })[] | undefined;
}

export interface TokenRates {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** A model to summarize with. pi-ai's `Model` fits. */
export interface SummaryModel extends ModelLimits {
  provider: string;
  id: string;
  reasoning?: boolean | undefined;
}

/** What a host's client is called with: pi-ai's `Context`, one user message in it. */
export interface SummaryContext {
  systemPrompt: string;
  messages: { role: "user"; content: { type: "text"; text: string }[]; timestamp: number }[];
}

/** How a host's client is called: a subset of pi-ai's stream options. */
export interface SummaryCallOptions {
  /** Fires, with the reason, when the compaction is given up. */
  signal: AbortSignal;
  /** Tokens allowed for the answer. */
  maxTokens: number;
  /** Retries are made here, not by the client. */
  maxRetries: 0;
  cacheRetention: "none";
}

/** What a host's client answers: pi-ai's `AssistantMessage` fits. */
export interface SummaryAnswer {
  /** Blocks of type `text` make the summary, a line each; `thinking` and `toolCall` make none. */
  readonly content: readonly { readonly type: string; readonly text?: string | undefined }[];
  /** `stop`, as when it is missing; or `length`, `toolUse`, `error`, `aborted`, `refusal`. */
  readonly stopReason?: string | undefined;
  readonly errorMessage?: string | undefined;
  readonly usage?: Usage | undefined;
}

/** Tokens and cost, in the shape of pi-ai's `Usage`. */
export type Usage = {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** Part of `cacheWrite` that stays for an hour, where that is reported. */
  cacheWrite1h?: number;
  /** Part of `output` that is thinking, where that is reported. */
  reasoning?: number;
  totalTokens: number;
  cost: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
};

/**
 * The host's own client. On pi 0.87 and later `complete` is
 * `(context, options) => modelRegistry.streamSimple(model, context, options).result()`.
 *
 * A rejection and an answer with `stopReason: "error"` are the same failure. Only text that is not blank, from an
 * answer that ended normally, is a summary; thinking, a tool call, a cut-off, refused or aborted answer never is.
 */
export interface CallbackSummarizer {
  kind: "callback";
  model: SummaryModel;
  complete(context: SummaryContext, options: SummaryCallOptions): PromiseLike<SummaryAnswer> | SummaryAnswer;
}

/** How a failed request is repeated. pi's `settings.retry` fits. */
export interface RetryPolicy {
  /** `false`: never. Default `true`. */
  enabled?: boolean | undefined;
  /** Retries after the first try. Default 3; in refine 2. */
  maxRetries?: number | undefined;
  /** Milliseconds before the first retry; doubled for each further one. Default 2,000; in refine 1,000. */
  baseDelayMs?: number | undefined;
  /** The longest delay in milliseconds. A provider that asks for more ends the run. Default 60,000. */
  maxAgentDelayMs?: number | undefined;
  /** Symmetric random part of a delay, 0 to 1. Default 0. */
  jitter?: number | undefined;
  /** Source of the randomness, in [0, 1). Default `Math.random`. */
  random?(): number;
}

/** The policy when none is given: three retries after 2, 4 and 8 seconds (ADR 0282; requirements A15–A18). */
export const COMPACTION_SUMMARY_RETRY_POLICY: Readonly<{ enabled: true; maxRetries: 3; baseDelayMs: 2000 }>;

/** One step of a running compaction. No event holds text of the transcript, a prompt or an answer. */
export type CompactionEvent =
  /** What will be done; `requests` if none has to be repeated, halved or compressed. */
  | { type: "plan"; requests: number; shape: CompactionShape; reduced: boolean }
  /**
   * A request leaves: which one and of how many in the plan, and in which try, each from 1. Halves of a chunk and the
   * compression before it have its `index`.
   */
  | { type: "request"; index: number; of: number; attempt: number; promptTokens: number }
  /** An answer begins. Only from a summarizer of kind `http`. */
  | { type: "first_token"; index: number; attempt: number }
  /** The provider's window is smaller than stated: what is left is planned again within `promptLimit` tokens. */
  | { type: "replan"; requests: number; shape: CompactionShape; promptLimit: number }
  /** A request will be repeated after `delayMs`. */
  | { type: "retry"; index: number; attempt: number; delayMs: number; code: CompactionErrorCode }
  /** A part of the range is summarized; `cached` without a request. */
  | { type: "chunk"; index: number; of: number; summaryTokens: number; cached: boolean }
  /** Refine: a chunk is halved, since its `prompt` would be too large or its `answer` was cut off. */
  | { type: "split"; index: number; of: number; cause: "prompt" | "answer"; depth: number }
  /** Refine: the running summary was compressed, in tokens. */
  | { type: "compress"; tokensBefore: number; tokensAfter: number }
  | { type: "warning"; message: string }
  /** A checkpoint is written, and fits where that is asked. A fallback is no such step. */
  | { type: "done"; requests: number; tokensBefore: number; tokensAfter: number };

/** One request; history and turn prefix, a request each; or chunks, one chain over both (requirements G13). */
export type CompactionShape = "single" | "split_turn" | "chunks";

/** No model: picked from the transcript by rule; the same input gives the same bytes. */
export interface ExtractiveSummarizer {
  kind: "extractive";
  /** The most UTF-16 units of the summary, file lists not counted. At least 256; default 4,000. */
  maxSummaryChars?: number | undefined;
}

export interface CompactionRequest<P extends SummaryInput<Messages<MessageLike>>> extends PromptOptions {
  preparation: P;
  budget: BudgetLimits;
  summarizer: Summarizer;
  /**
   * `"chain"`: one request where it fits; else a reduction, then at most 16 chunks, each carrying the summary so far
   * (ADR 0302). Default. `"refine"`: always a running summary over chunks by {@link refineBudgets}; chunks split where
   * a prompt or an answer gets too large, and the running summary is compressed where it does (requirements D1–D90).
   * Ignored for `extractive`.
   */
  strategy?: "chain" | "refine" | undefined;
  /** What refine shall not work out by its formulas. Its `charsPerToken` comes before the request's. */
  refine?: RefineSettings | undefined;
  /** Limits of the conversation's own model. Default: the window of the budget. */
  mainModel?: ModelLimits | undefined;
  /**
   * Where it is given and not empty, each finished request is kept under it (see {@link exportCache}), and a later
   * run of the same session, model (`provider` and `id`), budgets and instructions does not make it again.
   */
  sessionId?: string | undefined;
  /** Milliseconds since the epoch: the time that refine writes around its summary. Absent: no time is written. */
  now?: number | undefined;
  /** Default {@link COMPACTION_SUMMARY_RETRY_POLICY}; in refine two retries after 1 and 2 seconds, of empty answers too. */
  retry?: RetryPolicy | undefined;
  /**
   * The host's word on whether a failed request is sent again, within the policy. Without a boolean answer the
   * classifier decides: overload, rate limits, 5xx, dropped streams and timeouts pass; quota, authentication and
   * malformed requests do not. An overflow is never sent again.
   */
  isRetryable?(error: CompactionError): boolean | undefined;
  /** The most requests, first tries and retries alike. Default 64; in refine 256. */
  maxRequests?: number | undefined;
  /** Exact strings that must not leave: masked in prompts, summary and file lists. */
  secrets?: readonly string[] | undefined;
  signal?: AbortSignal | undefined;
  /** Hears of each step, unless 256 of them wait already. What it throws is ignored. */
  onEvent?(event: CompactionEvent): void;
}

/** What a checkpoint says of itself. An alias and no interface, so that it fits pi's `JsonValue`. */
export type CompactionDetails = {
  /** Files that were read and not changed, sorted. */
  readFiles: string[];
  /** Files that were written or edited, sorted. */
  modifiedFiles: string[];
  /** The kind of the summarizer. */
  summarizer: Summarizer["kind"];
  /** Where a model wrote the summary: how, in how many chunks and requests. */
  strategy?: "chain" | "refine";
  shape?: CompactionShape;
  /** Parts of the range by plan; where an overflow made another plan necessary, requests until then and its parts. */
  chunks?: number;
  /** Whether tool output was thinned for the requests. */
  reduced?: boolean;
  /** Requests that were sent, retries included. */
  requests?: number;
  /** Requests that an earlier run of the same `sessionId` had made already. */
  cacheHits?: number;
  /** Refine: `provider/id` of the model that wrote. */
  refineCompactModel?: string;
  /** Refine: every budget, as the run began with it. */
  budgets?: RefineBudgets;
  /** Refine: how often a chunk was halved. */
  retrySplits?: number;
  /** Refine: how often the running summary was compressed. */
  shrinkCount?: number;
  /** Estimated tokens of the range and the previous summary. */
  tokensBefore: number;
  /** Estimated tokens of the checkpoint in their place. */
  tokensAfter: number;
};

/** What pi's `session_before_compact` hook takes: `return { compaction: result }`. */
export type CompactionResult<P> = {
  /** The checkpoint. */
  summary: string;
  /** Size of the context before, in tokens: the preparation's `tokensBefore`, else an estimate of the range alone. */
  tokensBefore: number;
  /** Sum over the requests, where they reported it. */
  usage?: Usage;
  details: CompactionDetails;
} & Pick<P, Extract<keyof P, "firstKeptEntryId" | "retainedTail">>;

/**
 * Writes the checkpoint of a range: guard, one reduction, chunks, requests, assembly.
 *
 * @returns rejects with `signal.reason` as soon as the signal fires, and nothing is sent after that; else with
 *   {@link CompactionError}: `no_new_history` for an empty range; `summary_budget` when the budget leaves nothing for
 *   text, or more than 16 chunks or `maxRequests` requests would be needed; `summary_incomplete`, `summary_empty`, `summary_refused` for an answer
 *   that is no summary; `context_overflow` and `summary_provider` for a provider that failed, with what the host's
 *   client threw as `cause`; `unsupported_api`; `invalid_argument`
 */
export function generateCompaction<P extends SummaryInput<Messages<MessageLike>>>(
  request: CompactionRequest<P>,
): Promise<CompactionResult<P>>;

/** Settings of the refine strategy; each beats its own formula and no other (requirements D26, D98–D104). */
export interface RefineSettings {
  /** The most tokens of one whole prompt. */
  maxPromptTokens?: number | undefined;
  /** Tokens allowed for an answer, whatever the model states. */
  maxOutputTokens?: number | undefined;
  /** Tokens of the running summary beyond which it is compressed. */
  summaryCeilingTokens?: number | undefined;
  /** UTF-16 units of a token; above 0, fractions allowed. 3 by default, 4 for English, 1.5 to 2 for CJK. */
  charsPerToken?: number | undefined;
}

/** Every budget of a refine run, in tokens but for the ratio. */
export type RefineBudgets = {
  /** Windows of the summary model that the main model's window takes: the fewest chunks (D16). */
  ratio: number;
  /** 0.75 of the window without the reserve, from 8,000 to 50,000 (D17). */
  safetyBudget: number;
  /** The most of one whole prompt: half of the window at most (D18, D19). */
  maxPromptTokens: number;
  /** What the window leaves for an answer beside the largest prompt (D21). */
  hardCeiling: number;
  /** Allowed for an answer (D22); no more than the model's `maxTokens`. */
  maxOutputTokens: number;
  /** Of the running summary, beyond which it is compressed (D23). */
  summaryCeilingTokens: number;
  /** The most of one chunk; 0 where ceiling and words around the text leave nothing (D24, D38, G6). */
  chunkBudget: number;
};

export interface RefineBudgetsInput extends Omit<PromptOptions, "dialect"> {
  /** The conversation's own model. A run without it takes the window of its budget. */
  mainModel?: ModelLimits | undefined;
  /** The model that summarizes. */
  summaryModel: ModelLimits;
  /** pi's `compaction.reserveTokens`. Default 16,384. */
  reserveTokens?: number | undefined;
  /** Of the summary that is carried on, at `charsPerToken`. Default 0. */
  previousSummaryTokens?: number | undefined;
  settings?: RefineSettings | undefined;
}

/**
 * The budgets of a refine run (requirements D14–D24, D38, vectors F2, G6). An unknown window is 32,000 tokens. Where
 * floors and caps disagree, the cap of the prompt wins. Never throws for a window that is too small.
 *
 * @throws CompactionError `invalid_argument`
 */
export function refineBudgets(input: RefineBudgetsInput): RefineBudgets;

/**
 * The usable settings of a value from a file, and what is wrong with the rest: unknown keys, wrong types, token
 * numbers that are negative or fractional. Never throws (requirements D98–D104).
 */
export function parseRefineSettings(value: unknown): ParsedRefineSettings;

export type ParsedRefineSettings = {
  settings: RefineSettings;
  /** `field` is empty where the value itself is no object. */
  problems: { field: string; expected: string }[];
};

/** Finished requests, least recently used first; plain JSON. Their summaries are text of the session. */
export type SummaryCache = { version: 1; entries: { key: string; summary: string }[] };

/**
 * What this environment (the main thread, or a worker: each has its own) has kept of finished requests: at most 400,
 * for a host that wants them to survive it (requirements D48–D53).
 *
 * @param sessionId only those of this session
 * @throws CompactionError `invalid_argument`
 */
export function exportCache(sessionId?: string): SummaryCache;

/**
 * Adds what {@link exportCache} gave, here or elsewhere.
 *
 * @throws CompactionError `invalid_argument` for anything else; then nothing was added
 */
export function importCache(cache: SummaryCache): void;

/** A stored checkpoint that a compaction carries on. A record of the host fits. */
export interface PreviousCheckpoint {
  summary: string;
  /**
   * `generation`, `readFiles` and `modifiedFiles` are read: the files of a range that fell back stand nowhere else. What is of another shape is ignored and reported.
   */
  details?: unknown;
}

export interface RecoveryRequest<P extends SummaryInput<Messages<MessageLike>>> extends CompactionRequest<P> {
  /** Why the host compacts. `"manual"` never falls back (requirements A59, B26). */
  reason: "threshold" | "overflow" | "manual";
  /** What a fallback's window has to be, as in {@link RetainedTailOptions}. Default `"active_turn"`. */
  retentionMode?: "active_turn" | "completed_turn" | undefined;
  /** Tokens of what every request holds besides messages: system prompt, tools. Default 0. */
  fixedTokens?: number | undefined;
  /** Messages about to be sent with the next request. */
  pendingMessages?: Messages<MessageLike> | undefined;
  /** Before `preparation.previousSummary`, where both are there. */
  previousCheckpoint?: PreviousCheckpoint | undefined;
  /** The newest checkpoint is the newest entry: there is nothing to summarize, and no request is made (B8, B9). */
  leafIsCheckpoint?: boolean | undefined;
  /**
   * The whole transcript, from which the smaller tail is rebuilt where nothing is new: with `leafIsCheckpoint`, or with
   * an empty range.
   * Default: the preparation's messages.
   */
  transcript?: Messages<MessageLike> | undefined;
  /**
   * `"extractive"`: beside a fallback's notice stands a summary of the range that no model wrote, marked as such.
   * Default `"notice"`.
   */
  fallbackSummary?: "notice" | "extractive" | undefined;
}

/** Why a fallback has no summary: a closed set (requirements C41, C42). */
export type FailureReason = "no_new_history" | "summary_budget" | "summary_provider" | "checkpoint_oversized";

/** Messages of a preparation. */
export type MessageOf<P> = P extends SummaryInput<Messages<infer M>> ? M : MessageLike;

/** A checkpoint and what stays word for word behind it. */
export type RecoveredCheckpoint<P> = Omit<CompactionResult<P>, "details" | "retainedTail"> & {
  /**
   * Of a summary `preparation.retainedTail`, as far as it can be replayed; of a fallback the recent window of
   * history, turn prefix and `preparation.retainedTail`, or where nothing is new of `transcript`.
   */
  retainedTail: MessageOf<P>[];
  details: CompactionDetails & {
    /** One more than the previous checkpoint's, from 1. */
    generation: number;
    /** Only of a fallback, as the next two. */
    fallback?: "retained_tail";
    retainedTailShape?: "recent_window";
    failureReason?: FailureReason;
  };
};

/** Steps of a recovery, in the order in which they were first reached. */
export type RecoveryStage =
  | "plan"
  | "reduce"
  | "chunks"
  | "request"
  | "replan"
  | "split"
  | "compress"
  | "recheck"
  | "fallback";

/** What a recovery did, however it ended. */
export type RecoveryReport = {
  /** Tokens of the messages and of the previous summary, without `fixedTokens` and pending messages. */
  tokensBefore: number;
  /** The same afterwards: checkpoint and tail. As before where there is no checkpoint. */
  tokensAfter: number;
  /** Whether that is less (requirements G18). */
  shrank: boolean;
  /** Requests that were sent, retries included. */
  requests: number;
  /** What they cost together, where they reported it. */
  usage?: Usage;
  stages: RecoveryStage[];
  /**
   * What was repaired or could not be used, and that a fallback stands in place of a summary, in words. Each was an
   * event `warning` too.
   */
  warnings: string[];
};

export type CompactionOutcome<P> =
  | { kind: "summary"; checkpoint: RecoveredCheckpoint<P>; report: RecoveryReport }
  /** `error`: why there is no summary. */
  | { kind: "fallback"; checkpoint: RecoveredCheckpoint<P>; error: CompactionError; report: RecoveryReport }
  /** The context is as it was. `error`: why there is no summary, or that not even a fallback fits. */
  | { kind: "failed"; error: CompactionError; report: RecoveryReport };

/**
 * {@link generateCompaction}, a recheck of what comes out, and a fallback where there is no summary that fits
 * (ADR 0049, 0282, 0302): the previous summary, at most {@link ContextBudget.fallbackSummaryChars} long, a notice, and
 * the newest window of at most {@link ContextBudget.fallbackTailTokens} and `keepRecentTokens`; less of both where the
 * fixed and the pending leave less. Checkpoint, tail, fixed and pending stay below `hardLimit`, or the outcome is
 * `failed`.
 *
 * A fallback follows on `no_new_history`, `summary_budget`, `context_overflow`, `checkpoint_oversized` and the four
 * `summary_…` codes of a provider, unless the reason is `"manual"` or no message can be replayed. Its text is the same for the same input. Secrets
 * are masked in it; its messages are the host's own. A host that keeps messages behind the range which are not in
 * `preparation.retainedTail` (pi's `firstKeptEntryId`) counts them in `fixedTokens`.
 *
 * @returns rejects with `signal.reason` when the signal fires, and with `invalid_argument` for a malformed request;
 *   every other failure is an outcome
 */
export function compactWithRecovery<P extends SummaryInput<Messages<MessageLike>>>(
  request: RecoveryRequest<P>,
): Promise<CompactionOutcome<P>>;

/**
 * A summary without what a fallback added to it: the notice, the line that stands for a missing checkpoint, and the
 * text that no model wrote. Empty when nothing else is there (requirements B19, G19).
 *
 * @throws CompactionError `invalid_argument`
 */
export function stripFallbackNotice(summary: string): string;

/** A stored checkpoint, as a host keeps it. The two ids are passed through. */
export interface CheckpointRecord {
  readonly id: string;
  readonly throughMessageId: string;
  readonly summary: string;
  readonly details?: unknown;
}

/** What a transcript shows of a checkpoint (requirements A55–A58). */
export type CompactionMark = {
  id: string;
  throughMessageId: string;
  /** From 1. */
  generation: number;
  /** A quarter of the summary's UTF-16 units. */
  summaryTokens: number;
  /** False where the context was begun anew without a summary (`details.strategy` is `"fresh_window"`). */
  summarized: boolean;
  /** The summary failed, and recent context was kept instead. */
  fallback?: "retained_tail";
};

/**
 * The mark of a stored checkpoint, old ones included.
 *
 * @throws CompactionError `invalid_argument` for anything but a record with a summary
 */
export function compactionMark(record: CheckpointRecord): CompactionMark;

/**
 * An encoding that its maker has published: `o200k_base` is that of GPT-4o and everything of OpenAI's since,
 * `cl100k_base` that of GPT-4 and GPT-3.5. Nobody but its makers has the one of Claude or of Gemini: there a count is an
 * estimate too, if a closer one than characters.
 */
export type TokenEncoding = "o200k_base" | "cl100k_base";

/**
 * Tokens of a text, counted; never on Node's main thread. Special tokens in it (`<|endoftext|>`) count as the text that
 * they are, a lone surrogate as U+FFFD.
 *
 * The first call of a process loads the encoding's table (some 10 ms, off the main thread) from the package
 * `pi-compaction-native-tokens`, or from the folder `tokens` beside this one; it stays, for all threads: 4 MB for
 * `o200k_base`, 2 MB for `cl100k_base`. Keeps Node alive until it is done.
 *
 * @returns rejects with CompactionError: `invalid_argument` for anything but a string and one of the encodings,
 *   `unsupported_api` where there is no usable table
 */
export function countTokens(text: string, encoding: TokenEncoding): Promise<number>;

/** How {@link summaryFits} counts. `charsPerToken` has no part in it. */
export interface ExactOptions extends PromptOptions {
  encoding: TokenEncoding;
}

/**
 * Does the summary request fit the summary model's window, by exact tokens? The verdict of
 * {@link compactionSummaryWouldExceedBudget} the other way round: the same texts against the same limit, counted instead
 * of divided (requirements A40–A42, G15, G16). True when both requests — history and previous summary, and in a split
 * turn its prefix — stay below the limit, each with what the words around its text need beyond 2,048 tokens.
 *
 * The messages are read at the call; everything else happens off the main thread. Counting stops as soon as the answer
 * is known: a text has no more tokens than UTF-8 bytes, and no fewer than words.
 *
 * @returns rejects with CompactionError: `invalid_argument` as the guard throws it, or for an unknown encoding;
 *   `unsupported_api` as for {@link countTokens}
 */
export function summaryFits<M extends MessageLike>(
  preparation: SummaryInput<Messages<M>>,
  budget: BudgetLimits,
  summaryModel: ModelLimits | undefined,
  options: ExactOptions,
): Promise<boolean>;

/**
 * A transcript that stays on the native side, so that nothing is read twice: sizes and prompt text of each message
 * are taken when it is appended, tool results as far as they are printed.
 *
 * Keeps references to its messages. A message that was changed in place is measured anew only by
 * {@link Transcript.replace}.
 */
export class Transcript<M = MessageLike> implements Iterable<M> {
  constructor(messages?: Iterable<M>);
  /** @throws CompactionError `invalid_argument` for a message that is no object; then nothing was appended */
  append(...messages: M[]): void;
  /** Keeps the first `length` messages. @throws CompactionError `invalid_argument` beyond the length */
  truncate(length: number): void;
  /** @throws CompactionError `invalid_argument` for an index that is not there */
  replace(index: number, message: M): void;
  readonly length: number;
  /**
   * A snapshot: later changes of the transcript do not touch it. 0 ≤ `start` ≤ `end` ≤ `length`; by default all.
   *
   * @throws CompactionError `invalid_argument` for an index out of range
   */
  range(start?: number, end?: number): TranscriptRange<M>;
  /** Bytes held natively. */
  readonly memoryUsage: number;
  /** Lets go of everything; ranges stay. Any later call is `invalid_argument`. */
  dispose(): void;
  [Symbol.iterator](): Iterator<M>;
}

/** Messages of a {@link Transcript} as they were when the range was taken; the very same objects. */
export interface TranscriptRange<M = MessageLike> extends Iterable<M> {
  readonly length: number;
}

/** A line of a session file that is named. */
export interface SessionLine {
  /** From 1. */
  line: number;
  reason: string;
}

export interface OpenSessionOptions {
  /** The entry whose branch is read. Default: the newest. One that is not in the file is `session_file`. */
  leafId?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Bytes read so far, and bytes of the file. What it throws or rejects is ignored; after an abort it is silent. */
  onProgress?(progress: { bytes: number; total: number }): void;
}

/**
 * Reads a session file of pi, version 1 to 3, off the main thread and in bounded memory, and never writes it: the
 * context of a branch as pi 1.6 projects it, message for message.
 *
 * @returns rejects with `signal.reason` when the signal fires; with `session_file` for a file that is not there, no
 *   regular file, not readable, empty, no session, changed while it was read, or without the leaf; `invalid_argument`
 */
export function openSession<M extends MessageLike = MessageLike>(
  path: string,
  options?: OpenSessionOptions,
): Promise<SessionTranscript<M>>;

/**
 * A transcript of which only sizes and places in the file are kept, at most 160 bytes an entry as pi writes most of
 * them; of lines in another form, of edited messages and of system messages the printed text is kept too. Sizes and
 * plans read nothing again; a message or a text is read from its line when it is asked for, anew each time. A file
 * that was changed since it was opened (size, time, inode, or the parts of the line that is read) is `session_file`
 * then.
 */
export class SessionTranscript<M = MessageLike> extends Transcript<M> {
  private constructor();
  /** Lines that could not be used, in file order: the first 1,000. */
  readonly skipped: readonly SessionLine[];
  /** How many lines could not be used, listed in `skipped` or not. */
  readonly skippedCount: number;
  /** Where the branch begins, when it does so too late: a parent that is missing, or a circle. */
  readonly gap: SessionLine | undefined;
  /** Messages at the start whose usage reports speak of another context: `afterIndex` plus 1 of an estimate. */
  readonly staleMessages: number;
  /**
   * The branch's last entry is a checkpoint, which is pi's own test of whether there is anything to compact. A state
   * entry behind it (a label, a usage report) makes it false, though nothing was said since.
   */
  readonly endsInCheckpoint: boolean;
  /** The checkpoint that the context carries on; its summary is a message of role `compactionSummary`. */
  readonly previousCheckpoint: (PreviousCheckpoint & { tokensBefore?: number }) | undefined;
  /**
   * The id of the entry that a message came from, read from its line; `null` in version 1, which has none, and for a
   * message that did not come from the file.
   *
   * @throws CompactionError `invalid_argument` for an index that is not there; `session_file` for a changed file
   */
  entryId(index: number): string | null;
  /** Bytes read of the file, since it was opened too. */
  readonly bytesRead: number;
  /** The most bytes of it that were held at once while it was opened. */
  readonly peakBuffered: number;
}

/** A closed set; each message says what to do. */
export type CompactionErrorCode =
  | "invalid_argument"
  | "no_new_history"
  | "summary_budget"
  /** The provider says that its model takes less, also after two further plans. */
  | "context_overflow"
  | "summary_provider"
  | "summary_incomplete"
  | "summary_empty"
  | "summary_refused"
  /** A checkpoint, with what stands beside it in the context, would exceed the hard limit. */
  | "checkpoint_oversized"
  /**
   * The wire format, or what a model asks of it, is not spoken natively; a summarizer of kind `callback` is the way out.
   * Or exact tokens without their table; the package `pi-compaction-native-tokens` is the way out.
   */
  | "unsupported_api"
  | "session_file"
  /** A fault of this package, with how to report it. */
  | "internal";

export class CompactionError extends Error {
  readonly name: "CompactionError";
  readonly code: CompactionErrorCode;
  /** HTTP status of the request that failed, where there was one. */
  readonly status?: number;
  /** The provider's own structured code for it, such as `insufficient_quota`. Not in {@link CompactionError.toJSON}. */
  readonly providerCode?: string;
  /** Whether trying again later may help, where a request failed. */
  readonly retryable?: boolean;
  /** How often that request was sent. */
  readonly attempts?: number;
  /** Everything but the cause, which is the host's own. */
  toJSON(): {
    name: string;
    code: CompactionErrorCode;
    message: string;
    status?: number;
    attempts?: number;
    retryable?: boolean;
  };
}

declare global {
  // Of @types/node or of TypeScript's "dom" library; without either, the name at least exists.
  interface AbortSignal {}
}
