// The blocks of code in a page, to be run.

import { readFileSync } from "node:fs";

/** @typedef {{ language: string, file: string | undefined, text: string }} Block `file`: named by its first line */

/** @param {URL} page @returns {Block[]} */
export function blocksOf(page) {
  const fences = readFileSync(page, "utf8").matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm);
  return [...fences].map(([, language = "", text = ""]) => {
    return { language, file: /^\/\/ (\S+)\n/.exec(text)?.[1], text };
  });
}

/** The one block that a test means. @param {URL} page @param {(block: Block) => boolean} isMeant */
export function blockOf(page, isMeant) {
  const meant = blocksOf(page).filter(isMeant);
  if (meant.length !== 1) throw new Error(`${page.pathname}: ${meant.length} blocks in place of one`);
  return meant[0].text;
}

export const ELECTRON = new URL("../../docs/electron.md", import.meta.url);
