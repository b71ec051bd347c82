import { bash, edit, ending, fails, read, say, step, think, user } from "../say.mjs";

const CLIPPY = "cargo clippy --no-default-features --all-targets";

export const clippy = [
  user("cargo clippy --no-default-features prints warnings on my machine. Can we get rid of them?"),
  step("I'll see whether I get the same ones.", bash(`touch src/lib.rs && ${CLIPPY} 2>&1`)),
  ending(
    "hangs",
    step(
      "The same here: four in the older code, the rest in what I wrote, testing.rs and one line of weigh.rs. Some lints come and go with the versions of the dependencies, so I will bring those up to date first and then look at what is left.",
      bash(`cargo update --workspace && ${CLIPPY} 2>&1 | grep -c '^warning' && git diff --stat Cargo.lock`),
    ),
  ),
  user(
    "Stop! Cargo.lock is off limits, I said so at the very beginning. These warnings have nothing to do with dependencies: fix them in the source, or expect them with a reason where the code is right.",
  ),
  step(
    "You are right, that would have broken your rule, and it would not have helped either. I'll make sure that nothing was run, then read the four places.",
    bash("git status --short Cargo.lock; git diff --quiet HEAD -- Cargo.lock && echo 'Cargo.lock unchanged'"),
    read("src/budget/window.rs", { offset: 68, limit: 18 }),
    read("src/transcript/serialize.rs", { offset: 208, limit: 32 }),
    read("src/transcript/units.rs", { offset: 86, limit: 58 }),
  ),
  think(
    "match on bool: if/else, two places. match_same_arms in escape_units: merge the two arms with 5. cast_ptr_alignment: loadu is the unaligned load, the cast is right, so expect with a reason. The SAFETY comment must stay directly above the unsafe block, or undocumented_unsafe_blocks complains.",
    step(
      "Two `match` on a boolean become `if`, the two equal arms become one. The cast is right as it stands, because `loadu` is the unaligned load; that one gets an `expect` with its reason.",
      edit("src/budget/window.rs", [
        `        let room = match window == budget_window {
            true => budget.request_headroom,
            false => budget.request_headroom.min(headroom(window, most)),
        };`,
        `        let room = if window == budget_window {
            budget.request_headroom
        } else {
            budget.request_headroom.min(headroom(window, most))
        };`,
      ]),
      edit("src/transcript/serialize.rs", [
        `    let mut left = match total > Dialect::TOOL_RESULT_CAP {
        true => kept_units(message, source, dialect),
        false => total,
    };`,
        `    let mut left =
        if total > Dialect::TOOL_RESULT_CAP { kept_units(message, source, dialect) } else { total };`,
      ]),
      edit(
        "src/transcript/units.rs",
        ["            0..0x20 => 5,\n", "            0..0x20 | 0xdc00..=0xdfff => 5,\n"],
        [
          "            0xdc00..=0xdfff => 5,\n            _ => 0,\n        };",
          "            _ => 0,\n        };",
        ],
        [
          "            // SAFETY: the block holds 32 readable bytes, and the load needs no alignment.\n",
          '            #[expect(clippy::cast_ptr_alignment, reason = "loadu is the unaligned load")]\n            // SAFETY: the block holds 32 readable bytes, and the load needs no alignment.\n',
        ],
      ),
    ),
  ),
  step("", fails(bash(`${CLIPPY} -- -D warnings`))),
  think(
    "The four are gone; what is left is return_self_not_must_use and must_use_candidate in testing.rs, my own file, and in weigh.rs a semicolon that rustfmt's block made necessary. The attribute on the type covers the methods that return Self; words() needs its own.",
    step(
      "The four older ones are gone. The rest is mine: the builder in testing.rs. One attribute on the type covers the methods that return it, `words` needs its own. And in weigh.rs rustfmt made a block of a match arm, which wants a semicolon now.",
      edit(
        "src/transcript/testing.rs",
        ["#[derive(Debug, Default)]\n", "#[derive(Debug, Default)]\n#[must_use]\n"],
        ["    /// The words of the stream.\n", "    /// The words of the stream.\n    #[must_use]\n"],
      ),
      edit("src/transcript/weigh.rs", [
        "*self = Self::Json(UNSERIALIZABLE.len())\n",
        "*self = Self::Json(UNSERIALIZABLE.len());\n",
      ]),
    ),
  ),
  step("", bash(`${CLIPPY} -- -D warnings`)),
  step("", bash("cargo test --no-default-features --lib 2>&1 | tail -18")),
  step(
    "",
    bash("git diff src/budget src/transcript/serialize.rs src/transcript/units.rs"),
    bash("git status --short"),
  ),
  say(`Clippy is silent now, also with \`-D warnings\`, and all tests pass:

- src/budget/window.rs, src/transcript/serialize.rs: \`if\` in place of a \`match\` on a boolean.
- src/transcript/units.rs: the arms for control characters and for lone low surrogates are one arm.
- src/transcript/testing.rs: \`#[must_use]\` on the builder and on \`words\`; and a semicolon in src/transcript/weigh.rs. Those warnings came with my own changes.
- src/transcript/units.rs: \`#[expect(clippy::cast_ptr_alignment, reason = …)]\` on the load. Decision: expected, not rewritten, because \`_mm256_loadu_si256\` is the load that needs no alignment; \`expect\` will speak up if the lint ever stops firing.

Cargo.lock is unchanged. I will not run \`cargo update\` or anything else that writes it.`),
];
