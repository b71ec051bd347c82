import { bash, edit, fails, grep, read, say, step, think, user, write } from "../say.mjs";

const SCRIPT = `// Compares the record kinds of js/gather.js with those of src/transcript/part.rs: the numbers are written twice.

import { readFileSync } from "node:fs";

/** The kinds that js/gather.js writes: \`const QUOTED_KEY = 6;\`. */
function written() {
  const source = readFileSync("js/gather.js", "utf8");
  return new Map(
    [...source.matchAll(/^const ([A-Z_]+) = (\\d+);$/gm)].map(([, name, number]) => [pascal(name), Number(number)]),
  );
}

/** The kinds that \`enum Tag\` reads: \`QuotedKey = 6,\`. */
function understood() {
  const source = readFileSync("src/transcript/part.rs", "utf8");
  const body = source.slice(source.indexOf("pub enum Tag {"), source.indexOf("impl Tag {"));
  return new Map([...body.matchAll(/^ {4}(\\w+) = (\\d+),$/gm)].map(([, name, number]) => [name, Number(number)]));
}

/** \`QUOTED_KEY\` as \`QuotedKey\`. */
function pascal(name) {
  return name.toLowerCase().replace(/(?:^|_)(\\w)/g, (_, letter) => letter.toUpperCase());
}

const js = written();
const rust = understood();
const faults = [];
for (const name of new Set([...js.keys(), ...rust.keys()])) {
  if (js.get(name) !== rust.get(name)) {
    faults.push(\`\${name}: \${js.get(name) ?? "missing"} in js/gather.js, \${rust.get(name) ?? "missing"} in part.rs\`);
  }
}
for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);
`;

export const protocol = [
  user(
    "Very clear, thank you. So nothing checks that the numbers agree? Then please write scripts/check-protocol.mjs in the style of scripts/check-arrows.mjs: compare the record kinds of gather.js with enum Tag. Exit code 1 and one line per fault, silent when all is well.",
  ),
  step(
    "I'll confirm that nothing checks it yet, and read the script whose style I should follow.",
    grep("protocol with", { path: "." }),
    read("scripts/check-arrows.mjs"),
    grep('"scripts"', { path: "package.json", context: 4 }),
  ),
  think(
    "Parse both sides with one regular expression each. Names differ in case: QUOTED_KEY against QuotedKey. No dependency needed.",
    step("Nothing does. Here is the script.", write("scripts/check-protocol.mjs", SCRIPT)),
  ),
  step("", fails(bash("node scripts/check-protocol.mjs"))),
  think(
    "`BATCH = 4096` is no record kind, my pattern is too wide: any numeric constant matches. How to tell kinds from other constants? part.rs masks the kind with 0x1f, so a kind is below 32 by construction. That is better than a list of exceptions.",
    step(
      "A false alarm, and my mistake: `BATCH` is not a record kind, but the pattern takes any numeric constant. part.rs masks the kind with `0x1f`, so kinds are below 32 by construction. I'll use that instead of a list of exceptions.",
      edit("scripts/check-protocol.mjs", [
        `/** The kinds that js/gather.js writes: \`const QUOTED_KEY = 6;\`. */
function written() {
  const source = readFileSync("js/gather.js", "utf8");
  return new Map(
    [...source.matchAll(/^const ([A-Z_]+) = (\\d+);$/gm)].map(([, name, number]) => [pascal(name), Number(number)]),
  );
}`,
        `/** Kinds are below this: part.rs masks them with \`0x1f\`. Larger constants are something else. */
const KINDS = 32;

/** The kinds that js/gather.js writes: \`const QUOTED_KEY = 6;\`. */
function written() {
  const source = readFileSync("js/gather.js", "utf8");
  const constants = [...source.matchAll(/^const ([A-Z_]+) = (\\d+);$/gm)];
  return new Map(
    constants.filter(([, , number]) => number < KINDS).map(([, name, number]) => [pascal(name), Number(number)]),
  );
}`,
      ]),
    ),
  ),
  step(
    "Now two proofs: it is silent on the tree as it is, and it speaks up when I break a number on purpose.",
    bash('node scripts/check-protocol.mjs; echo "exit $?"'),
  ),
  step(
    "",
    bash(`sed -i 's/^const SUMMARY = 18;/const SUMMARY = 19;/; s/^const OUTPUT = 15;//' js/gather.js
node scripts/check-protocol.mjs; echo "exit $?"
git checkout -q js/gather.js`),
  ),
  step("", bash("git status --short && node scripts/check-arrows.mjs && wc -l scripts/*.mjs")),
  say(`\`scripts/check-protocol.mjs\` is there and works both ways:

- silent with exit code 0 on the current tree;
- with \`SUMMARY\` renumbered and \`OUTPUT\` deleted it printed one line for each and left with 1. I restored js/gather.js afterwards; git shows only the new script.

Decision worth keeping: a constant counts as a record kind when it is **below 32**, because \`Part::read\` masks the kind with \`0x1f\`. A list of exceptions (\`BATCH\`, …) would have to be maintained.

Not covered yet: the flags (\`EXCLUDED\`, \`CANCELLED\`, …), which are also written down twice.`),
];
