import { failed, prepared } from "./model.mjs";
import { frozen } from "./random.mjs";
import { isCompression, modelOf, refined, turns } from "./refine.mjs";

export const SESSION = "the session";
export const LIMITS = frozen({ contextWindow: 32_768, maxTokens: 8_192 });
/** Sixteen turns, each of which needs a request of its own, in refine and in a chain. */
const TURNS = frozen(turns(16, 20_000));

/**
 * A run of a session over sixteen chunks. The same summary comes of it whichever requests are made again.
 *
 * @param {{ strategy?: string, failsAt?: number, limits?: object, rule?: (call: any) => any, more?: object,
 *   preparation?: object }} how
 *   `failsAt`: the index of the first request that fails for good
 */
export function sixteen({ strategy = "refine", failsAt, limits, rule, more, preparation }) {
  const answer = (/** @type {any} */ made) => {
    if (failsAt !== undefined && made.index >= failsAt) return failed("401 invalid x-api-key");
    if (rule !== undefined) return rule(made);
    return isCompression(made) ? "SHORT" : `about ${/⟦\d+⟧/.exec(made.prompt)?.[0]}`;
  };
  const charsPerToken = 3;
  const request = { strategy, sessionId: SESSION, charsPerToken, ...more };
  return refined(modelOf(answer, { ...LIMITS, ...limits }), prepared(TURNS, preparation), request);
}
