//! Where strings and lines end in a stretch of JSON lines, and how many UTF-16 units stand before each place.

use std::ops::Range;

use crate::transcript::units::bytes::{BYTES, Blocks, Escapes, Masks, each_block};

/// An unescaped quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quote {
    /// Its place, in bytes.
    pub at: u32,
    /// UTF-16 units before it, as the text stands.
    pub units: u32,
    /// Units before it that escapes take away when they are read.
    pub escapes: u32,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The place of its line feed, or the end of the text.
    pub end: u32,
    /// How many quotes of the text stand in it and before.
    pub quotes: u32,
    /// Whether it is in the form in which `JSON.stringify` would write it, as far as bytes can tell.
    pub plain: bool,
    /// The places between which it may be other than ASCII; they may lie beyond its ends.
    pub beyond_ascii: Range<u32>,
    /// Whether it may have surrogates: characters of two units, or halves of one as escapes.
    pub surrogates: bool,
}

impl Line {
    /// Whether it is UTF-8, in the text in which it begins at `start`.
    #[must_use]
    pub fn is_utf8(&self, text: &[u8], start: usize) -> bool {
        let Range { start: first, end: last } = self.beyond_ascii;
        // What stands around is ASCII, so that no character goes beyond it.
        let beyond = text.get(start.max(first as usize)..last.min(self.end) as usize);
        beyond.is_none_or(|bytes| std::str::from_utf8(bytes).is_ok())
    }
}

/// The index of a text.
#[derive(Debug, Default)]
pub struct Index {
    /// The unescaped quotes of the text, and room behind them.
    quotes: Vec<Quote>,
    /// How many there are.
    count: usize,
    /// All lines.
    pub lines: Vec<Line>,
}

/// Bytes that a quote comes with at least, in most texts.
const BYTES_A_QUOTE: usize = 16;
/// The most quotes that memory is kept ready for.
const QUOTES: usize = 16 << 10;

impl Index {
    /// Indexes a text that begins with a line; what it held before is gone, its memory is used again.
    pub fn fill(&mut self, text: &[u8]) {
        self.lines.clear();
        // Grown bit by bit, they would be copied as often, each time to memory that the system has to clear first.
        let expected = (text.len() / BYTES_A_QUOTE).min(QUOTES);
        if self.quotes.len() < expected {
            self.quotes.resize(expected, Quote::default());
        }
        let Self { quotes, lines, .. } = self;
        let mut walk = Walk {
            text,
            quotes,
            lines,
            count: 0,
            at: 0,
            units: 0,
            escapes: 0,
            plain: true,
            beyond_ascii: 0..0,
            surrogates: false,
        };
        each_block(text, &mut walk);
        if text.last().is_some_and(|last| *last != b'\n') {
            walk.end_line(text.len() as u32, walk.count as u32);
        }
        self.count = walk.count;
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.quotes.capacity() * size_of::<Quote>() + self.lines.capacity() * size_of::<Line>()
    }

    /// All unescaped quotes.
    #[must_use]
    pub fn quotes(&self) -> &[Quote] {
        self.quotes.get(..self.count).unwrap_or_default()
    }
}

fn count(mask: u64) -> u32 {
    mask.count_ones()
}

/// Quotes that are noted together: whether there is a further one is hard to foresee.
const AT_ONCE: usize = 4;

/// What bytes of a block do to the counts behind them.
#[derive(Default)]
struct Before {
    /// Units beyond one a byte; they are fewer where a character takes several.
    units: u32,
    /// See [`Quote::escapes`].
    escapes: u32,
}

struct Walk<'t> {
    text: &'t [u8],
    /// At least as long as there are quotes.
    quotes: &'t mut Vec<Quote>,
    lines: &'t mut Vec<Line>,
    /// Quotes so far.
    count: usize,
    /// The place of the block.
    at: u32,
    units: u32,
    escapes: u32,
    /// What is known of the line so far, as in [`Line`].
    plain: bool,
    beyond_ascii: Range<u32>,
    surrogates: bool,
}

impl Blocks for Walk<'_> {
    #[expect(clippy::inline_always, reason = "inside the kernel's loop, where its features are at hand")]
    #[inline(always)]
    fn add(&mut self, masks: Masks, escapes: Escapes) {
        let quotes = masks.quotes & !escapes.all;
        let mut units = BYTES as u32;
        if masks.high | masks.controls | escapes.special != 0 {
            units = self.add_odd(masks, escapes, quotes);
        } else if escapes.all == 0 {
            // As between texts, where most quotes are.
            self.note(quotes, |_| Before::default());
        } else {
            self.note(quotes, |below| Before { units: 0, escapes: count(escapes.all & below) });
            self.escapes += count(escapes.all);
        }
        self.at += BYTES as u32;
        self.units += units;
    }
}

