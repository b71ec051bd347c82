//! UTF-16 code units: the length of a JSON string, cuts that keep surrogate pairs whole.
//!
//! The only core module with `unsafe`: an AVX2 kernel, chosen at run time, whose oracle is the scalar twin.

const HIGH: std::ops::RangeInclusive<u16> = 0xd800..=0xdbff;
const LOW: std::ops::RangeInclusive<u16> = 0xdc00..=0xdfff;

/// Whether a cut between `before` and `after` would split a surrogate pair.
#[must_use]
pub fn splits_pair(before: u16, after: u16) -> bool {
    HIGH.contains(&before) && LOW.contains(&after)
}

/// The longest prefix of at most `units` units that splits no surrogate pair.
#[must_use]
pub fn head(text: &[u16], units: usize) -> &[u16] {
    let end = units.min(text.len());
    let whole = match (end.checked_sub(1).and_then(|i| text.get(i)), text.get(end)) {
        (Some(&before), Some(&after)) if splits_pair(before, after) => end - 1,
        _ => end,
    };
    text.get(..whole).unwrap_or_default()
}

/// The longest suffix of at most `units` units that splits no surrogate pair.
#[must_use]
pub fn tail(text: &[u16], units: usize) -> &[u16] {
    let start = text.len().saturating_sub(units);
    let whole = match (start.checked_sub(1).and_then(|i| text.get(i)), text.get(start)) {
        (Some(&before), Some(&after)) if splits_pair(before, after) => start + 1,
        _ => start,
    };
    text.get(whole..).unwrap_or_default()
}

/// The length of `JSON.stringify(text)` in UTF-16 units, quotes included: short escapes take two units, other
/// control characters and lone surrogates six.
#[must_use]
pub fn quoted_units(text: &[u16]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the features this function is compiled for were just found on this processor.
        return text.len() + 2 + unsafe { avx2::escape_units(text) };
    }
    text.len() + 2 + escape_units(text)
}

/// Appends `JSON.stringify(text)`.
pub fn write_quoted(text: &[u16], out: &mut Vec<u16>) {
    out.push(0x22);
    let mut rest = text;
    while let Some((&unit, after)) = rest.split_first() {
        rest = after;
        match (unit, short_escape(unit)) {
            (_, Some(letter)) => out.extend([0x5c, letter]),
            (0xd800..=0xdbff, _) => match after.split_first() {
                Some((&low, after_pair)) if LOW.contains(&low) => {
                    out.extend([unit, low]);
                    rest = after_pair;
                }
                _ => write_escape(unit, out),
            },
            (0..0x20 | 0xdc00..=0xdfff, _) => write_escape(unit, out),
            _ => out.push(unit),
        }
    }
    out.push(0x22);
}

/// The letter after the backslash, for the units that have such an escape.
fn short_escape(unit: u16) -> Option<u16> {
    let letter = match unit {
        0x22 | 0x5c => return Some(unit),
        0x08 => b'b',
        0x09 => b't',
        0x0a => b'n',
        0x0c => b'f',
        0x0d => b'r',
        _ => return None,
    };
    Some(u16::from(letter))
}

fn write_escape(unit: u16, out: &mut Vec<u16>) {
    out.extend(format!("\\u{unit:04x}").encode_utf16());
}

/// The longest prefix that takes at most `room` units inside a JSON string.
#[must_use]
pub fn escaped_head(text: &[u16], room: usize) -> &[u16] {
    let mut left = room;
    let mut end = 0;
    while let Some(rest) = text.get(end..).filter(|rest| !rest.is_empty()) {
        let whole = if starts_pair(rest) { 2 } else { 1 };
        let cost = escaped_units(rest.get(..whole).unwrap_or(rest));
        let Some(rest) = left.checked_sub(cost) else { break };
        left = rest;
        end += whole;
    }
    text.get(..end).unwrap_or_default()
}

/// The longest suffix that takes at most `room` units inside a JSON string.
#[must_use]
pub fn escaped_tail(text: &[u16], room: usize) -> &[u16] {
    let mut left = room;
    let mut start = text.len();
    while start > 0 {
        let two = start.checked_sub(2).and_then(|from| text.get(from..start));
        let whole = if two.is_some_and(starts_pair) { 2 } else { 1 };
        let cost = escaped_units(text.get(start - whole..start).unwrap_or_default());
        let Some(rest) = left.checked_sub(cost) else { break };
        left = rest;
        start -= whole;
    }
    text.get(start..).unwrap_or_default()
}

fn starts_pair(text: &[u16]) -> bool {
    matches!(text, &[before, after, ..] if splits_pair(before, after))
}

fn escaped_units(text: &[u16]) -> usize {
    text.len() + escape_units(text)
}

