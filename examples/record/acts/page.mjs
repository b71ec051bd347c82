import { bash, edit, ending, fails, grep, say, step, think, user, write } from "../say.mjs";

const HALF = `Yes, it can, with the \`pi-0.87\` dialect only.

- **pi-0.87** cuts a tool result plainly at 2,000 UTF-16 units. If units 1,999 and 2,000 are the two halves of an emoji, the text ends with a lone high surrogate, then the marker \`[... N more characters truncated]\`. pi 0.87 does the same, and our text has to equal its text unit for unit.
- **pi-1.6** never splits a pair: \`kept_units\` looks at the two units around the cap (that is what the \`CapUnits\` record carries) and keeps 1,999 when they belong together.

What the model gets: as a JavaScript string the lone half survives; as soon as the request is encoded as UTF-8 it becomes U+FFFD, the replacement character. One odd character before the marker, no error.`;

const PAGE = `# The record protocol

js/gather.js walks the messages once and writes records; src/transcript/part.rs reads them. This page describes
what crosses, and how to check it.

## A record

Two 32-bit words.

| Word | Bits | Meaning                                                                     |
| ---- | ---- | --------------------------------------------------------------------------- |
| 0    | 0–4  | Kind, the number of a \`Tag\`                                                 |
| 0    | 6    | Shown only: part of the printed text, not of the estimate                   |
| 0    | 7    | Weighed only: part of the estimate, not of the printed text                 |
| 0    | 8–31 | Address: index of the block or argument; \`0xffffff\` for a string content    |
| 1    | all  | Length in UTF-16 units, or the number that the kind documents               |

## A message

A record of kind 0, then its parts in the order in which they stand.

| Bits of word 0 | Meaning                                                                                   |
| -------------- | ----------------------------------------------------------------------------------------- |
| 8–11           | Role: 1 user, 2 assistant, 3 tool result, 4 bash, 5 custom, 6 and 7 summaries, 8 system  |
| 12–15          | How it stopped: 1 broken, 2 tool use                                                      |
| 16             | Excluded from the context                                                                 |
| 17             | Cancelled                                                                                 |
| 18             | Truncated                                                                                 |
| 19             | A failed tool result                                                                      |

Word 1 counts the words of the whole message, its own two included. A message that cannot be read is therefore
\`0, 2\`: a reader steps over it.

## Example

The user message \`naïve 😀 日本語\` is four words:

| Word | Value        | Meaning                                                  |
| ---- | ------------ | -------------------------------------------------------- |
| 0    | \`0x00000100\` | Kind 0, role 1                                           |
| 1    | 4            | Words of the message                                     |
| 2    | \`0xffffff01\` | Kind 1 (text), address \`0xffffff\`                        |
| 3    | 11           | Five letters, a space, the emoji, a space, three letters |

## Strings

They travel apart, in batches of 4,096, in the order of the records whose kind has a text. A tool result is read
to one unit past its cap of 2,000, so that the dialect of pi 1.6 can see whether the cut would split a pair.

## Checking

    node scripts/check-protocol.mjs        the numbers of both sides agree
    node scripts/dump-records.mjs FILE     what is written of a session
`;

const MEASURE = `cat > "$TMPDIR/measure.cjs" <<'JS'
const { Depth, gather } = require(process.cwd() + "/js/gather.js");
const text = "let units = text.length; // naïve 😀\\n".repeat(40);
const count = Number(process.argv[2]);
const messages = Array.from({ length: count }, (_, i) =>
  i % 2
    ? { role: "toolResult", toolCallId: String(i - 1), content: [{ type: "text", text }] }
    : { role: "assistant", content: [{ type: "toolCall", id: String(i), name: "read", arguments: { path: "a.rs", offset: i } }] },
);
for (const [name, depth] of Object.entries(Depth)) {
  const times = Array.from({ length: 9 }, () => {
    const start = performance.now();
    gather({ messages }, { depth }, () => {});
    return performance.now() - start;
  }).sort((a, b) => a - b);
  console.log(name.padEnd(8), times[4].toFixed(2), "ms median,", times[0].toFixed(2), "to", times[8].toFixed(2));
}
JS
node "$TMPDIR/measure.cjs"`;

