// LiteLLM's configuration, in front of the loopback provider.

import { BEHAVIOURS, SUMMARY } from "./upstream.mjs";

/** Answered by LiteLLM itself, with no provider behind it. */
export const MOCKS = Object.freeze({
  success: SUMMARY,
  "rate-limit": "litellm.RateLimitError",
  overflow: "litellm.ContextWindowExceededError",
});

/** Providers as LiteLLM names them: it speaks to each in that provider's own wire format. */
export const PROVIDERS = Object.freeze(/** @type {const} */ (["openai", "anthropic"]));

/**
 * The name of a model at LiteLLM. It stands in the texts of errors, where a telling one would help a classifier.
 *
 * @param {"openai" | "anthropic" | "mock"} source @param {string} behaviour
 */
export function modelName(source, behaviour) {
  const behaviours = source === "mock" ? Object.keys(MOCKS) : BEHAVIOURS;
  return `${source}-${behaviours.indexOf(behaviour) + 1}`;
}

/** Keeps LiteLLM from asking the network for its price tables and the like. */
export const LITELLM_ENV = Object.freeze({
  LITELLM_LOCAL_MODEL_COST_MAP: "True",
  LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS: "True",
  LITELLM_LOCAL_AUTOROUTER_PRESETS: "True",
  LITELLM_LOCAL_BLOG_POSTS: "True",
  LITELLM_LOCAL_POLICY_TEMPLATES: "True",
  NO_PROXY: "127.0.0.1",
});

/** The file's text: YAML, of which JSON is a part. @param {string} upstream its URL */
export function litellmConfig(upstream) {
  const behind = PROVIDERS.flatMap((provider) =>
    BEHAVIOURS.map((name) => model(modelName(provider, name), provider, name, upstream)),
  );
  const mocked = Object.entries(MOCKS).map(([name, mock_response]) =>
    model(modelName("mock", name), "openai", "success", upstream, { mock_response }),
  );
  const config = {
    model_list: [...behind, ...mocked],
    // Repeats are the addon's, and a model must not be put aside because it failed on purpose.
    router_settings: { num_retries: 0, disable_cooldowns: true },
    litellm_settings: { num_retries: 0, telemetry: false, request_timeout: 60 },
    general_settings: { disable_spend_logs: true },
  };
  return JSON.stringify(config, undefined, 2);
}

/** @param {string} name @param {string} provider @param {string} behaviour @param {string} upstream @param {object} more */
function model(name, provider, behaviour, upstream, more = {}) {
  const api_base = provider === "openai" ? `${upstream}/v1` : upstream;
  const own = { model: `${provider}/${behaviour}`, api_base, api_key: "loopback-key", max_retries: 0 };
  return { model_name: name, litellm_params: { ...own, ...more } };
}
