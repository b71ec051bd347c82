"use strict";

/** The codes that native calls answer with; anything else that they throw is a fault of this package. */
const CODES = new Set([
  "invalid_argument",
  "no_new_history",
  "summary_budget",
  "unsupported_api",
  "session_file",
]);

class CompactionError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {{ cause?: unknown, status?: number, retryable?: boolean, attempts?: number, providerCode?: string }}
   *   [options]
   */
  constructor(code, message, options = {}) {
    const { cause, ...request } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    for (const [field, value] of Object.entries(request)) if (value !== undefined) this[field] = value;
  }

  toJSON() {
    const { name, code, message, status, attempts, retryable } = this;
    return { name, code, message, status, attempts, retryable };
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

/** Codes behind which stands what the host's own client threw. */
const FROM_CLIENT = new Set(["summary_provider", "context_overflow"]);

/** A failure that crossed as data. @param {any} failure @param {unknown} thrown by the host's client */
function fromFailure({ code, message, ...request }, thrown) {
  if (code === "internal") return fault(message, undefined);
  const cause = FROM_CLIENT.has(code) ? thrown : undefined;
  return new CompactionError(code, message, { ...request, cause });
}

/** What was thrown on the way, as the error that users get. @param {any} thrown */
function fromNative(thrown) {
  if (thrown instanceof CompactionError) return thrown;
  const code = codeOf(thrown);
  if (CODES.has(code)) return new CompactionError(code, thrown.message);
  if (STATUSES.has(code)) return fault(thrown.message, thrown);
  const message =
    "arguments: expected values that can be read; see the cause for what was thrown while reading them";
  return new CompactionError("invalid_argument", message, { cause: thrown });
}

/** Statuses of Node-API, which only native calls throw. */
const STATUSES = new Set([
  "internal",
  "GenericFailure",
  "InvalidArg",
  "ObjectExpected",
  "StringExpected",
  "NameExpected",
  "FunctionExpected",
  "NumberExpected",
  "BooleanExpected",
  "ArrayExpected",
  "BigintExpected",
  "DateExpected",
  "ArrayBufferExpected",
  "Closing",
  "QueueFull",
]);

/** @param {any} thrown */
function codeOf(thrown) {
  try {
    return thrown?.code;
  } catch {
    return undefined;
  }
}

/** @param {unknown} what @param {unknown} cause */
function fault(what, cause) {
  const message = `a fault of pi-compaction-native, not of your input: ${what}; please report it with the version and the call`;
  return new CompactionError("internal", message, { cause });
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

/** Why a call was given up, if it was. @param {any} request which may refuse to be read */
function abortOf(request) {
  try {
    const signal = request?.signal;
    return signal?.aborted ? { reason: signal.reason } : undefined;
  } catch {
    return undefined;
  }
}

/** The same for a function that answers with a promise: it never throws synchronously. */
function typedAsync(call) {
  const named = {
    async [call.name](...args) {
      try {
        return await call(...args);
      } catch (error) {
        // A request holds its signal; other functions take theirs in options behind it.
        const abort = abortOf(args[0]) ?? abortOf(args[1]);
        throw abort ? abort.reason : fromNative(error);
      }
    },
  };
  return named[call.name];
}

/** @param {() => any} module */
function loaded(module) {
  try {
    return module();
  } catch (cause) {
    const message = "a file of pi-compaction-native is gone or of another version; start this program again";
    throw new CompactionError("internal", message, { cause });
  }
}

/**
 * A function of a module that is asked for at its first call.
 *
 * @param {() => any} module @param {string} name
 */
function later(module, name) {
  /** @type {((...args: unknown[]) => unknown) | undefined} */
  let call;
  const named = {
    [name](/** @type {unknown[]} */ ...args) {
      call ??= loaded(module)[name];
      return /** @type {any} */ (call)(...args);
    },
  };
  return named[name];
}

module.exports = {
  CompactionError,
  abortOf,
  fromFailure,
  fromNative,
  invalidArgument,
  later,
  typed,
  typedAsync,
};
