// A small agent session on pi-compaction-native/prism: what a host has to do, and in which order.

import { randomUUID } from "node:crypto";

import {
  applyCompactionMiddleware,
  createDefaultCompactionStrategy,
  rebuildSessionContext,
  redactSecrets,
  resolveInputCap,
  resolveShouldCompact,
} from "pi-compaction-native/prism";
import { estimateTokens } from "./attention.mjs";
import { blocksOf, createMemoryStore, newEntry } from "./store.mjs";
import { providerTurn } from "./turn.mjs";

/**
 * @typedef {object} AgentConfig
 * @property {any} model
 * @property {any} provider
 * @property {Record<string, (args: any) => any>} [tools]
 * @property {any} [compaction] a host's `CompactionOptions`
 * @property {any} [retry] a host's `RetryOptions`
 * @property {any} [middleware]
 * @property {any} [store]
 * @property {any} [folder] folds a request before a compaction is considered
 * @property {number} [maxInputTokens]
 * @property {(entry: any) => any} [redactor] of what is stored, beside the lists of secrets
 */

/** @param {AgentConfig} config */
export function createAgent(config) {
  const store = config.store ?? createMemoryStore();
  return {
    /** @param {{ id: string }} options */
    createSession: ({ id }) => new AgentSession({ ...config, store }, id),
  };
}

/** Rounds of tools in one run. */
const MOST_ROUNDS = 8;

class AgentSession {
  #config;
  #id;
  #isActive = false;
  /** @type {((event: any) => void)[]} */
  #listeners = [];

  /** @param {AgentConfig} config @param {string} id */
  constructor(config, id) {
    this.#config = config;
    this.#id = id;
  }

  /** @param {(event: any) => void} listener */
  subscribe(listener) {
    this.#listeners.push(listener);
  }

  /** The last message of a run. @param {string} input @param {any} [options] */
  run(input, options = {}) {
    return this.#alone(() => this.#run(input, options));
  }