/** The median that the output of the measurement shows. */
const median = (/** @type {string} */ output, /** @type {string} */ name) =>
  new RegExp(`^${name} +([\\d.]+) ms`, "m").exec(output)?.[1];

export const page = [
  user(
    "A question, no code: the cap of 2,000 units on tool results. Can it leave half an emoji in the text? What do we send to the model then?",
  ),
  ending("cut", step("Short answer: in one of the two dialects, yes. I'll check the exact pl")),
  step("", grep("splits_pair|probed_cap|kept_units", { path: "src", context: 2 })),
  say(HALF),
  user(
    "Write the protocol down: docs/record-protocol.md, one page, at most 80 lines, in English. Both words as a table, the flags, an example with the string `naïve 😀 日本語`, and how to check it. Numbers must be measured, not guessed.",
  ),
  step(
    "First the real words of the example.",
    fails(
      bash(
        `node -e 'const { Depth, gather } = require("./js/gather.js"); gather({ m: [{ role: 'user', content: 'naïve 😀 日本語' }] }, { depth: Depth.TEXT }, (r, [end]) => console.log([...r.subarray(0, end)]))'`,
      ),
    ),
  ),
  step(
    "Single quotes inside single quotes. Through a here document instead.",
    bash(`node - <<'JS'
const { Depth, gather } = require("./js/gather.js");
gather({ m: [{ role: "user", content: "naïve 😀 日本語" }] }, { depth: Depth.TEXT }, (records, [end]) =>
  console.log([...records.subarray(0, end)].map((word) => "0x" + word.toString(16).padStart(8, "0")).join(" ")),
);
JS`),
  ),
  step("", write("docs/record-protocol.md", PAGE)),
  think(
    "Check my own page against the measured words: word 3 was 0x0000000c = 12, and I wrote 11. The emoji is two units: 5 + 1 + 2 + 1 + 3 = 12. Exactly what the user asked me not to do.",
    step(
      "I compare the page with what was measured: word 3 is `0x0c`, which is 12, and I wrote 11. The emoji is two units.",
      edit("docs/record-protocol.md", [
        "| 3    | 11           | Five letters, a space, the emoji, a space, three letters |",
        "| 3    | 12           | 5 letters, a space, the emoji (2), a space, 3 characters |",
      ]),
    ),
  ),
  step("", bash("wc -l docs/record-protocol.md && sed -n '38,50p' docs/record-protocol.md")),
  say(`docs/record-protocol.md is written: two tables for the words, one for a message's header with the flags, the example, the strings, the two commands that check it. It is well under 80 lines.

The example is measured (\`0x00000100 0x00000004 0xffffff01 0x0000000c\`). I had first written 11 units and corrected it to 12, since 😀 is a surrogate pair.`),
  user(
    "👌 One more number for my notes: how long does gather take for 20,000 messages, at each depth? Median of 9 runs. Nothing to commit.",
  ),
  step("", bash(`${MEASURE} 20000`)),
  step(
    "And ten million, to see whether it stays linear; with a limit, in case it does not.",
    fails(bash('node --max-old-space-size=8192 "$TMPDIR/measure.cjs" 10000000', { timeout: 3 })),
  ),
  step(
    "That was too much to build in three seconds. Ten times the first number is enough.",
    bash('node "$TMPDIR/measure.cjs" 200000'),
  ),
  say(
    (output) =>
      `For 200,000 messages the medians are ${median(output, "PRINTED")} ms (printed), ${median(output, "COUNTED")} ms (counted) and ${median(output, "TEXT")} ms (text); the run with 20,000 messages is above. The small run is noisy, the large one says more: with text every string is kept to be passed on, which is what the last line pays for. The script stands in the temporary folder, nothing is left in the tree.`,
  ),
];