impl Walk<'_> {
    /// Adds a block with a control character, a character beyond ASCII or a rare escape; how many units it has.
    #[expect(clippy::inline_always, reason = "inside the kernel's loop, where its features are at hand")]
    #[inline(always)]
    fn add_odd(&mut self, masks: Masks, Escapes { all, special }: Escapes, quotes: u64) -> u32 {
        let odd = masks.controls & !masks.breaks;
        let long = if special | odd == 0 { 0 } else { self.look_closer(special, odd) };
        if masks.high != 0 {
            self.go_beyond_ascii(masks.wide);
        }
        if masks.breaks != 0 {
            self.end_lines(masks, quotes, special, odd);
        }
        self.note(quotes, |below| Before {
            units: count(masks.wide & below).wrapping_sub(count(masks.continuations & below)),
            escapes: count(all & below) + 4 * count(long & below),
        });
        self.escapes += count(all) + 4 * count(long);
        BYTES as u32 - count(masks.continuations) + count(masks.wide)
    }

    /// Notes the quotes of a block; `before` is asked about the bytes of it that stand before each.
    #[expect(clippy::inline_always, reason = "inside the kernel's loop, where its features are at hand")]
    #[inline(always)]
    fn note(&mut self, quotes: u64, before: impl Fn(u64) -> Before) {
        if quotes == 0 {
            return;
        }
        if self.quotes.len() < self.count + BYTES + AT_ONCE {
            self.quotes.resize(self.count + self.count / 2 + BYTES + AT_ONCE, Quote::default());
        }
        let (groups, _) = self.quotes.get_mut(self.count..).unwrap_or_default().as_chunks_mut::<AT_ONCE>();
        let number = count(quotes) as usize;
        self.count += number;
        let mut left = quotes;
        let (at, first_unit, first_escape) = (self.at, self.units, self.escapes);
        for slots in groups.iter_mut().take(number.div_ceil(AT_ONCE)) {
            for slot in slots {
                let bit = left.trailing_zeros();
                let Before { units, escapes } = before(!left & left.wrapping_sub(1));
                left &= left.wrapping_sub(1);
                let units = (first_unit + bit).wrapping_add(units);
                *slot = Quote { at: at + bit, units, escapes: first_escape + escapes };
            }
        }
    }

    /// Ends the lines whose line feeds stand in a block.
    fn end_lines(&mut self, masks: Masks, quotes: u64, special: u64, odd: u64) {
        let mut left = masks.breaks;
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            self.end_line(self.at + bit, self.count as u32 + count(quotes & !(!0 << bit)));
            // What stands behind the line in its block is looked at once more, with the next line.
            self.plain = self.rest_is_plain(bit, special, odd);
            if masks.high >> bit != 0 {
                self.go_beyond_ascii(masks.wide);
            }
        }
    }

    fn end_line(&mut self, end: u32, quotes: u32) {
        let beyond_ascii = std::mem::take(&mut self.beyond_ascii);
        let surrogates = std::mem::take(&mut self.surrogates);
        self.lines.push(Line { end, quotes, plain: self.plain, beyond_ascii, surrogates });
    }

    /// Notes that a block is other than ASCII.
    fn go_beyond_ascii(&mut self, wide: u64) {
        let begin = if self.beyond_ascii.is_empty() { self.at } else { self.beyond_ascii.start };
        self.beyond_ascii = begin..self.at + BYTES as u32;
        self.surrogates |= wide != 0;
    }

    /// Whether a block holds nothing odd behind a place.
    fn rest_is_plain(&mut self, bit: u32, special: u64, odd: u64) -> bool {
        let behind = !0 << bit;
        self.plain = true;
        if (special | odd) & behind != 0 {
            self.look_closer(special & behind, odd & behind);
        }
        self.plain
    }

    /// Which escapes are long ones; whether the others, and the control characters, are such as pi writes.
    fn look_closer(&mut self, special: u64, odd: u64) -> u64 {
        let mut left = odd;
        while left != 0 {
            let at = (self.at + left.trailing_zeros()) as usize;
            left &= left - 1;
            // A carriage return that ends a line is tolerated.
            self.plain &= matches!(self.text.get(at..at + 2), Some(b"\r\n"));
        }
        let mut us = 0;
        let mut left = special;
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            let at = (self.at + bit) as usize;
            match self.text.get(at) {
                Some(b'r' | b'b' | b'f') => {}
                Some(b'u') => {
                    us |= 1 << bit;
                    let digits = self.text.get(at + 1..).unwrap_or_default();
                    self.plain &= is_written(digits);
                    self.surrogates |= digits.starts_with(b"d");
                }
                _ => self.plain = false,
            }
        }
        us
    }
}

