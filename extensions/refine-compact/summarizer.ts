// Requests go the way of pi's own, so that each of its providers, logins and proxies serves.

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { CallbackSummarizer, SummaryAnswer, SummaryCallOptions, SummaryContext } from "../../index.js";
import { heardOf } from "./heard.ts";
import { messageOf } from "./message.ts";
import type { Model } from "./model.ts";

type Registry = ExtensionContext["modelRegistry"];
type Complete = CallbackSummarizer["complete"];
type Stream = (
  model: Model,
  context: SummaryContext,
  options: SummaryCallOptions,
) => { result(): Promise<SummaryAnswer> };
type CompleteSimple = (
  model: Model,
  context: SummaryContext,
  options: SummaryCallOptions & { apiKey?: string | undefined; headers?: object | undefined },
) => Promise<SummaryAnswer>;

/** @param hear what pi's client said of a request that failed; nothing of one that did not */
export function summarizerOf(
  model: Model,
  registry: Registry,
  hear: (words: string) => void,
): CallbackSummarizer {
  const { streamSimple } = registry as { streamSimple?: Stream };
  const ask: Complete = streamSimple
    ? (context, options) => streamSimple.call(registry, model, context, options).result()
    : (context, options) => completeWithKey(model, registry, context, options);
  const complete: Complete = async (context, options) => {
    const tell = async (said: string) =>
      hear(heardOf(said, JSON.stringify(context), await secretsOf(model, registry)));
    try {
      const answer = await ask(context, options);
      if (answer.stopReason === "error") await tell(answer.errorMessage ?? "");
      else hear("");
      return answer;
    } catch (error) {
      await tell(messageOf(error));
      throw error;
    }
  };
  return { kind: "callback", model, complete };
}

/** Keys and headers of a request to the model. */
async function secretsOf(model: Model, registry: Registry): Promise<string[]> {
  try {
    const auth = await registry.getApiKeyAndHeaders(model);
    if (!auth.ok) return [];
    const headers = Object.values(auth.headers ?? {}).filter((value) => typeof value === "string");
    return auth.apiKey === undefined ? headers : [...headers, auth.apiKey];
  } catch {
    return [];
  }
}

/** pi 0.74: its registry knows keys and headers, and pi-ai makes the request. */
async function completeWithKey(
  model: Model,
  registry: Registry,
  ...[context, options]: Parameters<Complete>
) {
  const { completeSimple } = (await import("@earendil-works/pi-ai")) as unknown as {
    completeSimple: CompleteSimple;
  };
  const auth = await registry.getApiKeyAndHeaders(model);
  if (!auth.ok) throw new Error(auth.error);
  return completeSimple(model, context, { ...options, apiKey: auth.apiKey, headers: auth.headers });
}
