import { bash, edit, fails, grep, read, say, step, think, user } from "../say.mjs";

const END = `            Self::Whole(units) => units,
        }
    }
}
`;

const TESTS = `
#[cfg(test)]
mod tests {
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

    #[test]
    fn no_arguments_weigh_two_braces() {
        assert_eq!(weight(ASSISTANT, &[(Tag::Call, 4), (Tag::CallId, 0)]), 4 + "{}".len());
    }

    #[test]
    fn arguments_weigh_as_their_json_text() {
        // read({"path":"a.rs"})
        let one = [(Tag::Call, 4), (Tag::CallId, 0), (Tag::Key, 4), (Tag::QuotedKey, 6), (Tag::Quoted, 6)];
        assert_eq!(weight(ASSISTANT, &one), 4 + 14);
        // sum({"a":1,"b":2})
        let two = [
            (Tag::Call, 3), (Tag::Key, 1), (Tag::QuotedKey, 3), (Tag::Literal, 1),
            (Tag::Key, 1), (Tag::QuotedKey, 3), (Tag::Literal, 1),
        ];
        assert_eq!(weight(ASSISTANT, &two), 3 + r#"{"a":1,"b":2}"#.len());
    }

    #[test]
    fn an_image_weighs_4800() {
        assert_eq!(weight(USER, &[(Tag::Text, 5), (Tag::Image, 0)]), 5 + 4_800);
    }

    #[test]
    fn text_weighs_its_utf16_units() {
        let text = "压缩会话 🗜️";
        let units = text.encode_utf16().count();
        assert_eq!(units, 8, "four ideographs, a space, a surrogate pair, a variation selector");
        assert_eq!(weight(USER, &[(Tag::Text, units)]), 8);
    }

    #[test]
    fn two_calls_weigh_as_much_as_each_alone() {
        let call = [(Tag::Call, 2), (Tag::Key, 1), (Tag::QuotedKey, 3), (Tag::Quoted, 5)];
        let both: Vec<_> = call.into_iter().chain(call).collect();
        assert_eq!(weight(ASSISTANT, &both), 2 * weight(ASSISTANT, &call));
    }
}
`;

const TEST = "cargo test --no-default-features --lib";

export const weigh = [
  user(
    "Супер, спасибо! 👍 Теперь тесты для src/transcript/weigh.rs, там их нет совсем. 请至少覆盖这些情况:没有参数的调用、一张图片(4800)、工具调用参数的 JSON 长度,还有 “压缩会话 🗜️” 按 UTF-16 单元计数。 Answer me in English please, the others read along.",
  ),
  step(
    "I'll read the module, and see how tests are written in this crate.",
    read("src/transcript/weigh.rs"),
    read("src/tokens/estimate.rs"),
    grep("cfg\\(test\\)", { path: "src", context: 6 }),
  ),
  think(
    "weigh() takes a Message, which is made by messages() from a record stream. A small helper in the tests can build the stream. Cases: {} , one argument, two with a comma, image, text with a surrogate pair and a variation selector: 4 + 1 + 2 + 1 = 8 units. And two calls in a row, because Arguments is reset at each call.",
    step(
      "Five tests, with one helper that builds the stream.",
      edit("src/transcript/weigh.rs", [END, END + TESTS]),
    ),
  ),
  step("", fails(bash(TEST))),
  step(
    "`messages` lives in `part` and is not imported by this module, only the tests need it.",
    edit("src/transcript/weigh.rs", [
      "    use super::*;\n\n    const USER",
      "    use super::super::part::messages;\n    use super::*;\n\n    const USER",
    ]),
  ),
  step("", fails(bash(TEST))),
  think(
    'left 19, right 18. {"path":"a.rs"} is 1+6+1+6+1 = 15, not 14: I forgot the colon. The code is right and my number is wrong. Better to let the literal count itself, as in the second case.',
    step(
      'It compiles, and one test fails: 19 against my 18. The code is right. `{"path":"a.rs"}` has 15 units, I left out the colon when counting by hand. I\'ll let the text count itself, as in the other case.',
      edit("src/transcript/weigh.rs", [
        "assert_eq!(weight(ASSISTANT, &one), 4 + 14);",
        'assert_eq!(weight(ASSISTANT, &one), 4 + r#"{"path":"a.rs"}"#.len());',
      ]),
    ),
  ),
  step("", bash(TEST)),
  step("All green. Formatting next.", fails(bash("rustfmt --check --edition 2024 src/transcript/weigh.rs"))),
  step(
    "",
    bash(
      "rustfmt --edition 2024 src/transcript/weigh.rs && git diff --stat && git status --short Cargo.lock",
    ),
  ),
  step("", bash(`${TEST} weigh 2>&1 | tail -12`)),
  say(`src/transcript/weigh.rs has five tests now, and all pass:

1. \`no_arguments_weigh_two_braces\`: a call without arguments weighs its name and \`{}\`.
2. \`arguments_weigh_as_their_json_text\`: one member, and two with the comma between them.
3. \`an_image_weighs_4800\`
4. \`text_weighs_its_utf16_units\`: “压缩会话 🗜️” is 8 units: four ideographs, a space, a surrogate pair, a variation selector.
5. \`two_calls_weigh_as_much_as_each_alone\`: the arguments start afresh with each call.

One correction on the way: I had counted 14 units for \`{"path":"a.rs"}\`; it is 15. The code was right, the test was wrong. Cargo.lock is untouched.`),
];
