//! What is known of a text's tokens before they are counted.
//!
//! No more tokens than bytes: each holds at least one. No fewer than
//! - bytes by the longest token: no token holds more;
//! - words and a third of the digits: a token never crosses pieces. A piece holds one run of letters and marks, and a
//!   second only behind the apostrophe of a contraction; so letters that begin behind an ASCII character that is
//!   neither letter nor apostrophe begin in pieces of their own. Digits stand in other pieces, three in each at most.

use std::ops::Range;

/// Features of a stretch of text; those of its parts add up to its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Features {
    bytes: u64,
    /// ASCII letters behind an ASCII character that is neither letter nor apostrophe.
    words: u64,
    /// ASCII digits.
    digits: u64,
}

/// Bytes that are counted in a byte.
const BLOCK: usize = 255;

impl Features {
    /// Those of a range of a text.
    pub(super) fn of(text: &[u8], range: Range<usize>) -> Self {
        let bytes = text.get(range.clone()).unwrap_or_default();
        let before = range.start.checked_sub(1).and_then(|at| text.get(at)).copied().unwrap_or(b' ');
        let mut features = Self { bytes: bytes.len() as u64, ..Self::default() };
        let first = bytes.first().is_some_and(|&byte| begins_word(before, byte));
        features.words = u64::from(first);
        let next = bytes.get(1..).unwrap_or_default();
        for (before, own) in bytes.chunks(BLOCK).zip(next.chunks(BLOCK)) {
            let words = before.iter().zip(own).map(|(&before, &byte)| u8::from(begins_word(before, byte)));
            features.words += u64::from(words.fold(0_u8, u8::wrapping_add));
        }
        for block in bytes.chunks(BLOCK) {
            let digits = block.iter().map(|byte| u8::from(byte.is_ascii_digit()));
            features.digits += u64::from(digits.fold(0_u8, u8::wrapping_add));
        }
        features
    }

    /// Of two stretches.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            words: self.words + other.words,
            digits: self.digits + other.digits,
        }
    }

    /// Of what is left without a part.
    pub(super) fn without(self, part: Self) -> Self {
        Self {
            bytes: self.bytes - part.bytes,
            words: self.words - part.words,
            digits: self.digits - part.digits,
        }
    }

    /// The most tokens.
    pub(super) fn most(self) -> u64 {
        self.bytes
    }

    /// The fewest tokens, where the longest has so many bytes.
    pub(super) fn least(self, longest: usize) -> u64 {
        let by_length = self.bytes.div_ceil(longest.max(1) as u64);
        by_length.max(self.words + self.digits.div_ceil(3))
    }
}

fn begins_word(before: u8, byte: u8) -> bool {
    byte.is_ascii_alphabetic() && before.is_ascii() && !before.is_ascii_alphabetic() && before != b'\''
}

#[cfg(test)]
mod tests {
    use super::super::exact::{EncodingName, tests::encoding};
    use super::super::samples;
    use super::*;

    #[test]
    fn no_count_is_outside_its_bounds() {
        for (name, seeds) in EncodingName::ALL.into_iter().zip([0..50_000, 50_000..100_000]) {
            let encoding = encoding(name);
            for seed in seeds {
                let text = samples::text(seed);
                let tokens = encoding.count(&text);
                let features = Features::of(text.as_bytes(), 0..text.len());
                let (least, most) = (features.least(encoding.longest()), features.most());
                assert!(least <= tokens && tokens <= most, "{least} {tokens} {most} {text:?}");
            }
        }
    }

    #[test]
    fn features_of_parts_add_up() {
        for seed in 0..2_000 {
            let text = samples::text(seed);
            let bytes = text.as_bytes();
            let whole = Features::of(bytes, 0..bytes.len());
            for cut in [0, 1, bytes.len() / 3, bytes.len()].map(|cut| cut.min(bytes.len())) {
                let (front, back) = (Features::of(bytes, 0..cut), Features::of(bytes, cut..bytes.len()));
                assert_eq!(front.and(back), whole);
                assert_eq!(whole.without(front), back);
            }
        }
    }

    #[test]
    fn words_and_digits_are_counted() {
        let text = "it's don't a_b 12,345 caf\u{e9}s \u{4e2d}x (ok)".repeat(50);
        let features = Features::of(text.as_bytes(), 0..text.len());
        assert_eq!((features.words, features.digits), (6 * 50, 5 * 50));
    }
}
