//! Text inside JSON strings: as `JSON.stringify` prints it, and as it stands in the body of a request.

use super::units::splits_pair;

const BLOCK: usize = 16;

/// Appends `JSON.stringify(text)`.
pub fn write_quoted(text: &[u16], out: &mut Vec<u16>) {
    out.push(0x22);
    write(text, out, |piece, out| {
        let mut rest = piece;
        while let Some((&unit, after)) = rest.split_first() {
            rest = after;
            match (unit, after.split_first()) {
                (unit, Some((&low, after_pair))) if splits_pair(unit, low) => {
                    out.extend([unit, low]);
                    rest = after_pair;
                }
                (0xd800..0xe000, _) => out.extend(long_escape(unit).encode_utf16()),
                (0x80.., _) => out.push(unit),
                _ => out.extend(escaped(unit as u8).encode_utf16()),
            }
        }
    });
    out.push(0x22);
}

/// Appends the inside of the text's JSON string in UTF-8; a lone surrogate becomes U+FFFD.
pub fn write_utf8(text: &[u16], out: &mut Vec<u8>) {
    // One unit in eight escaped, or a text of two bytes a unit here and there: more than sessions have.
    out.reserve(text.len() + text.len() / 8);
    write(text, out, |piece, out| {
        for char in char::decode_utf16(piece.iter().copied()) {
            let char = char.unwrap_or(char::REPLACEMENT_CHARACTER);
            match char {
                '\0'..='\x7f' => out.extend(escaped(char as u8).bytes()),
                _ => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
    });
}

/// Block by block: most of what agents read and write is ASCII, with an escape in every second line. What is neither
/// goes to `unusual`, which never gets half a pair.
fn write<U: Copy + Default + From<u8>>(
    text: &[u16],
    out: &mut Vec<U>,
    unusual: impl Fn(&[u16], &mut Vec<U>),
) {
    let mut rest = text;
    while let Some((block, after)) = rest.split_first_chunk::<BLOCK>() {
        if block.iter().fold(true, |all, &unit| all & is_plain(unit)) {
            out.extend_from_slice(&block.map(|unit| U::from(unit as u8)));
            rest = after;
        } else if block.iter().fold(true, |all, &unit| all & is_usual(unit)) {
            write_usual(block, out);
            rest = after;
        } else {
            let pair = matches!((block.last(), after.first()), (Some(&a), Some(&b)) if splits_pair(a, b));
            let end = if pair { BLOCK + 1 } else { BLOCK };
            let (piece, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            unusual(piece, out);
            rest = after;
        }
    }
    unusual(rest, out);
}

/// ASCII that stands for itself.
#[expect(clippy::needless_bitwise_bool, reason = "without branches a block is looked at at once")]
fn is_plain(unit: u16) -> bool {
    (0x20..0x80).contains(&unit) & (unit != 0x22) & (unit != 0x5c)
}

/// ASCII that stands for itself or has an escape of two.
#[expect(clippy::needless_bitwise_bool, reason = "without branches a block is looked at at once")]
fn is_usual(unit: u16) -> bool {
    (0x20..0x80).contains(&unit) | (unit == 0x09) | (unit == 0x0a) | (unit == 0x0d)
}

/// What stands for a usual unit, and how much of it counts.
const FORMS: [([u8; 2], usize); 128] = {
    let mut forms = [([0; 2], 1); 128];
    let mut unit = 0;
    while unit < 128 {
        #[expect(clippy::indexing_slicing, reason = "evaluated when compiled")]
        {
            forms[unit as usize] = match letter(unit) {
                0 => ([unit, 0], 1),
                letter => ([b'\\', letter], 2),
            };
        }
        unit += 1;
    }
    forms
};

/// Two units for each, the second of which the next one overwrites where it does not count: branches, which the text
/// decides, would cost more.
fn write_usual<U: Copy + Default + From<u8>>(block: &[u16; BLOCK], out: &mut Vec<U>) {
    let mut units = [U::default(); 2 * BLOCK];
    let mut length = 0;
    for &unit in block {
        let (form, counted) = FORMS.get(usize::from(unit)).copied().unwrap_or_default();
        if let Some(room) = units.get_mut(length..length + 2) {
            room.copy_from_slice(&form.map(U::from));
        }
        length += counted;
    }
    let end = out.len() + length;
    out.extend_from_slice(&units);
    out.truncate(end);
}

/// The letter behind the backslash, for what has an escape of two; else 0.
const fn letter(unit: u8) -> u8 {
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

fn escaped(unit: u8) -> String {
    match letter(unit) {
        0 if unit < 0x20 => long_escape(u16::from(unit)),
        0 => char::from(unit).to_string(),
        letter => ['\\', char::from(letter)].iter().collect(),
    }
}

fn long_escape(unit: u16) -> String {
    format!("\\u{unit:04x}")
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
