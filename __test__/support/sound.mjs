import { random } from "./random.mjs";
import { text } from "./texts.mjs";

/** @typedef {import("./random.mjs").Random} Random */
/** @typedef {import("./transcripts.mjs").Message} Message */

// Transcripts that a provider would take: every call answered, every result called for.

const LABEL = "[User]: ".length;

/** A user message that prints as this many units, label included. @param {number} units @returns {Message} */
export function userOfUnits(units) {
  return { role: "user", content: "x".repeat(units - LABEL) };
}

/** @param {number} tokens */
export function userOfTokens(tokens) {
  return userOfUnits(tokens * 4);
}

/** Messages that print as exactly this many units together. @param {number} count @param {number} units */
export function exchange(count, units) {
  const joint = 2;
  const each = Math.floor(units / count) - joint;
  const rest = units - (count - 1) * (each + joint);
  return Array.from({ length: count }, (_, index) => userOfUnits(index === count - 1 ? rest : each));
}

/** @param {string} id @param {unknown} args @returns {Message} */
export function call(id, args = { path: "src/a.ts" }) {
  const content = [{ type: "toolCall", id, name: "read", arguments: args }];
  return { role: "assistant", content, stopReason: "toolUse" };
}

/** @param {string} toolCallId @param {string} output @returns {Message} */
export function result(toolCallId, output = "done") {
  const content = [{ type: "text", text: output }];
  return { role: "toolResult", toolCallId, toolName: "read", isError: false, content };
}

/** @param {string} words @param {string} stopReason @returns {Message} */
export function answer(words, stopReason = "stop") {
  return { role: "assistant", content: [{ type: "text", text: words }], stopReason };
}

/** Calls with their results. @param {number} count @param {string} output @returns {Message[]} */
export function toolCalls(count, output) {
  return Array.from({ length: count }, (_, index) => [call(`c${index}`), result(`c${index}`, output)]).flat();
}

/** One assistant message with calls, and all their results. @param {Random} rng @param {string} id */
function callGroup(rng, id) {
  const calls = rng.list(1, 3, (index) => ({
    type: "toolCall",
    id: `${id}-${index}`,
    name: rng.pick(["read", "Bash", "edit"]),
    arguments: { path: `src/${id}.ts`, note: text(rng, rng.chance(0.05) ? 600 : 8) },
  }));
  const spoken = rng.chance(0.5) ? [{ type: "text", text: text(rng) }] : [];
  const thought = rng.chance(0.4) ? [{ type: "thinking", thinking: text(rng, 20) }] : [];
  const message = { role: "assistant", content: [...thought, ...spoken, ...calls], stopReason: "toolUse" };
  const results = calls.map(({ id: of }) => result(of, text(rng, rng.chance(0.3) ? 800 : 10)));
  return [message, ...results];
}

/** @param {Random} rng @returns {Message} */
function opening(rng) {
  const words = text(rng, rng.chance(0.1) ? 600 : 12);
  return rng.pick([
    { role: "user", content: `go ${words}` },
    { role: "user", content: [{ type: "text", text: `go ${words}` }] },
    {
      role: "user",
      content: [
        { type: "text", text: "see" },
        { type: "image", data: "aGk=", mimeType: "image/png" },
      ],
    },
    { role: "bashExecution", command: "ls", output: words, exitCode: 0, cancelled: false, truncated: false },
    { role: "custom", customType: "note", content: `note ${words}`, display: true },
    { role: "branchSummary", summary: `branch ${words}`, fromId: "b" },
  ]);
}

/** @param {number} seed @param {number} most turns @returns {Message[]} */
export function soundTranscript(seed, most = 8) {
  const rng = random(seed ^ 0x5eed);
  return rng
    .list(1, most, (turn) => [
      opening(rng),
      ...rng.list(0, 4, (group) => callGroup(rng, `t${turn}g${group}`)).flat(),
      ...(rng.chance(0.8) ? [answer(`did ${text(rng, 10)}`)] : []),
    ])
    .flat();
}
