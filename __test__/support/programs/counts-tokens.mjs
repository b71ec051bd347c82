// Asks an installed package for exact tokens: `counts-tokens.mjs PATH` prints the answers and the errors as JSON.

import { createRequire } from "node:module";

const { countTokens, summaryFits } = createRequire(import.meta.url)(process.argv[2]);
const preparation = { messagesToSummarize: [{ role: "user", content: "hi" }] };
const budget = { hardLimit: 8_000, requestHeadroom: 1_000 };
const asked = await Promise.allSettled([
  countTokens("hello world", "o200k_base"),
  summaryFits(preparation, budget, undefined, { encoding: "o200k_base" }),
]);
const [tokens, fits] = asked.map((each) => (each.status === "fulfilled" ? each.value : undefined));
const errors = asked.flatMap((each) =>
  each.status === "rejected" ? [{ code: each.reason.code, message: each.reason.message }] : [],
);
console.log(JSON.stringify({ tokens, fits, errors }));
