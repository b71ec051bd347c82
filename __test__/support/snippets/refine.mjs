// A large model, and a small one that a server on the loopback plays.

import { createServer } from "node:http";
import { modelOf } from "../provider.mjs";
import { sse } from "../wire.mjs";
import { eventsOf } from "../wire-answers.mjs";

export { preparation } from "./conversation.mjs";

const api = "openai-completions";
const server = createServer((request, response) => {
  request.resume().on("end", () => response.end(sse(eventsOf(api, { text: "# Goal\nPort it." }))));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
server.unref().on("connection", (socket) => socket.unref());
const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());

export const apiKey = "sk-test";
export const mainModel = { contextWindow: 64_000, maxTokens: 8_000 };
export const smallModel = { ...modelOf(api, `http://127.0.0.1:${port}`), contextWindow: 32_000 };
