//! Text inside JSON strings: as `JSON.stringify` prints it, and as it stands in the body of a request.

use super::units::escape::{ROOM, UNITS, long_escape, write, write_ascii};
use super::units::splits_pair;

/// Appends `JSON.stringify(text)`.
pub fn write_quoted(text: &[u16], out: &mut Vec<u16>) {
    out.push(0x22);
    write(text, out, |rest, out| {
        let piece = whole(rest);
        let mut rest = piece;
        while let Some((&unit, after)) = rest.split_first() {
            rest = after;
            match (unit, after.split_first()) {
                (unit, Some((&low, after_pair))) if splits_pair(unit, low) => {
                    out.extend([unit, low]);
                    rest = after_pair;
                }
                (0xd800..0xe000, _) => out.extend(long_escape(unit).map(u16::from)),
                (0x80.., _) => out.push(unit),
                _ => write_ascii(unit as u8, out),
            }
        }
        piece.len()
    });
    out.push(0x22);
}

/// Appends the inside of the text's JSON string in UTF-8; a lone surrogate becomes U+FFFD.
pub fn write_utf8(text: &[u16], out: &mut Vec<u8>) {
    // One unit in eight escaped, or a text of two bytes a unit here and there: more than sessions have.
    out.reserve(text.len() + text.len() / 8 + ROOM);
    write(text, out, |rest, out| {
        let piece = whole(rest);
        for char in char::decode_utf16(piece.iter().copied()) {
            let char = char.unwrap_or(char::REPLACEMENT_CHARACTER);
            match char {
                '\0'..='\x7f' => write_ascii(char as u8, out),
                _ => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        piece.len()
    });
}

/// The first block of a text, and what belongs to a pair that it would part.
fn whole(text: &[u16]) -> &[u16] {
    let parts = matches!(text.get(UNITS - 1..=UNITS), Some(&[a, b]) if splits_pair(a, b));
    text.get(..if parts { UNITS + 1 } else { UNITS }).unwrap_or(text)
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
