"use strict";

// The default strategy: a digest of what is older, without a model, and one entry that tells of it.

const { randomUUID } = require("node:crypto");

const { abortSignal, optional, optionalText, required } = require("../arguments.js");
const { binding } = require("../crossing.js");
const { invalidArgument, typedAsync } = require("../errors.js");
const { viewOf } = require("./context.js");
const { branchOf } = require("./entry.js");
const { linesOf } = require("./line.js");
const { countOr, metadataOf, secretsOf } = require("./options.js");

/** @typedef {import("./line.js").Line} Line */

const NAME = "default-compaction";
const KEEP_RECENT_ENTRIES = 8;
const MAX_SUMMARY_CHARS = 4_000;
/** Stands where nothing is older than what is kept: providers refuse an empty text. */
const NOTHING_OLDER = "Nothing is older than the messages that are kept.";

/** @param {any} [given] */
function createDefaultCompactionStrategy(given) {
  const options = optional(given, "options") ?? {};
  const name = optionalText(options.name, "options.name") ?? NAME;
  if (name === "") throw invalidArgument("options.name", "a name");
  const keep = countOr(options.keepRecentEntries, "options.keepRecentEntries", KEEP_RECENT_ENTRIES);
  const most = countOr(options.maxSummaryChars, "options.maxSummaryChars", MAX_SUMMARY_CHARS);
  const secrets = secretsOf(options.secrets, "options.secrets");
  /** @param {any} context */
  const compact = async (context) => {
    const asked = checkedContext(context, { keep, secrets });
    return compaction(asked, { name, most });
  };
  return { name, compact: typedAsync(compact) };
}

/** @param {any} context @param {{ keep: number, secrets: string[] }} defaults */
function checkedContext(context, defaults) {
  const { sessionId, entries, keepRecentEntries, trigger, secrets, metadata, signal } = required(
    context,
    "context",
  );
  if (abortSignal(signal, "context.signal")?.aborted) throw signal.reason;
  if (typeof sessionId !== "string") throw invalidArgument("context.sessionId", "a string");
  metadataOf(metadata, "context.metadata");
  return {
    sessionId,
    branch: branchOf(entries, "context.entries"),
    keep: countOr(keepRecentEntries, "context.keepRecentEntries", defaults.keep),
    trigger: optionalText(trigger, "context.trigger") ?? "manual",
    secrets: [...defaults.secrets, ...secretsOf(secrets, "context.secrets")],
  };
}

/** @param {ReturnType<typeof checkedContext>} asked @param {{ name: string, most: number }} strategy */
function compaction({ sessionId, branch, keep, trigger, secrets }, { name, most }) {
  const { carried, through, messages, uncovered } = viewOf(branch);
  const kept = messages.slice(Math.max(0, messages.length - keep));
  const first = kept.length === 0 ? branch.length : kept[0].place;
  const older = uncovered.filter(({ place }) => place < first);
  const summary = digest(carried, older, secrets, most);
  const [strategy, cause] = binding.masked([name, trigger], secrets);
  const data = {
    ...idOf("throughEntryId", branch[Math.max(first - 1, through)]),
    keepEntryIds: kept.map(({ id }) => id),
    strategy,
    trigger: cause,
  };
  const entry = {
    id: randomUUID(),
    ...idOf("parentId", branch[branch.length - 1]),
    sessionId,
    timestamp: new Date().toISOString(),
    kind: "compaction",
    summary,
    data,
  };
  return { summary, entries: [entry] };
}

/**
 * What is older, in lines behind those of the earlier summary.
 *
 * @param {string | undefined} carried @param {import("./entry.js").Known[]} older
 * @param {string[]} secrets @param {number} most
 */
function digest(carried, older, secrets, most) {
  const told = [...earlierLines(carried ?? "", secrets), ...older.flatMap(linesOf).filter(hasWords)];
  const text = told.some(hasWords) ? digestOf(mostLines(told, most), secrets, most) : "";
  return text === "" ? digestOf([["", NOTHING_OLDER]], secrets, most) : text;
}

/** Masked while it is whole: a secret may have many lines. @param {string} summary @param {string[]} secrets @returns {Line[]} */
function earlierLines(summary, secrets) {
  const [masked] = binding.masked([summary], secrets);
  const lines = masked === "" ? [] : masked.split("\n").filter((line) => line !== NOTHING_OLDER);
  return lines.map((line) => ["", line]);
}

/** @param {Line} line */
function hasWords([, text]) {
  return /\S/.test(text);
}

/** @param {Line[]} lines @param {string[]} secrets @param {number} most */
function digestOf(lines, secrets, most) {
  const [labels, texts] = [lines.map(([label]) => label), lines.map(([, text]) => text)];
  return binding.digestOf(labels, texts, secrets, most);
}

/** Of too many lines those that can be told: the first, and no more of the newest than have room with a letter each. @param {Line[]} lines @param {number} most */
function mostLines(lines, most) {
  const newest = Math.floor(most / 2) + 1;
  return lines.length <= newest ? lines : [lines[0], ...lines.slice(lines.length - newest)];
}

/** @param {string} field @param {import("./entry.js").Known | undefined} known */
function idOf(field, known) {
  return known ? { [field]: known.id } : {};
}

module.exports = { createDefaultCompactionStrategy };
