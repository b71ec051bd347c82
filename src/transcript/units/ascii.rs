//! Which blocks of a UTF-16 text are ASCII, and what of them has an escape in JSON.

/// Units of a block.
pub const UNITS: usize = 32;

/// A block that is all ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ascii {
    /// Its units.
    pub bytes: [u8; UNITS],
    /// One bit for each that has an escape, the first in the lowest.
    pub escapes: u32,
}

/// What is made of the blocks of a text. A trait and no closure: methods can be forced into the kernel's loop.
pub trait Blocks {
    /// Takes a block that is ASCII, of which these first units are the text's; spaces fill up the last one.
    fn ascii(&mut self, block: Ascii, units: usize);
    /// Takes a block from what is left that is not all ASCII, and tells how many units it took.
    fn other(&mut self, rest: &[u16]) -> usize;
}

/// Hands a text to `to`, in order.
pub fn each_block(text: &[u16], to: &mut impl Blocks) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("bmi1") {
        // SAFETY: the features this function is compiled for were just found on this processor.
        return unsafe { avx2::each_block(text, to) };
    }
    blocks(text, ascii, to);
}

#[expect(clippy::inline_always, reason = "inside the kernel, whose features it then has")]
#[inline(always)]
fn blocks(text: &[u16], ascii: impl Fn(&[u16; UNITS]) -> Option<Ascii>, to: &mut impl Blocks) {
    let mut rest = text;
    let mut last = [0x20; UNITS];
    while !rest.is_empty() {
        let block = rest.first_chunk().unwrap_or_else(|| {
            last.iter_mut().zip(rest).for_each(|(slot, unit)| *slot = *unit);
            &last
        });
        let taken = if let Some(block) = ascii(block) {
            let units = rest.len().min(UNITS);
            to.ascii(block, units);
            units
        } else {
            to.other(rest)
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
}

/// The scalar twin of the kernel.
fn ascii(block: &[u16; UNITS]) -> Option<Ascii> {
    if block.iter().any(|&unit| unit >= 0x80) {
        return None;
    }
    let has_escape = |unit: u16| unit < 0x20 || unit == 0x22 || unit == 0x5c;
    let escapes =
        block.iter().enumerate().fold(0, |mask, (at, &unit)| mask | u32::from(has_escape(unit)) << at);
    Some(Ascii { bytes: block.map(|unit| unit as u8), escapes })
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_packus_epi16, _mm256_permute4x64_epi64, _mm256_set1_epi8, _mm256_set1_epi16,
        _mm256_storeu_si256, _mm256_testz_si256,
    };

    use super::{Ascii, Blocks, UNITS};

    #[target_feature(enable = "avx2,bmi1")]
    pub(super) fn each_block(text: &[u16], to: &mut impl Blocks) {
        super::blocks(text, |block| ascii(block), to);
    }

    #[target_feature(enable = "avx2,bmi1")]
    #[expect(clippy::cast_ptr_alignment, reason = "loads and stores are unaligned ones")]
    fn ascii(block: &[u16; UNITS]) -> Option<Ascii> {
        // SAFETY: the block holds 64 readable bytes, and the loads need no alignment.
        let (front, back) = unsafe {
            let start = block.as_ptr().cast::<__m256i>();
            (_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1)))
        };
        let beyond = _mm256_set1_epi16(0xff80_u16.cast_signed());
        if _mm256_testz_si256(_mm256_or_si256(front, back), beyond) == 0 {
            return None;
        }
        // Packing takes the halves of both in turn.
        let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi16(front, back));
        let is = |byte: u8| _mm256_cmpeq_epi8(packed, _mm256_set1_epi8(byte.cast_signed()));
        let control = _mm256_cmpeq_epi8(_mm256_min_epu8(packed, _mm256_set1_epi8(0x1f)), packed);
        let escapes = _mm256_or_si256(control, _mm256_or_si256(is(b'"'), is(b'\\')));
        let mut bytes = [0; UNITS];
        // SAFETY: the array has the 32 bytes that are written, and the store needs no alignment.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast::<__m256i>(), packed) };
        Some(Ascii { bytes, escapes: _mm256_movemask_epi8(escapes).cast_unsigned() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn kernel_equals_its_twin(
            text in prop::collection::vec(prop_oneof![40 => 0..0x80_u16, 1 => any::<u16>()], 0..200)
        ) {
            let (mut by_kernel, mut by_twin) = (Seen::default(), Seen::default());
            each_block(&text, &mut by_kernel);
            blocks(&text, ascii, &mut by_twin);
            prop_assert_eq!(by_kernel, by_twin);
        }
    }

    #[derive(Debug, Default, PartialEq)]
    struct Seen(Vec<Result<(Ascii, usize), Vec<u16>>>);

    impl Blocks for Seen {
        fn ascii(&mut self, block: Ascii, units: usize) {
            self.0.push(Ok((block, units)));
        }

        fn other(&mut self, rest: &[u16]) -> usize {
            let taken = rest.len().min(UNITS);
            self.0.push(Err(rest[..taken].to_vec()));
            taken
        }
    }
}
