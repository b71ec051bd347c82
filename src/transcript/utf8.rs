//! UTF-16 text as the inside of a JSON string in UTF-8: what a request body is made of.

const BLOCK: usize = 32;
const WORD: usize = 8;

/// Appends the text, escaped; a lone surrogate becomes U+FFFD.
pub fn write_escaped(text: &[u16], out: &mut Vec<u8>) {
    out.reserve(text.len() + text.len() / 16);
    let mut narrow = Vec::with_capacity(BLOCK * BLOCK + 1);
    for piece in pieces(text, BLOCK * BLOCK) {
        narrow.clear();
        write_utf8(piece, &mut narrow);
        escape(&narrow, out);
    }
}

/// Pieces of at most `most` units and one more where the cut would split a surrogate pair: small enough to stay in the
/// nearest cache.
fn pieces(text: &[u16], most: usize) -> impl Iterator<Item = &[u16]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = match (rest.get(most - 1), rest.get(most)) {
            (Some(&before), Some(&after)) if super::units::splits_pair(before, after) => most + 1,
            _ => most.min(rest.len()),
        };
        let (piece, after) = rest.split_at_checked(end)?;
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

fn write_utf8(text: &[u16], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some((block, after)) = rest.split_first_chunk::<BLOCK>() {
        if block.iter().fold(0, |all, unit| all | unit) < 0x80 {
            out.extend(block.map(|unit| unit as u8));
            rest = after;
        } else {
            let piece = pieces(rest, BLOCK).next().unwrap_or(rest);
            write_chars(piece, out);
            rest = rest.get(piece.len()..).unwrap_or_default();
        }
    }
    write_chars(rest, out);
}

fn write_chars(text: &[u16], out: &mut Vec<u8>) {
    for char in char::decode_utf16(text.iter().copied()) {
        let char = char.unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

fn escape(text: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(word) = text.get(at..).and_then(|rest| rest.first_chunk::<WORD>()) {
        let plain = plain_bytes(u64::from_le_bytes(*word));
        // All eight, and back: cheaper than a copy of unknown length.
        out.extend_from_slice(word);
        out.truncate(out.len() - WORD + plain);
        at += plain;
        if let Some(&byte) = word.get(plain) {
            write_escape(byte, out);
            at += 1;
        }
    }
    for &byte in text.get(at..).unwrap_or_default() {
        if byte < 0x20 || byte == b'"' || byte == b'\\' { write_escape(byte, out) } else { out.push(byte) }
    }
}

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' | b'\\' => out.extend([b'\\', byte]),
        b'\n' => out.extend(b"\\n"),
        b'\t' => out.extend(b"\\t"),
        b'\r' => out.extend(b"\\r"),
        _ => out.extend(format!("\\u{byte:04x}").bytes()),
    }
}

/// Bytes from the lowest on that need no escape: arithmetic on the word marks the first below a space, or that is a
/// quote or a backslash.
fn plain_bytes(word: u64) -> usize {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = EACH * 0x80;
    let below = |word: u64, bound: u64| word.wrapping_sub(EACH * bound) & !word;
    let quote = word ^ (EACH * 0x22);
    let backslash = word ^ (EACH * 0x5c);
    let marks = (below(word, 0x20) | below(quote, 1) | below(backslash, 1)) & HIGH;
    (marks.trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equals_serde(text in prop::collection::vec(prop_oneof![
            0..0x80_u16, Just(0x0a), Just(0x22), Just(0x5c), any::<u16>(), 0xd800..0xe000_u16, Just(0x20)
        ], 0..200)) {
            let mut escaped = Vec::new();
            write_escaped(&text, &mut escaped);
            let read: String = serde_json::from_slice(&[b"\"", &*escaped, b"\""].concat()).unwrap();
            prop_assert_eq!(read, String::from_utf16_lossy(&text));
        }
    }
}
