// pi as an extension sees it: when the snippet has registered, a compaction runs through what it registered.

import assert from "node:assert/strict";
import { says } from "../model.mjs";
import { model, preparation, signal } from "./conversation.mjs";

/** @typedef {import("../../oracle/node_modules/pi-1.6/dist/index.js").ExtensionAPI} ExtensionAPI */

/** @type {Map<string, (event: any, context: any) => any>} */
const handlers = new Map();

export const pi = /** @type {ExtensionAPI} */ (
  /** @type {unknown} */ ({
    on(/** @type {string} */ event, /** @type {any} */ handler) {
      handlers.set(event, handler);
    },
  })
);

export async function afterwards() {
  const modelRegistry = { streamSimple: () => ({ result: async () => says("# Goal\nPort it.") }) };
  const event = { preparation: { ...preparation, firstKeptEntryId: "e1" }, signal };
  const handle = handlers.get("session_before_compact");
  assert.ok(handle, "the snippet listens to compactions");
  const { compaction } = await handle(event, { model, modelRegistry });
  assert.match(compaction.summary, /Port it/);
  assert.equal(compaction.firstKeptEntryId, "e1");
}
