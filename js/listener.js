"use strict";

// A host's listeners, which hear of things and break nothing.

/** A listener that throws or rejects hears no less. @param {{ hear(event: any): void }} asked @param {unknown} event */
function tell(asked, event) {
  try {
    leave(asked.hear(event));
  } catch {}
}

/** Whatever becomes of a promise that nobody waits for. @param {any} answer */
function leave(answer) {
  if (typeof answer?.then === "function") Promise.resolve(answer).catch(() => {});
}

module.exports = { leave, tell };
