const binding = require("./binding.js");
const { CompactionError, fromNative, invalidArgument } = require("./js/errors.js");
const { Depth, gather, pass } = require("./js/gather.js");

const NONE = Object.freeze({});
/** Units before which tool results are probed, by dialect. */
const PROBES = { "pi-0.87": binding.probedCap("pi-0.87"), "pi-1.6": binding.probedCap("pi-1.6") };

/** @param {any} options @param {string} name */
function optionsOf(options, name = "options") {
  if (options === undefined) return NONE;
  if (options === null || typeof options !== "object") throw invalidArgument(name, "an object");
  return options;
}

/** @param {any} options */
function probeOf(options) {
  return PROBES[options.dialect ?? "pi-0.87"] ?? 0;
}

/** @param {unknown} messages @param {string} name */
function listOf(messages, name) {
  if (!Array.isArray(messages)) throw invalidArgument(name, "an array of messages");
  return messages;
}

function inputOf(preparation, name) {
  const input = optionsOf(preparation ?? null, name);
  const messagesToSummarize = listOf(input.messagesToSummarize, `${name}.messagesToSummarize`);
  const split = input.isSplitTurn === true;
  const turnPrefixMessages = split
    ? listOf(input.turnPrefixMessages ?? [], `${name}.turnPrefixMessages`)
    : [];
  const previousSummary = input.previousSummary ?? "";
  if (typeof previousSummary !== "string") throw invalidArgument(`${name}.previousSummary`, "a string");
  return { messagesToSummarize, turnPrefixMessages, previousSummary };
}

function measured(preparation, options, use) {
  const { messagesToSummarize, turnPrefixMessages, previousSummary } = inputOf(preparation, "preparation");
  return gather(
    { messagesToSummarize, turnPrefixMessages },
    { depth: Depth.PRINTED, probe: probeOf(options) },
    (records, [history, words], strings) => {
      let at = 0;
      pass(strings, (batch) => {
        at = binding.measure(records, at, ...batch);
      });
      return use(records, { history, words, previous: previousSummary.length });
    },
  );
}

function compactionSummaryWouldExceedBudget(preparation, budget, summaryModel, options) {
  try {
    const chosen = optionsOf(options);
    const limits = optionsOf(budget ?? null, "budget");
    const model = optionsOf(summaryModel, "summaryModel");
    return measured(preparation, chosen, (records, input) =>
      binding.exceedsBudget(records, input, limits, model, chosen),
    );
  } catch (error) {
    throw fromNative(error);
  }
}

function serializeConversation(messages, options) {
  try {
    const chosen = optionsOf(options);
    return gather(
      { messages: listOf(messages, "messages") },
      { depth: Depth.TEXT, probe: 0 },
      (records, [words], strings) => {
        const store = binding.store(records, words, false);
        pass(strings, (batch) => binding.read(store, ...batch));
        return binding.conversationText(store, chosen);
      },
    );
  } catch (error) {
    throw fromNative(error);
  }
}

function tokensOf(messages, options) {
  return gather({ messages }, { depth: Depth.COUNTED, probe: 0 }, (records, [words], strings) => {
    let at = 0;
    pass(strings, (batch) => {
      at = binding.measure(records, at, ...batch);
    });
    return binding.messageTokens(records, words, options);
  });
}

function estimateTokens(message, options) {
  return tokensOf([message], optionsOf(options))[0];
}

module.exports = {
  CompactionError,
  compactionSummaryWouldExceedBudget,
  serializeConversation,
  estimateTokens,
};
