//! Where some units stand in a text.

/// The first place of a unit that `is` holds for. Without branches in it, a block is looked at at once.
pub fn first(text: &[u16], is: impl Fn(u16) -> bool) -> Option<usize> {
    const BLOCK: usize = 16;
    let mut at = 0;
    while let Some(block) = text.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        if block.iter().fold(false, |any, &unit| any | is(unit)) {
            break;
        }
        at += BLOCK;
    }
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().position(|&unit| is(unit)).map(|found| at + found)
}

/// The first place of any of three units.
#[must_use]
pub fn first_of(text: &[u16], wanted: [u16; 3]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the feature this function is compiled for was just found on this processor.
        return unsafe { avx2::first_of(text, wanted) };
    }
    plainly(text, wanted)
}

/// The twin of the kernel.
#[expect(clippy::needless_bitwise_bool, reason = "without branches a block is compared at once")]
fn plainly(text: &[u16], [a, b, c]: [u16; 3]) -> Option<usize> {
    first(text, |unit| (unit == a) | (unit == b) | (unit == c))
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{_mm256_cmpeq_epi16, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi16};

    use crate::transcript::units::avx2::{LANES, load};

    #[target_feature(enable = "avx2")]
    pub(super) fn first_of(text: &[u16], wanted: [u16; 3]) -> Option<usize> {
        let (blocks, rest) = text.as_chunks::<LANES>();
        let [a, b, c] = wanted.map(|unit| _mm256_set1_epi16(unit.cast_signed()));
        let is = |units| {
            let either = _mm256_or_si256(_mm256_cmpeq_epi16(units, a), _mm256_cmpeq_epi16(units, b));
            _mm256_or_si256(either, _mm256_cmpeq_epi16(units, c))
        };
        for (block, at) in blocks.iter().zip((0..).step_by(LANES)) {
            let (front, back) = load(block);
            let (front, back) = (is(front), is(back));
            if _mm256_movemask_epi8(_mm256_or_si256(front, back)) != 0 {
                let bits = |half| u64::from(_mm256_movemask_epi8(half).cast_unsigned());
                // Two bits a unit.
                return Some(at + (bits(front) | bits(back) << 32).trailing_zeros() as usize / 2);
            }
        }
        super::plainly(rest, wanted).map(|at| text.len() - rest.len() + at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn kernel_equals_its_twin(text in prop::collection::vec(0..200_u16, 0..200), at in 0..200_usize) {
            let text = text.get(at..).unwrap_or(&text);
            let wanted = [3, 77, 160];
            let found = text.iter().position(|unit| wanted.contains(unit));
            prop_assert_eq!(first_of(text, wanted), found);
            prop_assert_eq!(plainly(text, wanted), found);
        }
    }
}