/// Whether `JSON.stringify` writes an escape with these digits, what follows it at hand: for a control character that
/// has no short escape, and for half a surrogate pair without its other half; in lower case.
fn is_written(escape: &[u8]) -> bool {
    let (digits, after) = escape.split_at_checked(4).unwrap_or((escape, &[]));
    if !digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
        return false;
    }
    match digits {
        [b'0', b'0', b'1', _] | [b'd', b'c'..=b'f', ..] => true,
        [b'0', b'0', b'0', last] => matches!(last, b'0'..=b'7' | b'b' | b'e' | b'f'),
        [b'd', b'8' | b'9' | b'a' | b'b', ..] => {
            !matches!(after, [b'\\', b'u', b'd' | b'D', b'c'..=b'f' | b'C'..=b'F', ..])
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Index, Line, Quote};

    /// The same, byte by byte, for text in which every quote and backslash stands in a string or ends one.
    fn plainly(text: &[u8]) -> (Vec<Quote>, Vec<usize>) {
        let (mut quotes, mut ends) = (Vec::new(), Vec::new());
        let (mut units, mut escapes, mut at) = (0, 0, 0);
        while at < text.len() {
            match text[at] {
                b'"' => quotes.push(Quote { at: at as u32, units, escapes }),
                b'\n' => ends.push(at),
                b'\\' => {
                    let long = text[at + 1] == b'u';
                    escapes += if long { 5 } else { 1 };
                    units += 1;
                    at += 1;
                }
                _ => {}
            }
            let byte = text[at];
            units += u32::from(byte & 0xc0 != 0x80) + u32::from(byte >= 0xf0);
            at += 1;
        }
        if text.last().is_some_and(|last| *last != b'\n') {
            ends.push(text.len());
        }
        (quotes, ends)
    }

    #[test]
    fn finds_what_a_walk_byte_by_byte_finds_wherever_blocks_end() {
        let pieces =
            ["\\n", "\\\\", "\\\"", "\\u001b", "é", "漢", "😀", "\"", "\n", "abc", "\\t", " ", "{\"a\":1}"];
        let mut state = 7_u64;
        let mut pick = |most: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % most
        };
        let mut index = Index::default();
        for _ in 0..2_000 {
            let text: String = (0..pick(120)).map(|_| pieces[pick(pieces.len())]).collect();
            index.fill(text.as_bytes());
            let (quotes, ends) = plainly(text.as_bytes());
            assert_eq!(index.quotes(), quotes, "{text:?}");
            assert_eq!(
                index.lines.iter().map(|line| line.end as usize).collect::<Vec<_>>(),
                ends,
                "{text:?}"
            );
        }
    }

    fn lines(text: &str) -> Vec<Line> {
        let mut index = Index::default();
        index.fill(text.as_bytes());
        index.lines
    }

    #[test]
    fn a_line_is_plain_where_json_stringify_would_write_it() {
        for (text, plain) in [
            (r#"{"a":"\t\u001b\ud800"}"#, true),
            (r#"{"a":"\/"}"#, false),
            (r#"{"a":"\u001B"}"#, false),
            (r#"{"a":"\u0041"}"#, false),
            (r#"{"a":"\u000a"}"#, false),
            (r#"{"a":"\ud83d\ude00"}"#, false),
            ("{\"a\":\t1}", false),
            ("{\"a\":1}\r", false),
        ] {
            for padding in 0..70 {
                let text = format!("{}\n{text}\n{{}}", "x".repeat(padding));
                assert_eq!(lines(&text)[1].plain, plain || text.contains("\r\n"), "{text:?}");
            }
        }
    }

    #[test]
    fn a_line_is_utf8_where_all_of_it_is_wherever_blocks_end() {
        let pieces: [&[u8]; 7] =
            ["é".as_bytes(), "😀".as_bytes(), b"\n", &[b'a'; 40], b"b", b"\xf0\x9f", b"\x80"];
        let mut index = Index::default();
        for seed in 0..4_000_u32 {
            let text: Vec<u8> =
                (0..9).flat_map(|at| pieces[(seed / 7_u32.pow(at) * 5 + at) as usize % 7]).copied().collect();
            index.fill(&text);
            let mut start = 0;
            for line in &index.lines {
                let bytes = &text[start..line.end as usize];
                assert_eq!(line.is_utf8(&text, start), std::str::from_utf8(bytes).is_ok(), "{bytes:?}");
                start = line.end as usize + 1;
            }
        }
    }

    #[test]
    fn surrogates_are_told_wherever_they_stand() {
        for (text, surrogates) in [("é\\u001b", false), ("😀", true), ("\\ud83d", true)] {
            for padding in 0..70 {
                let found = lines(&format!("{}{text}\n{}\n{text}", "x".repeat(padding), "y".repeat(64)));
                assert_eq!([found[0].surrogates, found[2].surrogates], [surrogates; 2], "{text} {padding}");
                assert_eq!(found.len(), 3);
            }
        }
    }
}
