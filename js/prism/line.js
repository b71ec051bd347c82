"use strict";

// What a digest says of an entry: a label and words, never a tool's result, metadata or settings (requirement E125).

const { printed } = require("../values.js");
const { messageOf, summaryOf } = require("./entry.js");

/** @typedef {readonly [label: string, text: string]} Line */

/** @param {import("./entry.js").Known} known @returns {Line[]} */
function linesOf(known) {
  const { kind, entry } = known;
  if (kind === "message") return messageLines(messageOf(known));
  if (kind === "summary") return [["summary", summaryOf(known)]];
  if (kind === "label") return [["label", text(entry.label)]];
  if (kind === "model_change") return [["model", modelName(entry.model)]];
  return [];
}

/** Roles whose words are part of a digest. */
const SPEAKERS = new Set(["user", "assistant"]);

/** @param {any} message @returns {Line[]} */
function messageLines({ role, content }) {
  const speaks = SPEAKERS.has(role);
  if (typeof content === "string") return speaks ? [[role, content]] : [];
  const blocks = Array.from(content).filter((block) => block !== null && typeof block === "object");
  const words = speaks ? blocks.filter(({ type }) => type === "text") : [];
  return [[role, words.map((block) => text(block.text)).join("\n")], ...blocks.flatMap(toolLines)];
}

/** @param {any} block @returns {Line[]} */
function toolLines(block) {
  if (block.type === "tool_call") return [["tool call", text(block.name)]];
  if (block.type !== "tool_result") return [];
  return [["tool result", `${text(block.name)}${block.error ? " (failed)" : ""}`]];
}

/** @param {any} model */
function modelName(model) {
  const { provider, model: name } = model ?? {};
  return [provider, name].filter((part) => typeof part === "string").join("/");
}

/** @param {unknown} value */
function text(value) {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : printed(value);
}

module.exports = { linesOf };
