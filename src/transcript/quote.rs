//! Text inside JSON strings: as `JSON.stringify` prints it, and as it stands in the body of a request.

use super::units::ascii::{Ascii, Blocks, UNITS, each_block};
use super::units::splits_pair;

/// Appends `JSON.stringify(text)`.
pub fn write_quoted(text: &[u16], out: &mut Vec<u16>) {
    out.push(0x22);
    each_block(text, &mut Quoted(out));
    out.push(0x22);
}

/// Appends the inside of the text's JSON string in UTF-8; a lone surrogate becomes U+FFFD.
pub fn write_utf8(text: &[u16], out: &mut Vec<u8>) {
    // One unit in eight escaped, or a text of two bytes a unit here and there: more than sessions have.
    out.reserve(text.len() + text.len() / 8 + UNITS);
    each_block(text, &mut Utf8(out));
}

struct Quoted<'o>(&'o mut Vec<u16>);

impl Blocks for Quoted<'_> {
    #[expect(clippy::inline_always, reason = "inside the kernel's loop, where its features are at hand")]
    #[inline(always)]
    fn ascii(&mut self, block: Ascii, units: usize) {
        write_block(block, self.0);
        self.0.truncate(self.0.len() + units - UNITS);
    }

    fn other(&mut self, rest: &[u16]) -> usize {
        let piece = whole(rest);
        let mut rest = piece;
        while let Some((&unit, after)) = rest.split_first() {
            rest = after;
            match (unit, after.split_first()) {
                (unit, Some((&low, after_pair))) if splits_pair(unit, low) => {
                    self.0.extend([unit, low]);
                    rest = after_pair;
                }
                (0xd800..0xe000, _) => self.0.extend(long_escape(unit).map(u16::from)),
                (0x80.., _) => self.0.push(unit),
                _ => write_ascii(unit as u8, self.0),
            }
        }
        piece.len()
    }
}

struct Utf8<'o>(&'o mut Vec<u8>);

impl Blocks for Utf8<'_> {
    #[expect(clippy::inline_always, reason = "inside the kernel's loop, where its features are at hand")]
    #[inline(always)]
    fn ascii(&mut self, block: Ascii, units: usize) {
        write_block(block, self.0);
        self.0.truncate(self.0.len() + units - UNITS);
    }

    fn other(&mut self, rest: &[u16]) -> usize {
        let piece = whole(rest);
        for char in char::decode_utf16(piece.iter().copied()) {
            let char = char.unwrap_or(char::REPLACEMENT_CHARACTER);
            match char {
                '\0'..='\x7f' => write_ascii(char as u8, self.0),
                _ => self.0.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        piece.len()
    }
}

/// The first block of a text, and what belongs to a pair that it would part.
fn whole(text: &[u16]) -> &[u16] {
    let parts = |at: usize| matches!(text.get(at - 1..=at), Some(&[a, b]) if splits_pair(a, b));
    let end = if parts(UNITS) { UNITS + 1 } else { UNITS };
    text.get(..end).unwrap_or(text)
}

/// A block is written whole, and behind each escape what follows it once more: lengths that are known when this is
/// compiled cost less than copying what is needed.
#[expect(clippy::inline_always, reason = "inside the kernel's loop, where its features are at hand")]
#[inline(always)]
fn write_block<U: Copy + Default + From<u8>>(Ascii { bytes, escapes }: Ascii, out: &mut Vec<U>) {
    let mut end = out.len() + UNITS;
    out.extend_from_slice(&bytes.map(U::from));
    if escapes == 0 {
        return;
    }
    let mut padded = [0; 2 * UNITS];
    padded.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = byte);
    let mut left = escapes;
    while left != 0 {
        let at = left.trailing_zeros() as usize;
        left &= left - 1;
        let Some((&[unit], follows)) = padded.get(at..).and_then(<[u8]>::split_first_chunk) else { break };
        // Up to here everything stands as it is to stand.
        out.truncate(end - (UNITS - at));
        write_escape(unit, out);
        end = out.len() + UNITS - at - 1;
        if let Some(follows) = follows.first_chunk::<UNITS>() {
            out.extend_from_slice(&follows.map(U::from));
        }
    }
    out.truncate(end);
}

/// Any ASCII.
fn write_ascii<U: Copy + From<u8>>(unit: u8, out: &mut Vec<U>) {
    match unit {
        0..0x20 | b'"' | b'\\' => write_escape(unit, out),
        _ => out.push(unit.into()),
    }
}

/// A unit that has an escape.
fn write_escape<U: Copy + From<u8>>(unit: u8, out: &mut Vec<U>) {
    match letter(unit) {
        0 => out.extend_from_slice(&long_escape(unit.into()).map(U::from)),
        letter => out.extend_from_slice(&[b'\\', letter].map(U::from)),
    }
}

/// The letter behind the backslash, for what has an escape of two; else 0.
fn letter(unit: u8) -> u8 {
    match unit {
        b'"' | b'\\' => unit,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        _ => 0,
    }
}

/// `\u` and four digits.
fn long_escape(unit: u16) -> [u8; 6] {
    let digit =
        |shift: u32| char::from_digit(u32::from(unit) >> shift & 0xf, 16).map_or(b'0', |digit| digit as u8);
    [b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::units::quoted_units;
    use super::*;

    fn text() -> impl Strategy<Value = Vec<u16>> {
        let unit = prop_oneof![0..0x80_u16, Just(0x0a), any::<u16>(), 0xd800..0xe000_u16, 0x20..0x7f_u16];
        prop::collection::vec(unit, 0..100)
    }

    proptest! {
        #[test]
        fn a_body_equals_serde(text in text()) {
            let mut inside = Vec::new();
            write_utf8(&text, &mut inside);
            let read: String = serde_json::from_slice(&[b"\"", &*inside, b"\""].concat()).unwrap();
            prop_assert_eq!(read, String::from_utf16_lossy(&text));
        }

        #[test]
        fn a_quoted_text_has_its_length(text in text()) {
            let mut quoted = Vec::new();
            write_quoted(&text, &mut quoted);
            prop_assert_eq!(quoted.len(), quoted_units(&text));
        }
    }
}
