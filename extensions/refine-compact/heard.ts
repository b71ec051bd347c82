// What pi's client said of a request that failed, fit to be shown: providers repeat keys and prompts.

/** Some say a whole page. */
const MOST = 300;
/** Nothing shorter is a key; a header may hold any word. */
const LEAST_SECRET = 8;
/** So many characters of a prompt in a row are a repetition of it. */
const LEAST_ECHO = 32;

/** @param secrets what may stand in no message */
export function heardOf(said: string, prompt: string, secrets: readonly string[]): string {
  const hidden = secrets
    .filter((secret) => secret.length >= LEAST_SECRET)
    .reduce((text, secret) => text.replaceAll(secret, "[redacted]"), said);
  return untilEcho(hidden, prompt).replace(/\s+/g, " ").trim().slice(0, MOST);
}

function untilEcho(said: string, prompt: string): string {
  const most = Math.min(said.length, 2 * MOST) - LEAST_ECHO;
  for (let at = 0; at <= most; at += 1) {
    if (prompt.includes(said.slice(at, at + LEAST_ECHO))) return `${said.slice(0, at)}…`;
  }
  return said;
}
