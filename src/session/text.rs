//! The content of a JSON string in UTF-8 as UTF-16 text.

/// Writes what a string in the strict form says, no more than `most` units of it.
pub fn write(content: &[u8], most: usize, text: &mut Vec<u16>) {
    let end = text.len().saturating_add(most);
    let mut rest = content;
    while let Some((&byte, after)) = rest.split_first() {
        if text.len() >= end {
            break;
        }
        rest = after;
        match byte {
            b'\\' => rest = escape(after, text),
            0..0x80 => text.push(byte.into()),
            _ => rest = character(byte, after, text),
        }
    }
    text.truncate(end);
}

/// One escape; what stands behind it.
fn escape<'t>(after: &'t [u8], text: &mut Vec<u16>) -> &'t [u8] {
    let Some((&letter, rest)) = after.split_first() else { return after };
    let unit = match letter {
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => 0x0a,
        b'r' => 0x0d,
        b't' => 0x09,
        b'u' => {
            let digits = rest.get(..4).and_then(|digits| std::str::from_utf8(digits).ok());
            text.push(digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()).unwrap_or(0xfffd));
            return rest.get(4..).unwrap_or_default();
        }
        other => other.into(),
    };
    text.push(unit);
    rest
}

/// One character beyond ASCII; what stands behind it. The text was found to be UTF-8.
fn character<'t>(first: u8, after: &'t [u8], text: &mut Vec<u16>) -> &'t [u8] {
    let (length, bits) = match first {
        0xf0.. => (3, first & 0x07),
        0xe0.. => (2, first & 0x0f),
        _ => (1, first & 0x1f),
    };
    let (more, rest) = after.split_at_checked(length).unwrap_or((after, &[]));
    let code = more.iter().fold(u32::from(bits), |code, byte| code << 6 | u32::from(byte & 0x3f));
    let mut units = [0; 2];
    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    text.extend_from_slice(character.encode_utf16(&mut units));
    rest
}

#[cfg(test)]
mod tests {
    use super::write;

    #[test]
    fn says_what_serde_says_and_halves_of_pairs_as_they_are() {
        for content in [r"a\n\t\r\b\f\\\u001b", r#"\"é漢😀"#, r"\u0000\u007f", ""] {
            let expected: String = serde_json::from_str(&format!("\"{content}\"")).unwrap();
            let mut text = Vec::new();
            write(content.as_bytes(), usize::MAX, &mut text);
            assert_eq!(String::from_utf16(&text).unwrap(), expected);
        }
        let mut half = Vec::new();
        write(br"\ud83dx", usize::MAX, &mut half);
        assert_eq!(half, [0xd83d, u16::from(b'x')]);
    }

    #[test]
    fn writes_no_more_than_it_may_behind_what_is_there() {
        let mut text = vec![1, 2];
        write("a😀b".as_bytes(), 2, &mut text);
        assert_eq!(text, [1, 2, u16::from(b'a'), 0xd83d]);
    }
}
