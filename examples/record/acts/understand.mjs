import { find, grep, ls, read, say, step, think, user } from "../say.mjs";

const ANSWER = `The two sides talk through one \`Uint32Array\`. Nothing else crosses but strings.

**One record is two words**

| word | bits | meaning |
| ---- | ---- | ------- |
| 0 | 0–4 | kind: \`const TEXT = 1\` in js/gather.js, \`Tag::Text = 1\` in src/transcript/part.rs |
| 0 | 6 | shown only: printed, but not counted |
| 0 | 7 | weighed only: counted, but not printed |
| 0 | 8–31 | address: index of the content block, or of the argument in its call; \`0xffffff\` for a message's own string |
| 1 | all | length in UTF-16 units, or the number that the kind documents (\`CallId\`, \`CapUnits\`) |

**A message is a header and its parts.** The header is a record of kind 0 whose upper bits hold the role (8–11), how it stopped (12–15) and the flags (16–19); its second word counts the words of the whole message, so that the Rust side can step over a message without looking inside.

**Who decides the numbers.** Nobody does: they are written down twice, as constants in js/gather.js (lines 8–26) and as the discriminants of \`enum Tag\`. Both files say in a comment that the other one is the protocol's other half.

**When they disagree** nothing panics. \`Part::read\` takes \`Tag::ALL.get(kind)\`; an unknown kind is skipped, and a known but wrong one is read as something else, so sizes come out wrong without an error. \`messages()\` ends early where a length is impossible. That is safe, but silent.

Strings travel apart from the records, in batches of 4,096 (\`BATCH\`), in the order of those records for which \`Tag::has_text\` is true; \`Store::push\` matches them up again by \`awaited()\`.`;

export const understand = [
  user(`Hi! I am new to this code. Please explain how js/gather.js and src/transcript/part.rs talk to each other: what is in the two words of a record, who decides the numbers, and what happens when the two sides disagree. Only read for now.

Rules for this whole session:
- never touch Cargo.lock
- keep functions under 40 lines
- no new dependencies, neither npm nor cargo`),
  think(
    "The person wants an explanation. First the layout, then both files completely; guessing the protocol from one side would be wrong.",
    step(
      "I'll look at the layout first, then read both sides.",
      ls("."),
      ls("src/transcript"),
      find("**/*.js", "js"),
    ),
  ),
  step("Now the two files themselves, both in full.", read("js/gather.js"), read("src/transcript/part.rs")),
  step(
    "Next: who reads the records, and who sends the strings.",
    grep("next_record|messages\\(", { path: "src", glob: "*.rs" }),
    grep("CAP_UNITS|CapUnits|probed_cap|probedCap", { path: "." }),
  ),
  step("", read("src/transcript/store.rs", { offset: 56 }), read("src/node/strings.rs", { limit: 80 })),
  say(ANSWER),
];
