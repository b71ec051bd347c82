//! Where strings and lines end in a stretch of JSON lines, and how many UTF-16 units stand before each place.

use crate::transcript::units::bytes::{BYTES, Blocks, Masks, each_block};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// The place of its line feed, or the end of the text.
    pub end: u32,
    /// How many quotes of the text stand in it and before.
    pub quotes: u32,
    /// Whether it is in the form in which `JSON.stringify` would write it, as far as bytes can tell.
    pub plain: bool,
    /// Whether all of it is ASCII.
    pub ascii: bool,
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
            carried: 0,
            plain: true,
            ascii: true,
        };
        each_block(text, &mut walk);
        let (count, plain, ascii) = (walk.count, walk.plain, walk.ascii);
        self.count = count;
        if text.last().is_some_and(|last| *last != b'\n') {
            self.lines.push(Line { end: text.len() as u32, quotes: count as u32, plain, ascii });
        }
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

const EVEN: u64 = 0x5555_5555_5555_5555;

/// Which bytes are escaped: those behind an odd number of backslashes. `carried` says whether the first one is.
fn escaped(backslashes: u64, carried: &mut u64) -> u64 {
    if backslashes == 0 {
        return std::mem::take(carried);
    }
    let backslashes = backslashes & !*carried;
    let follows = backslashes << 1 | *carried;
    let odd_starts = backslashes & !EVEN & !follows;
    let (sequences, overflow) = odd_starts.overflowing_add(backslashes);
    *carried = u64::from(overflow);
    (EVEN ^ (sequences << 1)) & follows
}

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
    carried: u64,
    plain: bool,
    ascii: bool,
}

impl Blocks for Walk<'_> {
    #[expect(clippy::inline_always, reason = "inside the kernel's loop, where its features are at hand")]
    #[inline(always)]
    fn add(&mut self, masks: Masks) {
        let escaped = if masks.backslashes | self.carried == 0 {
            0
        } else {
            escaped(masks.backslashes, &mut self.carried)
        };
        let odd = masks.controls & !masks.breaks;
        let special = escaped & !masks.usual;
        let long = if special | odd == 0 { 0 } else { self.look_closer(special, odd) };
        let quotes = masks.quotes & !escaped;
        self.ascii &= masks.high == 0;
        if masks.breaks != 0 {
            self.end_lines(masks, quotes, special, odd);
        }
        if masks.high | escaped == 0 {
            self.note(quotes, |_| Before::default());
        } else {
            self.note(quotes, |below| Before {
                units: count(masks.wide & below).wrapping_sub(count(masks.continuations & below)),
                escapes: count(escaped & below) + 4 * count(long & below),
            });
        }
        self.at += BYTES as u32;
        self.units += BYTES as u32 - count(masks.continuations) + count(masks.wide);
        self.escapes += count(escaped) + 4 * count(long);
    }
}

impl Walk<'_> {
    /// Notes the quotes of a block; `before` is asked about the bytes of it that stand before each.
    #[expect(clippy::inline_always, reason = "inside the kernel's loop, where its features are at hand")]
    #[inline(always)]
    fn note(&mut self, quotes: u64, before: impl Fn(u64) -> Before) {
        if self.quotes.len() < self.count + BYTES {
            self.quotes.resize(self.count + self.count / 2 + BYTES, Quote::default());
        }
        let mut slots = self.quotes.get_mut(self.count..).unwrap_or_default().iter_mut();
        self.count += count(quotes) as usize;
        let mut left = quotes;
        while left != 0
            && let Some(slot) = slots.next()
        {
            let bit = left.trailing_zeros();
            let Before { units, escapes } = before(!left & (left - 1));
            left &= left - 1;
            let units = (self.units + bit).wrapping_add(units);
            *slot = Quote { at: self.at + bit, units, escapes: self.escapes + escapes };
        }
    }

    /// Ends the lines whose line feeds stand in a block.
    fn end_lines(&mut self, masks: Masks, quotes: u64, special: u64, odd: u64) {
        let mut left = masks.breaks;
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            let before = self.count as u32 + count(quotes & !(!0 << bit));
            self.lines.push(Line {
                end: self.at + bit,
                quotes: before,
                plain: self.plain,
                ascii: self.ascii,
            });
            // What stands behind the line in its block is looked at once more, with the next line.
            self.plain = self.rest_is_plain(bit, special, odd);
            self.ascii = masks.high >> bit == 0;
        }
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
                    self.plain &= is_written(self.text.get(at + 1..).unwrap_or_default());
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
    fn what_is_not_ascii_is_told_from_far_lines_and_never_taken_for_it() {
        let far = "a".repeat(64);
        let found: Vec<bool> =
            lines(&format!("é\n{far}\n漢\n{far}\nb")).iter().map(|line| line.ascii).collect();
        assert!(!found[0] && !found[2] && found[4], "{found:?}");
    }
}
