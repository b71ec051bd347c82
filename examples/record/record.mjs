// Records examples/session.jsonl: the real pi, driven by a scripted model.
//
//   npm i --force @earendil-works/pi-coding-agent@0.74.2     (in a scratch folder; 0.74.2 runs on Node 20)
//   node examples/record/record.mjs SCRATCH/node_modules/@earendil-works/pi-coding-agent/dist/cli.js
//
// Needed besides: git, tar, cargo with clippy and rustfmt, and on the PATH `rg` and `fd` (or `fdfind`), which pi
// would otherwise download. Works in /workspace, or in the folder named by a second argument; it must not exist.
// A third argument names the revision whose files pi works on (default HEAD).

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ScriptedModel } from "./model.mjs";
import { Pi } from "./pi.mjs";
import { dialogue } from "./script.mjs";
import { configure, createWorkspace, environment, MODEL } from "./workspace.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const TARGET = join(HERE, "..", "session.jsonl");
const OPTIONS = ["--model", `local/${MODEL.id}`, "--no-skills", "--no-prompt-templates", "--no-extensions"];
const TOOLS = ["--tools", "read,bash,edit,write,grep,find,ls"];

/** The dialogue in turns: what the person does, and what the model answers. */
function* turns() {
  let at = 0;
  while (at < dialogue.length) {
    const person = /** @type {import("./say.mjs").Person} */ (dialogue[at++]);
    const answers = [];
    for (let line = dialogue[at]; line?.kind === "answer"; line = dialogue[++at]) answers.push(line);
    yield { person, answers };
  }
}

/** @param {Pi} pi @param {ScriptedModel} model */
async function play(pi, model) {
  for (const { person, answers } of turns()) {
    if (person.kind === "shell") {
      await pi.ask({ type: "bash", command: person.command });
      continue;
    }
    model.expect(answers);
    await pi.ask({ type: "prompt", message: person.text });
    const done = () => model.waiting === 0;
    const end = answers.at(-1)?.end;
    if (end) await interrupt(pi, done, end === "stopped");
    await pi.idle(done);
    console.log(`${answers.length} answers to: ${person.text.slice(0, 60).replaceAll("\n", " ")}`);
  }
}

/** Interrupts the last answer of a turn. @param {Pi} pi @param {() => boolean} asked @param {boolean} tools */
async function interrupt(pi, asked, tools) {
  while (!asked()) await pi.event(tools ? "tool_execution_start" : "message_update");
  await delay(2_500);
  await pi.ask({ type: "abort" });
}

/** Replaces this machine's folders; nothing else is changed. @param {string} text @param {string} root */
function neutral(text, root) {
  return text.replaceAll(root, "/workspace").replaceAll(homedir(), "/home/dev");
}

/** Stops where a tool answered otherwise than the script says. @param {any[]} entries @param {ScriptedModel} model */
function check(entries, model) {
  const results = entries.flatMap((entry) => (entry.message?.role === "toolResult" ? [entry.message] : []));
  const faults = results
    .filter(({ toolCallId, isError }) => isError !== Boolean(model.calls.get(toolCallId)?.fails))
    .map(({ toolCallId, isError, content }) => {
      const call = JSON.stringify(model.calls.get(toolCallId)).slice(0, 200);
      return `${call} ${isError ? "failed" : "did not fail"}: ${content[0]?.text}`;
    });
  if (faults.length > 0) throw new Error(faults.join("\n\n"));
}

/** The lines of a session file. @param {string} text @returns {any[]} */
const parse = (text) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

/** @param {string} cli @param {string} root @param {string} revision */
async function record(cli, root, revision) {
  const place = createWorkspace(root, revision, HERE);
  const model = new ScriptedModel();
  configure(join(root, "agent"), await model.listen());
  const sessions = join(root, "sessions");
  const pi = new Pi(cli, [...OPTIONS, ...TOOLS, "--session-dir", sessions], place);
  await pi.ask({ type: "set_session_name", name: "Record protocol: checks, tests, a page" });
  await play(pi, model);
  await pi.close();
  model.close();
  const [file] = readdirSync(sessions);
  const text = neutral(readFileSync(join(sessions, file), "utf8"), root);
  writeFileSync(TARGET, text);
  check(parse(text), model);
  return text;
}

/** pi opens a copy of the recording and compacts it. @param {string} cli @param {string} text */
async function reopen(cli, text) {
  const root = mkdtempSync(join(tmpdir(), "reopen-"));
  const copy = join(root, "session.jsonl");
  const [header, ...rest] = parse(text);
  writeFileSync(
    copy,
    `${[{ ...header, cwd: root }, ...rest].map((entry) => JSON.stringify(entry)).join("\n")}\n`,
  );
  const model = new ScriptedModel();
  // A folder of its own: pi moves session files that lie in its agent folder.
  mkdirSync(join(root, "agent"));
  configure(join(root, "agent"), await model.listen());
  const pi = new Pi(cli, [...OPTIONS, "--session", copy], { cwd: root, env: environment(root) });
  const { messages } = await pi.ask({ type: "get_messages" });
  // Two: one for the history, one for a turn that the cut splits.
  const summary = {
    kind: /** @type {const} */ ("answer"),
    text: "## Goal\n\nChecks for the protocol.",
    calls: [],
  };
  model.expect([summary, summary]);
  const compaction = await pi.ask({ type: "compact" });
  await pi.close();
  model.close();
  const { type } = parse(readFileSync(copy, "utf8")).at(-1);
  rmSync(root, { recursive: true });
  if (messages.length === 0 || type !== "compaction") throw new Error("pi does not take the recording");
  const { tokensBefore, firstKeptEntryId } = compaction;
  return { messages: messages.length, requests: 2 - model.waiting, tokensBefore, firstKeptEntryId };
}

const [cli, root = "/workspace", revision = "HEAD"] = process.argv.slice(2);
if (!cli) throw new Error("usage: node examples/record/record.mjs PI_CLI [FOLDER [REVISION]]");
const text = await record(resolve(cli), resolve(root), revision);
console.log(`${TARGET}: ${Buffer.byteLength(text)} bytes`);
console.log("reopened by pi:", await reopen(resolve(cli), text));