  /** The events of a run. @param {string} input @param {any} [options] */
  async *stream(input, options = {}) {
    /** @type {any[]} */
    const events = [];
    let wake = () => {};
    const listener = (/** @type {any} */ event) => {
      events.push(event);
      wake();
    };
    let isOver = false;
    const run = this.#alone(() => {
      this.#listeners.push(listener);
      return this.#run(input, options);
    }).finally(() => {
      isOver = true;
      wake();
    });
    run.catch(() => {});
    try {
      while (!isOver || events.length > 0) {
        if (events.length === 0) await new Promise((resolve) => (wake = () => resolve(undefined)));
        while (events.length > 0) yield events.shift();
      }
    } finally {
      this.#listeners = this.#listeners.filter((known) => known !== listener);
    }
    await run;
  }

  /** Compacts between runs, never within one. @param {any} [options] */
  compact(options = {}) {
    return this.#alone(() => this.#compact({ ...this.#config.compaction, ...options }, "manual"));
  }

  /** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  async #alone(work) {
    if (this.#isActive) throw new Error("Agent session already has an active run");
    this.#isActive = true;
    try {
      return await work();
    } finally {
      this.#isActive = false;
    }
  }

  /** @param {string} input @param {any} options */
  async #run(input, options) {
    options.signal?.throwIfAborted();
    const config = this.#config;
    const branch = await this.#branch();
    const run = { sessionId: this.#id, runId: randomUUID() };
    const model = options.model ?? config.model;
    if (!config.provider) throw new Error(`there is no provider for ${model.provider}`);
    const latest = branch.findLast(({ kind }) => kind === "model_change")?.model ?? config.model;
    if (latest.model !== model.model) await this.#append({ kind: "model_change", model });
    await this.#append({
      kind: "message",
      message: { role: "user", content: [{ type: "text", text: input }] },
    });
    await this.#autoCompact(branch, options, model);
    for (let round = 1; ; round++) {
      const message = await providerTurn({
        provider: config.provider,
        request: await this.#request(model, run),
        run,
        retry: options.retry === false ? undefined : (options.retry ?? config.retry),
        middleware: config.middleware,
        signal: options.signal,
        emit: (event) => this.#emit(event, [options.compaction?.secrets, options.retry?.secrets]),
      });
      await this.#append({ kind: "message", message });
      const calls = message.content.filter((/** @type {any} */ { type }) => type === "tool_call");
      if (calls.length === 0 || round === MOST_ROUNDS) return message;
      await this.#append({ kind: "message", message: { role: "tool", content: await this.#results(calls) } });
    }
  }

  /** @param {any[]} before the branch without this run's input @param {any} options @param {any} model */
  async #autoCompact(before, { compaction: ofRun, signal }, model) {
    if (ofRun === false) return;
    const options = { ...this.#config.compaction, ...ofRun };
    if (options.trigger === undefined && options.thresholdEntries === undefined) return;
    const stored = await this.#config.store.list(this.#id);
    const compacts = await resolveShouldCompact(options, {
      sessionId: this.#id,
      entryCount: rebuildSessionContext(stored).entries.length,
      entries: before,
      estimateInputTokens: () => estimateTokens(this.#assembled(stored, model).request),
      resolveInputCapTokens: () => this.#cap(model),
      metadata: options.metadata,
      signal,
    });
    if (compacts) await this.#compact({ ...options, signal }, "auto");
  }

  /** @param {any} options @param {string} trigger */
  async #compact(options, trigger) {
    const { strategy = createDefaultCompactionStrategy(options) } = options;
    const { secrets = [], keepRecentEntries, metadata, signal } = options;
    const sessionId = this.#id;
    this.#emit({ type: "compaction_started", sessionId }, [secrets]);
    const context = {
      ...{ sessionId, entries: await this.#branch(), trigger, secrets },
      ...(keepRecentEntries === undefined ? {} : { keepRecentEntries }),
      ...(metadata ? { metadata } : {}),
      ...(signal ? { signal } : {}),
    };
    const written = await strategy.compact(context);
    const result = await applyCompactionMiddleware({ context, result: written }, this.#config.middleware);
    const entries = [];
    for (const entry of result?.entries ?? []) entries.push(await this.#store(entry));
    this.#emit({ type: "compaction_finished", sessionId, summary: entries[0]?.summary ?? "" }, [secrets]);
    return result && { ...result, entries };
  }

  /** What the provider is asked. @param {any} model @param {any} run */
  async #request(model, run) {
    const { request, report } = this.#assembled(await this.#config.store.list(this.#id), model);
    if (report) this.#emit({ type: "attention_compiled", ...run, ...report });
    return request;
  }

  /** The rebuilt context, folded where it is too large. @param {any[]} stored @param {any} model */
  #assembled(stored, model) {
    const { messages, summaries } = rebuildSessionContext(stored);
    const said = summaries.map((text) => ({ role: "user", content: [{ type: "text", text }] }));
    const whole = [...said, ...withCalls(messages)];
    const folded = this.#config.folder?.fold(whole, this.#cap(model));
    return { request: { model, messages: folded?.messages ?? whole }, report: folded?.report };
  }

  /** One cap for folding and for compacting. @param {any} model */
  #cap(model) {
    return resolveInputCap({ maxInputTokens: this.#config.maxInputTokens }, model);
  }

  /** What the tools answer; one that is not there or fails says so, and the model goes on. @param {any[]} calls */
  #results(calls) {
    const result = async (/** @type {any} */ { id: toolCallId, name, arguments: args }) => {
      try {
        const tool = this.#config.tools?.[name];
        if (!tool) throw new Error(`there is no tool ${name}`);
        return { type: "tool_result", toolCallId, name, result: await tool(args) };
      } catch (error) {
        return { type: "tool_result", toolCallId, name, error: { message: String(error) } };
      }
    };
    return Promise.all(calls.map(result));
  }

  async #branch() {
    return rebuildSessionContext(await this.#config.store.list(this.#id)).entries;
  }

  /** @param {any} fields */
  async #append(fields) {
    const branch = await this.#branch();
    await this.#store(newEntry(this.#id, branch[branch.length - 1]?.id, fields));
  }

  /** What is stored of an entry, stored. @param {any} entry */
  async #store(entry) {
    const stored = this.#config.redactor?.(entry) ?? entry;
    await this.#config.store.append(stored);
    return stored;
  }

  /** @param {any} event @param {any[]} [lists] secrets of one run */
  #emit(event, lists = []) {
    const known = [this.#config.compaction?.secrets, this.#config.retry?.secrets, ...lists];
    const shown = redactSecrets(
      event,
      known.flatMap((list) => list ?? []),
    );
    for (const listener of this.#listeners) listener(shown);
  }
}

/** Without results of tools whose calls were compacted: providers refuse them. @param {any[]} messages */
function withCalls(messages) {
  const calls = new Set(
    messages.flatMap(blocksOf).flatMap(({ type, id }) => (type === "tool_call" ? [id] : [])),
  );
  const stays = (/** @type {any} */ { type, toolCallId }) => type !== "tool_result" || calls.has(toolCallId);
  const sound = messages.map((message) => ({ ...message, content: blocksOf(message).filter(stays) }));
  return sound.filter(({ content }) => content.length > 0);
}
