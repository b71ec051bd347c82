//! UTF-16 code units: the length of a JSON string, cuts that keep surrogate pairs whole.
//!
//! The only core module with `unsafe`, with those below it: AVX2 kernels, chosen at run time, whose oracles are safe
//! twins.

pub mod bytes;
pub mod escape;
pub mod find;

const HIGH: std::ops::RangeInclusive<u16> = 0xd800..=0xdbff;
const LOW: std::ops::RangeInclusive<u16> = 0xdc00..=0xdfff;

/// Whether a cut between `before` and `after` would split a surrogate pair.
#[must_use]
pub fn splits_pair(before: u16, after: u16) -> bool {
    HIGH.contains(&before) && LOW.contains(&after)
}

/// Replaces every lone surrogate by U+FFFD.
pub fn mend(text: &mut [u16]) {
    let mut from = 0;
    while let Some(at) = find::first(text.get(from..).unwrap_or_default(), is_surrogate) {
        let at = from + at;
        let rest = text.get_mut(at..).unwrap_or_default();
        from = match rest {
            &mut [before, after, ..] if splits_pair(before, after) => at + 2,
            [unit, ..] => {
                *unit = 0xfffd;
                at + 1
            }
            [] => at + 1,
        };
    }
}

fn is_surrogate(unit: u16) -> bool {
    unit & 0xf800 == 0xd800
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
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the feature this function is compiled for was just found on this processor.
        return text.len() + 2 + unsafe { avx2::escape_units(text) };
    }
    text.len() + 2 + escape_units(text)
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
        __m256i, _mm_add_epi64, _mm_cvtsi128_si64, _mm_unpackhi_epi64, _mm256_add_epi64, _mm256_and_si256,
        _mm256_andnot_si256, _mm256_castsi256_si128, _mm256_cmpeq_epi8, _mm256_cmpeq_epi16,
        _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_min_epu8, _mm256_min_epu16,
        _mm256_movemask_epi8, _mm256_or_si256, _mm256_packus_epi16, _mm256_sad_epu8, _mm256_set1_epi8,
        _mm256_set1_epi16, _mm256_setr_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_sub_epi8,
        _mm256_testz_si256,
    };

    /// Units that are looked at at once.
    pub(super) const LANES: usize = 32;

    pub(super) type Block = (__m256i, __m256i);

    /// A unit with bit 7 has no escape. The window at `n` sets it in all lanes but the last `n`.
    const COUNTED: [[u16; LANES]; 2] = [[0x80; LANES], [0; LANES]];

    /// Thirty-two units at a time, as bytes: a unit above 255 needs no escape unless it is half a pair, and a
    /// block with one of those goes to the twin.
    #[target_feature(enable = "avx2")]
    pub(super) fn escape_units(text: &[u16]) -> usize {
        let mut added = _mm256_setzero_si256();
        let mut by_twin = 0;
        let mut rest = text;
        while let Some((block, after)) = rest.split_first_chunk::<LANES>() {
            if let Some(costs) = costs(load(block)) {
                added = _mm256_add_epi64(added, costs);
                rest = after;
            } else {
                let (odd, plain) = rest.split_at_checked(odd_stretch(rest)).unwrap_or((rest, &[]));
                by_twin += super::escape_units(odd);
                rest = plain;
            }
        }
        match costs(last(text, rest)) {
            Some(costs) => added = _mm256_add_epi64(added, costs),
            None => by_twin += super::escape_units(rest),
        }
        by_twin + sum(added)
    }

    /// How many units to hand to the twin: whole blocks, one more unit where the last would split a pair.
    fn odd_stretch(text: &[u16]) -> usize {
        match (text.get(LANES - 1), text.get(LANES)) {
            (Some(&before), Some(&after)) if super::splits_pair(before, after) => LANES + 1,
            _ => LANES.min(text.len()),
        }
    }

    #[target_feature(enable = "avx2")]
    #[expect(clippy::cast_ptr_alignment, reason = "the loads are unaligned ones")]
    pub(super) fn load(block: &[u16; LANES]) -> Block {
        // SAFETY: the block holds 64 readable bytes, and the loads need no alignment.
        unsafe {
            let start = block.as_ptr().cast::<__m256i>();
            (_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1)))
        }
    }

    /// The block that ends with `rest`: what stands before it in the text is made free of escapes.
    #[target_feature(enable = "avx2")]
    fn last(text: &[u16], rest: &[u16]) -> Block {
        let counted = COUNTED.as_flattened().get(rest.len()..).and_then(<[u16]>::first_chunk);
        if let (Some(block), Some(counted)) = (text.last_chunk(), counted) {
            let ((front, back), (front_mask, back_mask)) = (load(block), load(counted));
            return (_mm256_or_si256(front, front_mask), _mm256_or_si256(back, back_mask));
        }
        let mut block = [0x20; LANES];
        block.iter_mut().zip(rest).for_each(|(slot, unit)| *slot = *unit);
        load(&block)
    }

    /// Units that escaping adds to a block, as four sums; `None` where it holds half a surrogate pair.
    #[target_feature(enable = "avx2")]
    fn costs((front, back): Block) -> Option<__m256i> {
        let above = _mm256_set1_epi16(0xff00_u16.cast_signed());
        if _mm256_testz_si256(_mm256_or_si256(front, back), above) == 1 {
            return Some(byte_costs(_mm256_packus_epi16(front, back)));
        }
        if !holds_whole_pairs(front, back) {
            return None;
        }
        let most = _mm256_set1_epi16(0xff);
        let bytes = _mm256_packus_epi16(_mm256_min_epu16(front, most), _mm256_min_epu16(back, most));
        Some(byte_costs(bytes))
    }

    /// One for a unit with a short escape, five for any other control character.
    #[target_feature(enable = "avx2")]
    fn byte_costs(bytes: __m256i) -> __m256i {
        // Each entry stands at its own low half: a byte that finds itself has a short escape.
        #[rustfmt::skip]
        let short = _mm256_setr_epi8(
            -1, -1, 0x22, -1, -1, -1, -1, -1, 8, 9, 10, -1, 12, 13, -1, -1,
            -1, -1, 0x22, -1, -1, -1, -1, -1, 8, 9, 10, -1, 12, 13, -1, -1,
        );
        let found = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(short, bytes), bytes);
        let short = _mm256_or_si256(found, _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(0x5c)));
        let control = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(0x1f)), bytes);
        let long = _mm256_and_si256(_mm256_andnot_si256(short, control), _mm256_set1_epi8(5));
        // A comparison that holds is -1.
        _mm256_sad_epu8(_mm256_sub_epi8(long, short), _mm256_setzero_si256())
    }

    /// Whether each high surrogate is followed by a low one in the block, and no low one stands alone.
    #[target_feature(enable = "avx2")]
    fn holds_whole_pairs(front: __m256i, back: __m256i) -> bool {
        let high = class_mask(front, back, 0xd800);
        let low = class_mask(front, back, 0xdc00);
        // Two bits a unit.
        high >> 62 == 0 && high << 2 == low
    }

    /// Which units are surrogates of one kind, as two bits each.
    #[target_feature(enable = "avx2")]
    fn class_mask(front: __m256i, back: __m256i, first: u16) -> u64 {
        let (bits, first) =
            (_mm256_set1_epi16(0xfc00_u16.cast_signed()), _mm256_set1_epi16(first.cast_signed()));
        let front = _mm256_movemask_epi8(_mm256_cmpeq_epi16(_mm256_and_si256(front, bits), first));
        let back = _mm256_movemask_epi8(_mm256_cmpeq_epi16(_mm256_and_si256(back, bits), first));
        u64::from(front.cast_unsigned()) | u64::from(back.cast_unsigned()) << 32
    }

    #[target_feature(enable = "avx2")]
    fn sum(sums: __m256i) -> usize {
        let pair = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
        let both = _mm_add_epi64(pair, _mm_unpackhi_epi64(pair, pair));
        _mm_cvtsi128_si64(both) as usize
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
