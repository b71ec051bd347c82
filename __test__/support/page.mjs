// The blocks of code in docs/electron.md, to be run.

import { readFileSync } from "node:fs";

/** @typedef {{ language: string, file: string | undefined, text: string }} Block `file`: named by its first line */

/** @param {URL} page @returns {Block[]} */
function blocksOf(page) {
  const fences = readFileSync(page, "utf8").matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm);
  return [...fences].map(([, language = "", text = ""]) => {
    return { language, file: /^\/\/ (\S+)\n/.exec(text)?.[1], text };
  });
}

/** The one block that a test means. @param {URL} page @param {(block: Block) => boolean} isMeant */
function blockOf(page, isMeant) {
  const meant = blocksOf(page).filter(isMeant);
  if (meant.length !== 1) throw new Error(`${page.pathname}: ${meant.length} blocks in place of one`);
  return meant[0].text;
}

const ELECTRON = new URL("../../docs/electron.md", import.meta.url);

/** A file of the page for Electron. @param {string} name */
export const fileOf = (name) => blockOf(ELECTRON, ({ file }) => file === name);

/** The one command of that page that says these words. @param {string} words */
export const commandOf = (words) =>
  blockOf(ELECTRON, ({ language, text }) => language === "sh" && text.includes(words));

/** The page's settings of a package, all of its blocks as one. @returns {any} */
export function settings() {
  const blocks = blocksOf(ELECTRON).filter(({ language }) => language === "json");
  return { build: Object.assign({}, ...blocks.map(({ text }) => JSON.parse(text).build)) };
}
