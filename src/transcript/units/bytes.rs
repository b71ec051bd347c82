//! Which bytes of a text matter to JSON, sixty-four at a time.

/// Bytes of a block.
pub const BYTES: usize = 64;

/// One bit for each byte of a block, the first in the lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Masks {
    /// `"`
    pub quotes: u64,
    /// `\`
    pub backslashes: u64,
    /// Line feeds.
    pub breaks: u64,
    /// Bytes below 0x20, line feeds included.
    pub controls: u64,
    /// Bytes of UTF-8 that continue a character.
    pub continuations: u64,
    /// Bytes that begin a character of two UTF-16 units.
    pub wide: u64,
    /// Bytes that are no ASCII.
    pub high: u64,
}

/// What is made of the blocks of a text. A trait and no closure: a method can be forced into the kernel's loop, where
/// the kernel's features are at hand.
pub trait Blocks {
    /// Takes the next block.
    fn add(&mut self, masks: Masks, escapes: Escapes);
}

/// Escaped bytes of a block: those behind an odd number of backslashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Escapes {
    /// All of them.
    pub all: u64,
    /// Those that are no `"`, `\`, `n` or `t`. Most are one of these.
    pub special: u64,
}

/// Hands the masks of each block to `to`, in order. The last block is filled up with spaces.
pub fn each_block(text: &[u8], to: &mut impl Blocks) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("popcnt")
        && std::arch::is_x86_feature_detected!("bmi1")
    {
        // SAFETY: the features this function is compiled for were just found on this processor.
        return unsafe { avx2::each_block(text, to) };
    }
    blocks(text, masks, usual, to);
}

#[expect(clippy::inline_always, reason = "inside the kernel, whose features it then has")]
#[inline(always)]
fn blocks(
    text: &[u8],
    masks: impl Fn(&[u8; BYTES]) -> Masks,
    usual: impl Fn(&[u8; BYTES]) -> u64,
    to: &mut impl Blocks,
) {
    let (whole, rest) = text.as_chunks::<BYTES>();
    let mut last = [b' '; BYTES];
    last.iter_mut().zip(rest).for_each(|(slot, byte)| *slot = *byte);
    let last = (!rest.is_empty()).then_some(&last);
    let mut carried = 0;
    // One place that calls it, for it is to be inlined.
    for block in whole.iter().chain(last) {
        let masks = masks(block);
        let all = escaped(masks.backslashes, &mut carried);
        let special = if all == 0 { 0 } else { all & !usual(block) };
        to.add(masks, Escapes { all, special });
    }
}

/// The scalar twin of the kernel's.
fn masks(block: &[u8; BYTES]) -> Masks {
    let mask = |holds| mask(block, holds);
    Masks {
        quotes: mask(|byte| byte == b'"'),
        backslashes: mask(|byte| byte == b'\\'),
        breaks: mask(|byte| byte == b'\n'),
        controls: mask(|byte| byte < 0x20),
        continuations: mask(|byte| byte & 0xc0 == 0x80),
        wide: mask(|byte| byte >= 0xf0),
        high: mask(|byte| byte >= 0x80),
    }
}

/// `"`, `\`, `n` and `t`, which most escapes are of; the scalar twin of the kernel's.
fn usual(block: &[u8; BYTES]) -> u64 {
    mask(block, |byte| matches!(byte, b'"' | b'\\' | b'n' | b't'))
}

fn mask(block: &[u8; BYTES], holds: fn(u8) -> bool) -> u64 {
    block.iter().enumerate().fold(0, |mask, (at, &byte)| mask | u64::from(holds(byte)) << at)
}

/// Every other bit, from the second.
const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;

