"use strict";

/** The codes that native calls answer with; anything else that they throw is a fault of this package. */
const CODES = new Set(["invalid_argument", "no_new_history", "summary_budget", "session_file"]);

class CompactionError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {{ cause?: unknown }} [options]
   */
  constructor(code, message, options) {
    super(message, options);
    this.code = code;
  }

  toJSON() {
    const { name, code, message } = this;
    return { name, code, message };
  }
}
Object.defineProperty(CompactionError.prototype, "name", {
  value: "CompactionError",
  configurable: true,
  writable: true,
});

/** @param {string} argument @param {string} expected */
function invalidArgument(argument, expected) {
  return new CompactionError("invalid_argument", `${argument}: expected ${expected}`);
}

/** What a native call threw, as the error that users get. @param {any} thrown */
function fromNative(thrown) {
  if (thrown instanceof CompactionError) return thrown;
  if (CODES.has(thrown?.code)) return new CompactionError(thrown.code, thrown.message);
  return new CompactionError(
    "internal",
    `a fault of pi-compaction-native, not of your input: ${thrown?.message ?? thrown}; please report it with the version and the call`,
    { cause: thrown },
  );
}

/**
 * The function with its native errors typed.
 *
 * @template {(...args: any[]) => any} F
 * @param {F} call
 * @returns {F}
 */
function typed(call) {
  const named = {
    [call.name](...args) {
      try {
        return call(...args);
      } catch (error) {
        throw fromNative(error);
      }
    },
  };
  return /** @type {F} */ (named[call.name]);
}

/** The same for a function that answers with a promise: it never throws synchronously. */
function typedAsync(call) {
  const named = {
    async [call.name](request) {
      try {
        return await call(request);
      } catch (error) {
        throw request?.signal?.aborted ? request.signal.reason : fromNative(error);
      }
    },
  };
  return named[call.name];
}

module.exports = { CompactionError, fromNative, invalidArgument, typed, typedAsync };
