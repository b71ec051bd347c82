//! Texts of all kinds for tests, and the tables that are committed.

use std::sync::OnceLock;

use super::table::Table;

/// The table of an encoding, as it is committed.
pub(super) fn table_file(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tokens/{name}.tokens", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The larger table.
pub(super) fn o200k() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| Table::new(table_file("o200k_base"), 199_998).unwrap())
}

/// A table of the single bytes and some more tokens.
pub(super) fn table_bytes(more: &[&[u8]]) -> Vec<u8> {
    let single = (0..=u8::MAX).flat_map(|byte| [1, byte]);
    single.chain(more.iter().flat_map(|token| [&[token.len() as u8], *token].concat())).collect()
}

const WORDS: [&str; 24] = [
    "const",
    "return",
    "fn",
    "HTTPServer",
    "getElementById",
    "it's",
    "DON'T",
    "we'LL",
    "l'\u{e9}t\u{e9}",
    "x'\u{17f}y",
    "12345678",
    "3.14",
    "\u{4f60}\u{597d}\u{4e16}\u{754c}",
    "\u{3053}\u{3093}\u{306b}\u{3061}\u{306f}",
    "\u{c548}\u{b155}",
    "\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}",
    "\u{5e9}\u{5dc}\u{5d5}\u{5dd}",
    "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}",
    "e\u{301}te\u{301}",
    "\u{1c5}ungla",
    "\u{2160}\u{2161}",
    "<|endoftext|>",
    "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
    "\u{1f980}",
];
const SIGNS: [&str; 24] = [
    " ", "  ", "\n", "\r\n", "\t", "\n\n    ", "        ", "(", ");", "{", "}", "//", "/*", "=>", "'", "'s",
    "\"", "_", ".", "/\n/", "\u{a0}", "\u{3000}", "\u{2028}", "\u{85}",
];
const SINGLE: [char; 20] = [
    'a',
    'A',
    '\'',
    ' ',
    '\n',
    '1',
    '\u{0}',
    '\u{7}',
    '\u{1b}',
    '\u{7f}',
    '\u{ad}',
    '\u{feff}',
    '\u{fffd}',
    '\u{301}',
    '\u{2b0}',
    '\u{e9}',
    '\u{c9}',
    '\u{4e2d}',
    '\u{1f600}',
    '\u{10ffff}',
];

/// A text; the same for the same seed.
pub(super) fn text(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut text = String::new();
    for _ in 0..=random.below(12) {
        match random.below(10) {
            0..=3 => text.push_str(WORDS[random.below(WORDS.len())]),
            4..=6 => text.push_str(SIGNS[random.below(SIGNS.len())]),
            7 => text.extend((0..random.below(9)).map(|_| SINGLE[random.below(SINGLE.len())])),
            8 => text.extend(std::iter::repeat_n(SINGLE[random.below(SINGLE.len())], random.below(140))),
            _ => text.extend((0..random.below(6)).map(|_| random.character())),
        }
    }
    text
}

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % most
    }

    /// Any character; half of them where most writing is.
    fn character(&mut self) -> char {
        let most = if self.below(2) == 0 { 0x3000 } else { 0x11_0000 };
        char::from_u32(self.below(most) as u32).unwrap_or('\u{fffd}')
    }
}