/// Which bytes are escaped. `carried` says whether the first one is, and then whether the first of the next block is.
#[expect(clippy::inline_always, reason = "inside the kernel's loop")]
#[inline(always)]
fn escaped(backslashes: u64, carried: &mut u64) -> u64 {
    let begins = backslashes & !*carried;
    // Subtracting a run of backslashes from what they escape leaves every other bit of it, as in simdjson.
    let ends = (begins << 1 | ODD).wrapping_sub(begins) ^ ODD;
    let escaped = ends ^ (backslashes | *carried);
    *carried = (ends & backslashes) >> 63;
    escaped
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm_setr_epi8, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8,
        _mm256_loadu_si256, _mm256_max_epu8, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256,
        _mm256_set1_epi8, _mm256_shuffle_epi8, _mm256_testz_si256,
    };

    use super::{BYTES, Blocks, Masks};

    #[target_feature(enable = "avx2,popcnt,bmi1")]
    pub(super) fn each_block(text: &[u8], to: &mut impl Blocks) {
        super::blocks(text, |block| masks(block), |block| usual(block), to);
    }

    #[target_feature(enable = "avx2,popcnt,bmi1")]
    fn masks(block: &[u8; BYTES]) -> Masks {
        let [front, back] = halves(block);
        let equal = |byte: u8| {
            let byte = _mm256_set1_epi8(byte.cast_signed());
            bits(_mm256_cmpeq_epi8(front, byte), _mm256_cmpeq_epi8(back, byte))
        };
        let last_control = _mm256_set1_epi8(0x1f);
        let below = |half| _mm256_cmpeq_epi8(_mm256_min_epu8(half, last_control), half);
        let mut masks = Masks { quotes: equal(b'"'), backslashes: equal(b'\\'), ..Masks::default() };
        // Most blocks hold neither control characters nor anything that is no ASCII.
        let (below_front, below_back) = (below(front), below(back));
        let odd = _mm256_or_si256(_mm256_or_si256(below_front, front), _mm256_or_si256(below_back, back));
        if _mm256_testz_si256(odd, _mm256_set1_epi8(i8::MIN)) == 0 {
            masks.breaks = equal(b'\n');
            masks.controls = bits(below_front, below_back);
            masks.high = bits(front, back);
            let first_lead = _mm256_set1_epi8(0xc0_u8.cast_signed());
            let continues = |half| _mm256_cmpgt_epi8(first_lead, half);
            masks.continuations = bits(continues(front), continues(back));
            let first_wide = _mm256_set1_epi8(0xf0_u8.cast_signed());
            let wide = |half| _mm256_cmpeq_epi8(_mm256_max_epu8(half, first_wide), half);
            masks.wide = bits(wide(front), wide(back));
        }
        masks
    }

    /// `"`, `\`, `n` and `t`.
    #[target_feature(enable = "avx2")]
    fn usual(block: &[u8; BYTES]) -> u64 {
        let [front, back] = halves(block);
        // Each where its lower four bits say; other bytes find what they are not.
        let [quote, t, backslash, n] = [b'"', b't', b'\\', b'n'].map(u8::cast_signed);
        let table = _mm_setr_epi8(-1, 0, quote, 0, t, 0, 0, 0, 0, 0, 0, 0, backslash, 0, n, 0);
        let table = _mm256_broadcastsi128_si256(table);
        let usual = |half| _mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, half), half);
        bits(usual(front), usual(back))
    }

    #[target_feature(enable = "avx2")]
    #[expect(clippy::cast_ptr_alignment, reason = "the loads are unaligned ones")]
    fn halves(block: &[u8; BYTES]) -> [__m256i; 2] {
        let start = block.as_ptr().cast::<__m256i>();
        // SAFETY: the block holds 64 readable bytes, and the loads need no alignment.
        unsafe { [_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1))] }
    }

    /// The highest bit of each byte.
    #[target_feature(enable = "avx2")]
    fn bits(front: __m256i, back: __m256i) -> u64 {
        let (front, back) = (_mm256_movemask_epi8(front), _mm256_movemask_epi8(back));
        u64::from(front.cast_unsigned()) | u64::from(back.cast_unsigned()) << 32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Default, PartialEq)]
    struct Seen(Vec<(Masks, Escapes)>);

    impl Blocks for Seen {
        fn add(&mut self, masks: Masks, escapes: Escapes) {
            self.0.push((masks, escapes));
        }
    }

    proptest! {
        #[test]
        fn kernel_equals_its_twin(text in prop::collection::vec(any::<u8>(), 0..300)) {
            let (mut by_kernel, mut by_twin) = (Seen::default(), Seen::default());
            each_block(&text, &mut by_kernel);
            blocks(&text, masks, usual, &mut by_twin);
            prop_assert_eq!(by_kernel, by_twin);
        }
    }
}
