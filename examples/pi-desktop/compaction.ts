// The compaction module of PI-Desktop's agent runtime, by its names and argument shapes, over pi-compaction-native.
// Copy it into the runtime in place of its own; docs/electron.md tells how it is bundled and shipped.

import type { AgentMessage } from "@earendil-works/pi-agent-core";
import type { AssistantMessage, ToolResultMessage, Usage } from "@earendil-works/pi-ai";
import {
  buildRetainedTail,
  COMPACTION_SUMMARY_RETRY_POLICY,
  CompactionError,
  contextBudget,
  estimateTokens,
  type ModelLimits,
  planChunks,
  replayRetainedTail as soundMessages,
} from "pi-compaction-native";

export {
  COMPACTION_SUMMARY_RETRY_POLICY,
  compactionMark as contextCompactionMark,
  compactionSummaryWouldExceedBudget,
  estimateSummaryPromptTokens,
  reduceSummaryInput,
  stripFallbackNotice as stripCompactionFallbackNotice,
} from "pi-compaction-native";

export const COMPACTION_SUMMARY_MAX_RETRIES = COMPACTION_SUMMARY_RETRY_POLICY.maxRetries;
export const COMPACTION_SUMMARY_RETRY_BASE_MS = COMPACTION_SUMMARY_RETRY_POLICY.baseDelayMs;
export const COMPACTION_REDUCED_TOOL_RESULT_CHARS = 500;
export const COMPACTION_SUMMARY_PROMPT_SAFETY_TOKENS = 2_048;
export const COMPACTION_SUMMARY_MAX_CHUNKS = 16;
export const COMPACTION_RETAINED_TAIL_SHAPE = "recent_window";
/** Stands where a message was cut for a summary request. */
export const SUMMARY_CHUNK_TRUNCATION_MARKER = "\n[... cut to fit the summary request ...]\n";
/** Stands where a message was cut for the retained tail. */
export const CHECKPOINT_TRUNCATION_MARKER = "\n[... cut to fit the kept context ...]\n";

const DEFAULT_MAX_TOKENS = 8_192;
const SUMMARY_SHARE_OF_HEADROOM = 0.8;
const RETAINED_USER_TOKENS = 20_000;
const RETAINED_USER_SHARE = 0.5;

export interface SummaryInput {
  messagesToSummarize: AgentMessage[];
  turnPrefixMessages: AgentMessage[];
  isSplitTurn: boolean;
  previousSummary?: string | undefined;
}

export interface ContextBudgetLimits {
  hardLimit: number;
  requestHeadroom: number;
  keepRecentTokens: number;
}

/** A checkpoint as the runtime stores it. */
export interface ContextCheckpointRecord {
  id: string;
  summary: string;
  firstKeptMessageId?: string | undefined;
  throughMessageId: string;
  tokensBefore: number;
  usage?: Usage | undefined;
  retainedTail?: AgentMessage[] | undefined;
  details?: unknown;
  providerId?: string | undefined;
  modelId?: string | undefined;
  createdAt: number;
}

export function contextBudgetLimitsFor(model: ModelLimits): ContextBudgetLimits {
  const { hardLimit, requestHeadroom, keepRecentTokens } = contextBudget(model);
  return { hardLimit, requestHeadroom, keepRecentTokens };
}

/** Tokens that a summary prompt must stay below. */
export function compactionSummaryInputLimit(limits: {
  hardLimit: number;
  requestHeadroom: number;
  modelMaxTokens?: number | undefined;
}): number {
  const { hardLimit, requestHeadroom, modelMaxTokens } = limits;
  const most = Math.max(1, Math.round(modelMaxTokens || DEFAULT_MAX_TOKENS));
  const output = Math.min(Math.floor(SUMMARY_SHARE_OF_HEADROOM * requestHeadroom), most);
  return Math.max(1, hardLimit + requestHeadroom - output - COMPACTION_SUMMARY_PROMPT_SAFETY_TOKENS);
}

/** The range in at most 16 chunks; undefined where it is empty, needs more, or the reserve leaves no room. */
export function planSummaryChunks(
  input: SummaryInput,
  { summaryInputLimit, reserveTokens }: { summaryInputLimit: number; reserveTokens: number },
): AgentMessage[][] | undefined {
  const reserve = Math.max(0, reserveTokens);
  const maxChunks = COMPACTION_SUMMARY_MAX_CHUNKS;
  try {
    return planChunks(input, { promptLimit: summaryInputLimit, reserve, maxChunks });
  } catch (error) {
    if (error instanceof CompactionError && error.code === "summary_budget") return undefined;
    throw error;
  }
}

