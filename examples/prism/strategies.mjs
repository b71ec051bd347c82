// Other strategies beside the default one: written by a model, picked for coding sessions, or remembered beforehand.

import { contextBudget, generateCompaction } from "pi-compaction-native";
import {
  createDefaultCompactionStrategy,
  rebuildSessionContext,
  redactSecrets,
} from "pi-compaction-native/prism";
import { blocksOf } from "./store.mjs";

/**
 * A summary by a model. `generate` is the host's provider; what the summary may take reaches it as
 * `model.parameters.maxTokens`.
 *
 * @param {{ model: any, generate(request: any): Promise<string>, maxSummaryTokens?: number, keepRecentEntries?: number }} options
 */
export function createLlmCompactionStrategy({ model, generate, maxSummaryTokens, keepRecentEntries = 8 }) {
  const { contextWindow, maxOutputTokens } = model.limits;
  const maxTokens = maxSummaryTokens ?? maxOutputTokens;
  const complete = async (/** @type {any} */ { systemPrompt, messages }, /** @type {any} */ options) => {
    const parameters = { ...model.parameters, maxTokens: options.maxTokens };
    const [{ content }] = messages;
    const system = { role: "system", content: [{ type: "text", text: systemPrompt }] };
    const request = { model: { ...model, parameters }, messages: [system, { role: "user", content }] };
    const text = await generate({ ...request, signal: options.signal });
    return { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" };
  };
  const summaryModel = { provider: model.provider, id: model.model, contextWindow, maxTokens };
  const summarizer = { kind: /** @type {const} */ ("callback"), model: summaryModel, complete };
  const budget = contextBudget({ contextWindow, maxTokens: maxOutputTokens });
  return strategyBy("llm-compaction", summarizer, budget, keepRecentEntries);
}

/** The six sections of a checkpoint, picked by rule: goals, what was done, blockers, next steps, files. No model, no diffs. */
export function createCodingCompactionStrategy({ maxSummaryChars = 4_000, keepRecentEntries = 8 } = {}) {
  const summarizer = { kind: /** @type {const} */ ("extractive"), maxSummaryChars };
  return strategyBy("coding-compaction", summarizer, contextBudget({}), keepRecentEntries);
}

/**
 * Notes that a host took while the session ran, each with the entry that it is from: nothing is asked of a model now.
 *
 * @param {() => readonly { text: string, sourceId: string }[]} notes
 */
export function createMemoryCompactionStrategy(notes, { keepRecentEntries = 8 } = {}) {
  const name = "memory-compaction";
  return {
    name,
    /** @param {any} context */
    async compact(context) {
      const known = new Set(rebuildSessionContext(context.entries).entries.map(({ id }) => id));
      const lines = notes().filter(({ sourceId }) => known.has(sourceId));
      const text = lines.map(({ text, sourceId }) => `${text} [${sourceId}]`).join("\n");
      const shown = redactSecrets(text, context.secrets ?? []);
      const framed = await frame(name, keepRecentEntries, context);
      // What nobody took a note of would be forgotten.
      return lines.length === 0 ? framed : withSummary(framed, shown);
    },
  };
}

/** @param {string} name @param {any} summarizer @param {any} budget @param {number} keepRecentEntries */
function strategyBy(name, summarizer, budget, keepRecentEntries) {
  return {
    name,
    /** @param {any} context */
    async compact(context) {
      const framed = await frame(name, keepRecentEntries, context);
      const { messages, summaries } = rebuildSessionContext(context.entries);
      const kept = framed.entries[0].data.keepEntryIds?.length ?? 0;
      const { summary } = await generateCompaction({
        preparation: {
          messagesToSummarize: messages.slice(0, messages.length - kept).flatMap(piMessages),
          previousSummary: summaries.join("\n"),
        },
        budget,
        summarizer,
        secrets: (context.secrets ?? []).filter((/** @type {any} */ secret) => secret !== undefined),
        signal: context.signal,
      });
      return withSummary(framed, summary);
    },
  };
}

/** The entry of a compaction, with everything but its words. @param {string} name @param {number} keepRecentEntries @param {any} context */
function frame(name, keepRecentEntries, context) {
  return createDefaultCompactionStrategy({ name, keepRecentEntries }).compact(context);
}

/** @param {Awaited<ReturnType<typeof frame>>} framed @param {string} summary */
function withSummary({ entries: [entry] }, summary) {
  return { summary, entries: [{ ...entry, summary }] };
}

/** A message as pi writes it. @param {any} message @returns {any[]} */
function piMessages(message) {
  const { role } = message;
  const of = (/** @type {string} */ kind) => blocksOf(message).filter(({ type }) => type === kind);
  const [texts, calls, results] = [of("text"), of("tool_call"), of("tool_result")];
  if (role === "user") return [{ role, content: texts }];
  const said = {
    role,
    content: [...texts, ...calls.map((call) => ({ ...call, type: "toolCall" }))],
  };
  return [...(role === "assistant" ? [said] : []), ...results.map(piResult)];
}

/** @param {any} result */
function piResult({ toolCallId, name: toolName, result, error }) {
  const text = error ? error.message : typeof result === "string" ? result : (JSON.stringify(result) ?? "");
  return {
    role: "toolResult",
    toolCallId,
    toolName,
    content: [{ type: "text", text }],
    isError: Boolean(error),
  };
}