/// Units that escaping adds to `text`: the scalar twin of the kernel.
fn escape_units(text: &[u16]) -> usize {
    let mut added = 0;
    let mut rest = text;
    while let Some((&unit, after)) = rest.split_first() {
        rest = after;
        added += match unit {
            0x22 | 0x5c | 0x08 | 0x09 | 0x0a | 0x0c | 0x0d => 1,
            0xd800..=0xdbff => match after.split_first() {
                Some((low, after_pair)) if LOW.contains(low) => {
                    rest = after_pair;
                    0
                }
                _ => 5,
            },
            0..0x20 | 0xdc00..=0xdfff => 5,
            _ => 0,
        };
    }
    added
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_and_si256, _mm256_cmpeq_epi16, _mm256_cmpgt_epi16, _mm256_loadu_si256,
        _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi16, _mm256_setzero_si256, _mm256_subs_epu16,
    };

    const LANES: usize = 16;

    /// Sixteen units at a time; from the first block with a surrogate or a long escape the twin takes over for
    /// that stretch.
    #[target_feature(enable = "avx2,popcnt")]
    #[expect(clippy::cast_ptr_alignment, reason = "the load is an unaligned one")]
    pub(super) fn escape_units(text: &[u16]) -> usize {
        let mut added = 0;
        let mut rest = text;
        while let Some((block, after)) = rest.split_first_chunk::<LANES>() {
            // SAFETY: the block holds 32 readable bytes, and the load needs no alignment.
            let units = unsafe { _mm256_loadu_si256(block.as_ptr().cast::<__m256i>()) };
            if needs_twin(units) {
                let stretch = odd_stretch(rest);
                let (odd, plain) = rest.split_at_checked(stretch).unwrap_or((rest, &[]));
                added += super::escape_units(odd);
                rest = plain;
                continue;
            }
            added += short_escapes(units);
            rest = after;
        }
        added + super::escape_units(rest)
    }

    /// How many units to hand to the twin: whole blocks, one more unit where the last would split a pair.
    fn odd_stretch(text: &[u16]) -> usize {
        match (text.get(LANES - 1), text.get(LANES)) {
            (Some(&before), Some(&after)) if super::splits_pair(before, after) => LANES + 1,
            _ => LANES.min(text.len()),
        }
    }

    #[target_feature(enable = "avx2,popcnt")]
    fn short_escapes(units: __m256i) -> usize {
        let quote = _mm256_cmpeq_epi16(units, _mm256_set1_epi16(0x22));
        let backslash = _mm256_cmpeq_epi16(units, _mm256_set1_epi16(0x5c));
        let control = is_control(units);
        let escapes = _mm256_or_si256(_mm256_or_si256(quote, backslash), control);
        _mm256_movemask_epi8(escapes).count_ones() as usize / 2
    }

    /// A surrogate, or a control character without a short escape (below 8, 11, 14 to 31).
    #[target_feature(enable = "avx2")]
    fn needs_twin(units: __m256i) -> bool {
        let class = _mm256_and_si256(units, _mm256_set1_epi16(0xf800_u16.cast_signed()));
        let surrogate = _mm256_cmpeq_epi16(class, _mm256_set1_epi16(0xd800_u16.cast_signed()));
        let low = _mm256_cmpgt_epi16(_mm256_set1_epi16(8), units);
        let high = _mm256_cmpgt_epi16(units, _mm256_set1_epi16(13));
        let vertical_tab = _mm256_cmpeq_epi16(units, _mm256_set1_epi16(11));
        let long =
            _mm256_and_si256(is_control(units), _mm256_or_si256(_mm256_or_si256(low, high), vertical_tab));
        _mm256_movemask_epi8(_mm256_or_si256(surrogate, long)) != 0
    }

    #[target_feature(enable = "avx2")]
    fn is_control(units: __m256i) -> __m256i {
        // Unsigned "at most 31": saturating subtraction leaves zero.
        let over = _mm256_subs_epu16(units, _mm256_set1_epi16(0x1f));
        _mm256_cmpeq_epi16(over, _mm256_setzero_si256())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn units() -> impl Strategy<Value = Vec<u16>> {
        let unit = prop_oneof![
            8 => 0x20u16..0x7f,
            2 => 0u16..0x20,
            1 => Just(0x22u16),
            1 => Just(0x5cu16),
            1 => 0xd800u16..0xe000,
            1 => any::<u16>(),
        ];
        prop::collection::vec(unit, 0..120)
    }

    proptest! {
        #[test]
        fn kernel_equals_its_twin(text in units()) {
            prop_assert_eq!(quoted_units(&text), text.len() + 2 + escape_units(&text));
            let mut written = Vec::new();
            write_quoted(&text, &mut written);
            prop_assert_eq!(written.len(), quoted_units(&text));
        }

        #[test]
        fn cuts_never_split_a_pair(text in units(), at in 0usize..130) {
            let (front, back) = (head(&text, at), tail(&text, at));
            prop_assert!(front.len() <= at && back.len() <= at);
            let split = |i: usize| i > 0 && i < text.len() && splits_pair(text[i - 1], text[i]);
            prop_assert!(!split(front.len()) && !split(text.len() - back.len()));
            let (front, back) = (escaped_head(&text, at), escaped_tail(&text, at));
            prop_assert!(quoted_units(front) - 2 <= at && quoted_units(back) - 2 <= at);
            prop_assert!(!split(front.len()) && !split(text.len() - back.len()));
        }
    }

    #[test]
    fn pair_across_blocks_stays_whole() {
        for lead in 0..40 {
            let text: Vec<u16> =
                "a".repeat(lead).encode_utf16().chain("\u{1f980}x\n".encode_utf16()).collect();
            assert_eq!(quoted_units(&text), text.len() + 3, "{lead}");
        }
    }
}