/** Both usages together; what only one of them reports counts as it is, what none reports is left out. */
export function addSummaryUsage(total: Usage | undefined, next: Usage | undefined): Usage | undefined {
  if (total === undefined || next === undefined) return total ?? next;
  const sum = (a = 0, b = 0) => a + b;
  const optional = (field: "cacheWrite1h" | "reasoning") =>
    total[field] === undefined && next[field] === undefined
      ? {}
      : { [field]: sum(total[field], next[field]) };
  return {
    input: sum(total.input, next.input),
    output: sum(total.output, next.output),
    cacheRead: sum(total.cacheRead, next.cacheRead),
    cacheWrite: sum(total.cacheWrite, next.cacheWrite),
    ...optional("cacheWrite1h"),
    ...optional("reasoning"),
    totalTokens: sum(total.totalTokens, next.totalTokens),
    cost: {
      input: sum(total.cost.input, next.cost.input),
      output: sum(total.cost.output, next.cost.output),
      cacheRead: sum(total.cost.cacheRead, next.cost.cacheRead),
      cacheWrite: sum(total.cost.cacheWrite, next.cost.cacheWrite),
      total: sum(total.cost.total, next.cost.total),
    },
  };
}

/** The newest sound window; ahead of it the goal, where the window does not hold it, in at most half of the budget. */
export function selectRecentTail(
  messages: AgentMessage[],
  maxTokens: number,
  { latestUserGoal }: { latestUserGoal?: AgentMessage | undefined } = {},
): AgentMessage[] {
  const newestUser = messages.filter(({ role }) => role === "user").at(-1);
  if (latestUserGoal !== undefined && latestUserGoal === newestUser) {
    return buildRetainedTail(messages, maxTokens, { retentionMode: "active_turn" });
  }
  const window = buildRetainedTail(messages, maxTokens);
  if (latestUserGoal === undefined || window.includes(latestUserGoal)) return window;
  const goal = truncateMessageToTail(latestUserGoal, Math.floor(maxTokens / 2));
  return [goal, ...buildRetainedTail(messages, Math.max(0, maxTokens - estimateTokens(goal)))];
}

/** The message in at most so many tokens, but no less than 64 units; the same object where it fits. */
export function truncateMessageToTail<M extends AgentMessage>(message: M, maxTokens: number): M {
  if (estimateTokens(message) <= maxTokens) return message;
  const [cut] = buildRetainedTail(standingAlone(message), maxTokens);
  if (cut === undefined) return message;
  const { role } = message;
  return { ...cut, role, ...(role === "assistant" && { stopReason: message.stopReason }) } as M;
}

/**
 * The message as one that a tail keeps: a result has the content of a user's message, whatever became of an answer it
 * has ended, and its calls have results.
 */
function standingAlone(message: AgentMessage): AgentMessage[] {
  if (message.role === "toolResult") return [{ ...message, role: "user" }];
  if (message.role !== "assistant") return [message];
  const results = message.content.flatMap((block): ToolResultMessage[] => {
    if (block.type !== "toolCall") return [];
    const { id: toolCallId, name: toolName } = block;
    return [{ role: "toolResult", toolCallId, toolName, content: [], isError: false, timestamp: 0 }];
  });
  return [{ ...message, stopReason: "stop" }, ...results];
}

/** An answer without its calls, for where no result follows; the same object where there are none. */
export function stripDanglingToolCalls<M extends AgentMessage>(message: M): M {
  if (message.role !== "assistant") return message;
  const content = (message as AssistantMessage).content.filter(({ type }) => type !== "toolCall");
  return content.length === message.content.length ? message : { ...message, content };
}

/** Whether a value has the form of a message that goes to a model. */
export function isRetainedTailMessage(value: unknown): value is AgentMessage {
  const { role, content } = Object(value) as { role?: unknown; content?: unknown };
  if (role === "user") return typeof content === "string" || Array.isArray(content);
  return (role === "assistant" || role === "toolResult") && Array.isArray(content);
}

/** The messages of a stored tail that are sound together; undefined where it is no list. */
export function replayRetainedTail(value: unknown): AgentMessage[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const sound = soundMessages<AgentMessage>(value.filter(isRetainedTailMessage));
  return sound.map((message) =>
    typeof message.timestamp === "number" ? message : { ...(message as AgentMessage), timestamp: 0 },
  );
}

export function retainedUserMessageBudget({ hardLimit }: { hardLimit: number }): number {
  return Math.max(1, Math.min(RETAINED_USER_TOKENS, Math.floor(RETAINED_USER_SHARE * hardLimit)));
}

/** The newest within the budget, in their order; the one that crosses it is cut, and dropped where no cut fits. */
export function selectRetainedUserMessages<M extends AgentMessage>(
  candidates: readonly M[],
  maxTokens: number,
): M[] {
  const kept: M[] = [];
  let room = maxTokens;
  for (const candidate of [...candidates].reverse()) {
    const message = truncateMessageToTail(candidate, room);
    const tokens = estimateTokens(message);
    if (tokens > room && kept.length > 0) break;
    kept.unshift(message);
    room -= tokens;
    if (message !== candidate) break;
  }
  return kept;
}
