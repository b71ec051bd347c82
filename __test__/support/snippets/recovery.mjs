// What `compactWithRecovery` takes beside a conversation, and a place for its checkpoint.

import { client } from "../model.mjs";

export * from "./conversation.mjs";

export const { summarizer } = client(["# Goal\nPort it."]);
export const fixedTokens = 2_000;
export const pendingMessages = [{ role: "user", content: "Go on.", timestamp: 999 }];
export const previousCheckpoint = { summary: "The lexer is ported.", details: {} };

/** @param {{ summary: string }} checkpoint */
export async function save({ summary }) {
  if (!summary.includes("Port it")) throw new Error(`no checkpoint of the model: ${summary}`);
}
