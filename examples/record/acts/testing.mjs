import { bash, edit, fails, grep, read, say, shell, step, think, user, write } from "../say.mjs";

const BUILDER = `//! Record streams for tests.

use super::part::Tag;

/// A stream in the making. Lengths of messages are counted here, so that no test can get them wrong.
#[derive(Debug, Default)]
pub struct Records(Vec<u32>);

impl Records {
    /// A user message.
    pub fn user(self, parts: &[(Tag, usize)]) -> Self {
        self.message(1 << 8, parts)
    }

    /// An assistant message.
    pub fn assistant(self, parts: &[(Tag, usize)]) -> Self {
        self.message(2 << 8, parts)
    }

    /// A message with any header.
    pub fn message(mut self, header: u32, parts: &[(Tag, usize)]) -> Self {
        self.0.extend([header, 2 + 2 * parts.len() as u32]);
        for &(tag, units) in parts {
            self.0.extend([tag as u32, units as u32]);
        }
        self
    }

    /// The words of the stream.
    pub fn words(&self) -> &[u32] {
        &self.0
    }
}
`;

const HELPER = `    use super::super::part::messages;
    use super::*;

    const USER: u32 = 1 << 8;
    const ASSISTANT: u32 = 2 << 8;

    /// The weight of one message with these parts.
    fn weight(header: u32, parts: &[(Tag, usize)]) -> usize {
        let mut records = vec![header, 2 + 2 * parts.len() as u32];
        for &(tag, units) in parts {
            records.extend([tag as u32, units as u32]);
        }
        messages(&records).map(|message| weigh(&message, Dialect::Pi087)).sum()
    }
`;

const NEW_HELPER = `    use super::super::part::messages;
    use super::super::testing::Records;
    use super::*;

    fn weight(records: &Records) -> usize {
        messages(records.words()).map(|message| weigh(&message, Dialect::Pi087)).sum()
    }

    fn user(parts: &[(Tag, usize)]) -> usize {
        weight(&Records::default().user(parts))
    }

    fn assistant(parts: &[(Tag, usize)]) -> usize {
        weight(&Records::default().assistant(parts))
    }
`;

export const testing = [
  user(
    "Looks good. The helper that builds the stream: part.rs, store.rs and serialize.rs will need the same one for their tests. A macro, a shared test module, or leave it where it is? Give me two real options with what speaks for and against them. No code yet.",
  ),
  step(
    "",
    grep("macro_rules|pub\\(crate\\)|pub\\(super\\)", { path: "src" }),
    read("src/transcript/mod.rs"),
    read("src/lib.rs"),
  ),
  say(`**Option A: a macro \`records!\` in part.rs.** \`records![user: Text 5, Image 0]\`
- for: the shortest tests; stands next to the protocol
- against: its own little grammar; errors point into the macro; the crate has no macro so far

**Option B: \`src/transcript/testing.rs\` under \`#[cfg(test)]\`, with a builder \`Records\`.** \`Records::default().user(&[(Tag::Text, 5)])\`
- for: plain Rust, completion works; counts the length word itself, so a test can not get it wrong; also room for samples later
- against: one more module; slightly longer tests

Leaving it is not a real option: the length word would be counted by hand in four places, and a wrong one makes \`messages()\` end early, which means a test that checks nothing.

I would take **B**.`),
  user(
    "B, for your second reason: a builder counts the length word, and newcomers can read it. Do it and use it in weigh.rs. While you are there rename Arguments::Whole to Arguments::Json. `Whole` is confusing next to Wanted::Whole and Part::WHOLE.",
  ),
  step(
    "",
    grep("Whole|WHOLE", { path: "src" }),
    grep("weight\\(", { path: "src/transcript/weigh.rs" }),
    bash("cat -A src/transcript/mod.rs | head -3; git log --oneline | head -5"),
  ),
  step(
    "The module first.",
    write("src/transcript/testing.rs", BUILDER),
    edit("src/transcript/mod.rs", ["pub mod store;\n", "pub mod store;\n#[cfg(test)]\npub mod testing;\n"]),
  ),
  step(
    "Then the rename.",
    fails(
      edit(
        "src/transcript/weigh.rs",
        ["Self::Whole(", "Self::Json("],
        ["    Whole(usize),", "    Json(usize),"],
      ),
    ),
  ),
  step(
    "The old text stands there more than once, so one edit cannot name it. It is a mechanical rename inside one file, `sed` will do.",
    bash(
      "sed -i 's/Self::Whole(/Self::Json(/g; s/^    Whole(usize),/    Json(usize),/' src/transcript/weigh.rs && grep -n 'Whole\\|Json' src/transcript/weigh.rs",
    ),
  ),
  step("Now the tests on top of the builder.", edit("src/transcript/weigh.rs", [HELPER, NEW_HELPER])),
  step(
    "",
    bash(
      "sed -i 's/weight(ASSISTANT, /assistant(/g; s/weight(USER, /user(/g' src/transcript/weigh.rs && sed -n '96,175p' src/transcript/weigh.rs",
    ),
  ),
  think(
    "The free functions `user` and `assistant` of the tests: `use super::*` brings in the module's own `assistant(message)` too. A local item shadows a glob import, so this compiles, but it reads badly. Run the tests first, then decide.",
    step("", bash("cargo test --no-default-features --lib 2>&1 | tail -25")),
  ),
  step(
    "Green, but the tests' `assistant` shadows the function of the same name that `use super::*` brings in. That is legal and misleading; I'll give the two helpers names of their own.",
    bash(
      "sed -i '/^mod tests/,$ { s/\\bassistant(/weight_of_assistant(/g; s/\\.weight_of_assistant(/.assistant(/g; s/\\([^.]\\)\\buser(/\\1weight_of_user(/g }' src/transcript/weigh.rs && rustfmt --edition 2024 src/transcript/weigh.rs && grep -n 'weight_of\\|Records' src/transcript/weigh.rs",
    ),
  ),
  step(
    "",
    bash("cargo test --no-default-features --lib 2>&1 | tail -18"),
    bash("node scripts/check-arrows.mjs && node scripts/check-protocol.mjs && git status --short"),
  ),
  say(`Done:

- \`src/transcript/testing.rs\`: the builder \`Records\` (\`user\`, \`assistant\`, \`message\`, \`words\`), compiled for tests only.
- weigh.rs uses it. The helpers are called \`weight_of_user\` and \`weight_of_assistant\`, since a plain \`assistant\` would have shadowed the function under test.
- \`Arguments::Whole\` is \`Arguments::Json\`; \`Wanted::Whole\` and \`Part::WHOLE\` keep their names.

All tests pass and both check scripts are silent.`),
  shell("git diff --stat"),
];
