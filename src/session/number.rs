//! Numbers of a line: what they stand for, where JavaScript prints them as they are written.

/// Digits that a double holds for certain.
const CERTAIN_DIGITS: usize = 15;

/// Whether numbers are made of a byte.
#[must_use]
pub fn is_numeric(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
}

/// The natural number with which a text begins, and its length, where a double holds it for certain.
#[must_use]
pub fn natural(text: &[u8]) -> Option<(f64, usize)> {
    let (mut number, mut length) = (0, 0);
    while length <= CERTAIN_DIGITS
        && let Some(digit @ b'0'..=b'9') = text.get(length)
    {
        number = 10 * number + u64::from(digit - b'0');
        length += 1;
    }
    let is_natural = length == 1 || ((2..=CERTAIN_DIGITS).contains(&length) && !text.starts_with(b"0"));
    let goes_on = text.get(length).copied().is_some_and(is_numeric);
    (is_natural && !goes_on).then_some((number as f64, length))
}

/// The number that a JSON number stands for, where JavaScript prints it in the same way. `None` also where that would
/// take a closer look, and for what is [`natural`] zero.
#[must_use]
pub fn printed_so(written: &[u8]) -> Option<f64> {
    let digits = written.strip_prefix(b"-").unwrap_or(written);
    let text = std::str::from_utf8(written).ok()?;
    // Rust and JavaScript print the shortest form alike, but for exponents.
    let grammatical = matches!(digits, [b'0', b'.', ..] | [b'1'..=b'9', ..]) && !digits.ends_with(b".");
    let number = text.parse::<f64>().ok().filter(|number| (1e-6..1e15).contains(&number.abs()));
    number.filter(|number| grammatical && number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::{natural, printed_so};

    #[test]
    fn a_natural_number_ends_where_no_number_goes_on() {
        for (text, found) in [
            ("0", Some((0.0, 1))),
            ("0,", Some((0.0, 1))),
            ("7}", Some((7.0, 1))),
            ("123456789012345]", Some((123_456_789_012_345.0, 15))),
            ("1234567890123456", None),
            ("01", None),
            ("1.5", None),
            ("1e5", None),
            ("-1", None),
            ("", None),
            ("a", None),
        ] {
            assert_eq!(natural(text.as_bytes()), found, "{text}");
        }
    }

    #[test]
    fn other_numbers_are_taken_where_javascript_prints_them_so() {
        for (text, found) in [
            ("-5", Some(-5.0)),
            ("0.25", Some(0.25)),
            ("-0.000001", Some(-0.000_001)),
            ("-0", None),
            ("-01", None),
            ("1.50", None),
            ("1.", None),
            ("1e5", None),
            ("0.0000001", None),
            ("1000000000000000", None),
            ("9007199254740993", None),
        ] {
            assert_eq!(printed_so(text.as_bytes()), found, "{text}");
        }
    }
}
