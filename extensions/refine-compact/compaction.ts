// One compaction: the settings, the model, the run, and what becomes of a failure.

import type {
  ExtensionAPI,
  ExtensionContext,
  SessionBeforeCompactEvent,
} from "@earendil-works/pi-coding-agent";
import { VERSION } from "@earendil-works/pi-coding-agent";
import type { CompactionResult, RefineSettings } from "../../index.js";
import { type Core, loadCore, tellMissing } from "./addon.ts";
import { Ledger, STOCK } from "./ledger.ts";
import { messageOf } from "./message.ts";
import { assertKey, type Model, nameOf, resolveModel } from "./model.ts";
import { readSettings, SETTINGS_NAME, type Settings } from "./settings.ts";
import { tellStep, totalOf } from "./steps.ts";
import { summarizerOf } from "./summarizer.ts";
import type { Turnstile } from "./turnstile.ts";

type Preparation = SessionBeforeCompactEvent["preparation"];
/** `undefined`: pi compacts by itself. */
type Answer = { compaction: CompactionResult<Preparation> } | { cancel: true } | undefined;

interface Hook {
  pi: ExtensionAPI;
  event: SessionBeforeCompactEvent;
  ctx: ExtensionContext;
  turnstile: Turnstile;
  /** Whether this pi draws the ledger's lines. */
  drawn: boolean;
}

/** Never rejects: pi would compact by itself, without a word. */
export async function compaction(hook: Hook): Promise<Answer> {
  const ledger = new Ledger(hook.pi, hook.ctx, hook.drawn);
  const settings = settingsOf(ledger);
  if (settings === undefined || settings.model === null) return undefined;
  const isManual = reasonOf(hook.event) === "manual";
  const core = loadCore();
  if (core instanceof Error) {
    tellMissing(core, ledger);
    return undefined;
  }
  const resolved = resolveModel(settings.model, hook.ctx);
  if ("message" in resolved) {
    ledger.line(STOCK, resolved.message, resolved.level);
    return undefined;
  }
  const run = new Run(hook, core, resolved.model, refineOf(core, settings, ledger), ledger);
  const answer = await hook.turnstile.pass(hook.event.signal, (signal) => run.answer(signal, isManual));
  if (answer !== undefined) return answer.result;
  ledger.notify("Another compaction of this session was running; this one is dropped.", "warning");
  return { cancel: true };
}

class Run {
  readonly #hook: Hook;
  readonly #core: Core;
  readonly #model: Model;
  readonly #refine: RefineSettings;
  readonly #ledger: Ledger;
  /** What pi's client said of the last failure: for the user's eyes alone, since it may hold addresses. */
  #heard = "";

  constructor(hook: Hook, core: Core, model: Model, refine: RefineSettings, ledger: Ledger) {
    this.#hook = hook;
    this.#core = core;
    this.#model = model;
    this.#refine = refine;
    this.#ledger = ledger;
  }

  async answer(signal: AbortSignal, isManual: boolean): Promise<{ result: Answer }> {
    const start = Date.now();
    try {
      assertKey(this.#model, this.#hook.ctx);
      const compaction = await this.#generate(signal, start);
      this.#ledger.line("done", totalOf(compaction.details, Date.now() - start));
      return { result: { compaction } };
    } catch (error) {
      return { result: this.#failed(error, signal, isManual) };
    }
  }

  #generate(signal: AbortSignal, now: number): Promise<CompactionResult<Preparation>> {
    const { event, ctx } = this.#hook;
    const name = nameOf(this.#model);
    const mainModel = ctx.model ?? this.#model;
    return this.#core.generateCompaction({
      strategy: "refine",
      preparation: event.preparation,
      budget: this.#core.contextBudget(mainModel),
      mainModel,
      summarizer: summarizerOf(this.#model, ctx.modelRegistry, (words) => {
        this.#heard = words;
      }),
      refine: this.#refine,
      customInstructions: event.customInstructions,
      dialect: Number.parseInt(VERSION, 10) >= 1 ? "pi-1.6" : "pi-0.87",
      sessionId: ctx.sessionManager.getSessionId(),
      now,
      signal,
      onEvent: (step) => tellStep(this.#ledger, name, step),
    });
  }

  /** A person who asked gets the error and nothing else; an automatic compaction must not leave the context full. */
  #failed(error: unknown, signal: AbortSignal, isManual: boolean): Answer {
    if (signal.aborted) {
      this.#ledger.line("aborted", "given up");
      return { cancel: true };
    }
    const { code = "internal" } = error as { code?: string };
    const then = isManual ? "" : ", so pi compacts by itself";
    this.#ledger.record("failed", `failed: ${code}${then}`);
    const words = `${nameOf(this.#model)} wrote no checkpoint (${code})${then}: ${messageOf(error)}`;
    this.#ledger.notify(`${words}\n${this.#heard}`.trim(), isManual ? "error" : "warning");
    if (isManual) return { cancel: true };
    return undefined;
  }
}

/** `undefined` where the file cannot be used, which is told. */
function settingsOf(ledger: Ledger): Settings | undefined {
  try {
    return readSettings();
  } catch (error) {
    ledger.line(STOCK, `${messageOf(error)}; pi compacts by itself.`, "warning");
    return undefined;
  }
}

function refineOf(core: Core, { refine }: Settings, ledger: Ledger): RefineSettings {
  const { settings, problems } = core.parseRefineSettings(refine);
  for (const { field, expected } of problems) {
    ledger.notify(`${SETTINGS_NAME} ${field}: expected ${expected}; ignored.`, "warning");
  }
  return settings;
}

/** pi 0.74 does not say who asked; there the automatic way has a method of its own. */
function reasonOf(event: SessionBeforeCompactEvent): string {
  const { reason } = event as { reason?: string };
  if (reason !== undefined) return reason;
  return callers().includes("_runAutoCompaction") ? "threshold" : "manual";
}

/** The call stack, whatever the host or another extension has made of stacks. */
function callers(): string {
  const { stackTraceLimit, prepareStackTrace } = Error;
  try {
    Object.assign(Error, { stackTraceLimit: 20, prepareStackTrace: undefined });
    return new Error().stack ?? "";
  } finally {
    Object.assign(Error, { stackTraceLimit, prepareStackTrace });
  }
}
