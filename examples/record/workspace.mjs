// The folder in which pi works: a copy of the repository's files, with a home and an agent folder of its own.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** The one model of the session. */
export const MODEL = { id: "scripted", reasoning: true, contextWindow: 200_000, maxTokens: 16_384 };

/** @param {string} root a folder that does not exist yet @param {string} revision of the repository around `from` */
export function createWorkspace(root, revision, from) {
  const at = (/** @type {string} */ name) => join(root, name);
  mkdirSync(root);
  for (const name of ["pi-compaction-native", "home", "agent", "tmp"]) mkdirSync(at(name));
  const place = { cwd: at("pi-compaction-native"), env: environment(root) };
  const top = execFileSync("git", ["rev-parse", "--show-toplevel"], { cwd: from, encoding: "utf8" }).trim();
  const archive = execFileSync("git", ["archive", revision, ".", ":!examples"], {
    cwd: top,
    maxBuffer: 2 ** 28,
  });
  execFileSync("tar", ["-x"], { ...place, input: archive });
  const user = "[user]\n\tname = dev\n\temail = dev@example.com\n[init]\n\tdefaultBranch = main\n";
  writeFileSync(join(at("home"), ".gitconfig"), user);
  for (const args of [["init"], ["add", "."], ["commit", "-m", "Start"]]) {
    execFileSync("git", args, { ...place, stdio: "ignore" });
  }
  build(place);
  return place;
}

/** Builds the dependencies beforehand, so that the session holds no page of their names. */
function build(/** @type {{ cwd: string, env: NodeJS.ProcessEnv }} */ place) {
  const online = { ...place, env: { ...place.env, CARGO_NET_OFFLINE: "false" } };
  const cargo = (/** @type {string[]} */ ...args) =>
    execFileSync("cargo", args, { ...online, stdio: ["ignore", "ignore", "inherit"] });
  cargo("test", "-q", "--no-default-features", "--lib", "--no-run");
  cargo("clippy", "-q", "--no-default-features", "--all-targets", "--", "-A", "warnings");
}

/** @param {string} root @returns {NodeJS.ProcessEnv} */
export function environment(root) {
  const { PATH, CARGO_HOME, RUSTUP_HOME } = process.env;
  return {
    PATH,
    HOME: join(root, "home"),
    USER: "dev",
    LOGNAME: "dev",
    LANG: "C.UTF-8",
    TMPDIR: join(root, "tmp"),
    CARGO_HOME: CARGO_HOME ?? join(homedir(), ".cargo"),
    RUSTUP_HOME: RUSTUP_HOME ?? join(homedir(), ".rustup"),
    CARGO_TARGET_DIR: join(root, "target"),
    CARGO_NET_OFFLINE: "true",
    CARGO_TERM_COLOR: "never",
    npm_config_update_notifier: "false",
    PI_OFFLINE: "1",
    PI_CODING_AGENT_DIR: join(root, "agent"),
  };
}

/** Tells pi where the scripted model is. @param {string} agent pi's own folder @param {string} baseUrl */
export function configure(agent, baseUrl) {
  const provider = { baseUrl, api: "openai-completions", apiKey: "none", models: [MODEL] };
  writeFileSync(join(agent, "models.json"), JSON.stringify({ providers: { local: provider } }));
}
