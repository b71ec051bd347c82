// The settings file in pi's agent folder. It is read at each compaction, so that a change applies at once.

import {
  lstatSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { getAgentDir } from "@earendil-works/pi-coding-agent";

export const SETTINGS_NAME = "pi-compaction-native.json";
/** Nobody writes so much into it by hand. */
const MOST_BYTES = 65_536;
const WANTED_MODEL = 'null, "session" or "provider/id"';

/** A file that cannot be used; the message is for the user. */
class SettingsError extends Error {
  constructor(why: string) {
    super(`${SETTINGS_NAME} ${why}`);
  }
}

export interface Settings {
  /** Who summarizes: `null` for pi itself, `"session"` for the chat's model, `"provider/id"`. */
  model: string | null;
  /** Everything else, as it stands in the file. */
  refine: Record<string, unknown>;
}

const settingsPath = (): string => join(getAgentDir(), SETTINGS_NAME);

/** @throws SettingsError for a file that is there and cannot be used */
export function readSettings(): Settings {
  const { model = null, ...refine } = readObject(settingsPath());
  if (model !== null && !isChoice(model)) throw new SettingsError(`model: expected ${WANTED_MODEL}`);
  return { model, refine };
}

/** Writes the choice and keeps all else. @throws SettingsError as for reading, and where the file cannot be written */
export function writeModel(model: string | null): void {
  const path = settingsPath();
  const text = `${JSON.stringify({ ...readObject(path), model }, null, 2)}\n`;
  try {
    replace(targetOf(path), text);
  } catch (error) {
    throw new SettingsError(`cannot be written (${codeOf(error)})`);
  }
}

function isChoice(value: unknown): value is string {
  if (typeof value !== "string") return false;
  return value === "session" || /^[^/]+\/./.test(value);
}

function readObject(path: string): Record<string, unknown> {
  const text = readText(path);
  if (text === undefined) return {};
  const value = parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SettingsError("expected an object");
  }
  return value as Record<string, unknown>;
}

function readText(path: string): string | undefined {
  try {
    const stat = statSync(path);
    if (!stat.isFile()) throw new SettingsError("is no file");
    if (stat.size > MOST_BYTES) throw new SettingsError(`is larger than ${MOST_BYTES} bytes`);
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    if (codeOf(error) === "ENOENT") return undefined;
    throw new SettingsError(`cannot be read (${codeOf(error)})`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
  } catch {
    throw new SettingsError("is not valid JSON");
  }
}

/** Another pi reads the old text, be it none, or the new. */
function replace(target: string, text: string): void {
  const draft = `${target}.${process.pid}.tmp`;
  writeFileSync(draft, text);
  renameSync(draft, target);
}

/** The file itself, where the name is a link to it, be it one that leads nowhere yet. */
function targetOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
  return isLink ? targetOf(resolve(realpathSync(dirname(path)), readlinkSync(path))) : path;
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | undefined)?.code ?? "unknown";
