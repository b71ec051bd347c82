"use strict";

// Entries of a session file as the messages that pi 1.6 would send.

/**
 * @param {any} entry @param {any} edit the entry whose content takes the place of its own
 * @param {{ isSummary: boolean, hookRole: boolean }} of
 */
function messageOf(entry, edit, { isSummary, hookRole }) {
  const message = isSummary ? summaryOf(entry) : ownMessage(entry, hookRole);
  return message && edit ? edited(message, edit.replacement) : message;
}

/** @param {any} entry */
function summaryOf({ summary, tokensBefore, timestamp }) {
  return { role: "compactionSummary", summary, tokensBefore, timestamp: timeOf(timestamp) };
}

/** @param {any} entry @param {boolean} hookRole whether extension messages still have their old role */
function ownMessage(entry, hookRole) {
  switch (entry.type) {
    case "message":
      return sent(
        hookRole && entry.message?.role === "hookMessage"
          ? { ...entry.message, role: "custom" }
          : entry.message,
      );
    case "custom_message": {
      const { customType, content, display, details, timestamp } = entry;
      return {
        role: "custom",
        customType,
        content: content ?? [],
        display,
        details,
        timestamp: timeOf(timestamp),
      };
    }
    case "branch_summary": {
      const { summary, fromId, timestamp } = entry;
      return summary ? { role: "branchSummary", summary, fromId, timestamp: timeOf(timestamp) } : undefined;
    }
    default:
      return entry.systemMessage || undefined;
  }
}

/** A stored message as pi sends it: absent content made empty. Undefined where a line holds none by now. @param {any} message */
function sent(message) {
  if (message === null || typeof message !== "object") return undefined;
  if (message.content !== null && message.content !== undefined) return message;
  if (message.role === "system") return { ...message, content: "" };
  const isListed = ["user", "assistant", "toolResult"].includes(message.role);
  return isListed ? { ...message, content: [] } : message;
}

/** A message with the content of an edit in place of its own, where its role takes one. */
function edited(/** @type {any} */ message, /** @type {any} */ replacement) {
  if (replacement === null) return undefined;
  const isListed = message.role === "assistant" || message.role === "toolResult";
  if (!isListed && message.role !== "user" && message.role !== "custom") return message;
  const { content } = replacement ?? {};
  return {
    ...message,
    content: isListed && typeof content === "string" ? [{ type: "text", text: content }] : content,
  };
}

/** @param {any} timestamp */
function timeOf(timestamp) {
  return new Date(timestamp).getTime();
}

module.exports = { messageOf };
