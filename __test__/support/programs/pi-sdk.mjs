// pi inside a program: compactions by its SDK, a command a line, an answer a line.
// node pi-sdk.mjs PI_ENTRY EXTENSION CWD AGENT_DIR

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [entry, extension, cwd, agentDir] = process.argv.slice(2);
const { createAgentSession, DefaultResourceLoader, SessionManager } = await import(pathToFileURL(entry).href);

/** @param {string} file */
async function open(file) {
  const none = {
    noExtensions: true,
    noSkills: true,
    noPromptTemplates: true,
    noThemes: true,
    noContextFiles: true,
  };
  const options = { cwd, agentDir, additionalExtensionPaths: [extension], ...none };
  const resourceLoader = new DefaultResourceLoader(options);
  await resourceLoader.reload();
  const sessionManager = SessionManager.open(file);
  const { session } = await createAgentSession({ cwd, agentDir, sessionManager, resourceLoader });
  const told = [];
  const thrown = resourceLoader.getExtensions().errors.map(({ error }) => error);
  const notify = (message, type) => told.push({ message, type });
  await session.bindExtensions({ uiContext: { notify }, onError: ({ error }) => thrown.push(error) });
  return { session, told, thrown };
}

/** What pi hands its extensions, without a chat model, which it never compacts with by itself. @param {any} session */
async function withoutModel(session) {
  session.agent.state.model = undefined;
  const preparation = {
    messagesToSummarize: [],
    turnPrefixMessages: [],
    firstKeptEntryId: "1",
    tokensBefore: 1,
  };
  const { signal } = new AbortController();
  const event = { type: "session_before_compact", preparation, branchEntries: [], reason: "manual", signal };
  return (await session.extensionRunner.emit(event)) ?? null;
}

let current;
const doing = {
  compact: ({ session }) => session.compact(),
  "compact without a model": ({ session }) => withoutModel(session),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { command, file } = JSON.parse(line);
  if (command === "abort") {
    current.session.abortCompaction();
    continue;
  }
  current?.session.dispose();
  current = await open(file);
  const { told, thrown } = current;
  doing[command](current).then(
    (answer) => console.log(JSON.stringify({ answer, told, thrown })),
    (error) => console.log(JSON.stringify({ error: error.message, told, thrown })),
  );
}
current?.session.dispose();
