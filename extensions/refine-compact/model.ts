// Who summarizes.

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";

export type Model = NonNullable<ExtensionContext["model"]>;

/** A model, or why this compaction is pi's own. */
export type Resolved = { model: Model } | { level: "info" | "warning"; message: string };

/** One that pi itself routes from request to request: there is no window to plan for. */
export const isVirtual = (model: { api: string }): boolean => model.api === "pi-virtual";

/** The model of a choice that is not `null`; nobody else is put in its place. */
export function resolveModel(choice: string, ctx: ExtensionContext): Resolved {
  const model = choice === "session" ? ctx.model : find(choice, ctx);
  if (model === undefined) {
    return choice === "session"
      ? { level: "info", message: "No chat model is selected, so pi compacts by itself." }
      : {
          level: "warning",
          message: `${choice} is no model of pi any more, so pi compacts by itself. /compact-model chooses another.`,
        };
  }
  if (isVirtual(model)) {
    const message = `${nameOf(model)} is a virtual model, which cannot summarize here, so pi compacts by itself.`;
    return { level: "warning", message };
  }
  return { model };
}

/** A request without a key would fail too, but not say why. */
export function assertKey(model: Model, ctx: ExtensionContext): void {
  if (ctx.modelRegistry.hasConfiguredAuth(model)) return;
  const message = `pi has neither key nor login for ${model.provider}; /login gives one`;
  throw Object.assign(new Error(message), { code: "summary_provider" });
}

export const nameOf = (model: { provider: string; id: string }): string => `${model.provider}/${model.id}`;

/** By its whole name: the name of a provider may have a slash in it, as ids have. */
function find(choice: string, ctx: ExtensionContext): Model | undefined {
  return ctx.modelRegistry.getAll().find((model) => nameOf(model) === choice);
}
