//! ASCII as it stands inside a JSON string, thirty-two units at a time.

/// Units of a block.
pub const UNITS: usize = 32;

/// Units that a text has to have room for beyond its own, so that writing it does not take as much again.
pub const ROOM: usize = 2 * UNITS;

/// Appends the inside of the text's JSON string. `other` is given what is left where its first block holds anything but
/// ASCII with escapes of at most two units; it appends that block or all of a shorter rest, be it with the other half of
/// a pair, and tells how many units that was.
pub fn write<U: Unit>(text: &[u16], out: &mut Vec<U>, other: impl Fn(&[u16], &mut Vec<U>) -> usize) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the features this function is compiled for were just found on this processor.
        return unsafe { avx2::write(text, out, other) };
    }
    blocks(text, out, write_block, other);
}

/// Block by block; spaces fill up the last one and are taken off again.
#[expect(clippy::inline_always, reason = "inside the kernel, whose features it then has")]
#[inline(always)]
fn blocks<U: Unit>(
    text: &[u16],
    out: &mut Vec<U>,
    write_block: impl Fn(&[u16; UNITS], &mut Vec<U>) -> bool,
    other: impl Fn(&[u16], &mut Vec<U>) -> usize,
) {
    let mut rest = text;
    let mut last = [0x20; UNITS];
    while !rest.is_empty() {
        let block = rest.first_chunk().unwrap_or_else(|| {
            last.iter_mut().zip(rest).for_each(|(slot, unit)| *slot = *unit);
            &last
        });
        let mut taken = rest.len().min(UNITS);
        if write_block(block, out) {
            out.truncate(out.len() - (UNITS - taken));
        } else {
            taken = other(rest, out).max(1);
        }
        rest = rest.get(taken..).unwrap_or_default();
    }
}

/// Appends any ASCII.
pub fn write_ascii<U: Copy + From<u8>>(unit: u8, out: &mut Vec<U>) {
    match letter(unit) {
        0 if unit < 0x20 => out.extend(long_escape(unit.into()).map(U::from)),
        0 => out.push(unit.into()),
        letter => out.extend([b'\\', letter].map(U::from)),
    }
}

/// `\u` and four digits.
#[must_use]
pub fn long_escape(unit: u16) -> [u8; 6] {
    let digit =
        |shift: u32| char::from_digit(u32::from(unit) >> shift & 0xf, 16).map_or(b'0', |digit| digit as u8);
    [b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]
}

/// The letter behind the backslash, for what has an escape of two; else 0.
fn letter(unit: u8) -> u8 {
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

/// The twin of the kernel: appends a block, if it can.
fn write_block<U: Unit>(block: &[u16; UNITS], out: &mut Vec<U>) -> bool {
    if block.iter().fold(true, |all, &unit| all & is_plain(unit)) {
        out.extend_from_slice(&block.map(|unit| U::from(unit as u8)));
        return true;
    }
    let is_short = |&unit: &u16| unit < 0x80 && (unit >= 0x20 || letter(unit as u8) != 0);
    let can = block.iter().all(is_short);
    block.iter().filter(|_| can).for_each(|&unit| write_ascii(unit as u8, out));
    can
}

/// ASCII that stands for itself.
#[expect(clippy::needless_bitwise_bool, reason = "without branches a block is looked at at once")]
fn is_plain(unit: u16) -> bool {
    (0x20..0x80).contains(&unit) & (unit != 0x22) & (unit != 0x5c)
}

/// What a text is written in: bytes of UTF-8, or units of UTF-16.
///
/// # Safety
/// A store writes all sixteen units.
pub unsafe trait Unit: Copy + From<u8> {
    /// Writes sixteen units of ASCII.
    ///
    /// # Safety
    /// There is room for sixteen units at `to`, and the processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    unsafe fn store(bytes: std::arch::x86_64::__m128i, to: *mut Self);
}

// SAFETY: sixteen bytes are stored.
unsafe impl Unit for u8 {
    #[cfg(target_arch = "x86_64")]
    #[inline]
    unsafe fn store(bytes: std::arch::x86_64::__m128i, to: *mut Self) {
        // SAFETY: the caller vouches for the room; the store needs no alignment.
        unsafe { std::arch::x86_64::_mm_storeu_si128(to.cast(), bytes) }
    }
}

// SAFETY: sixteen units of two bytes are stored.
unsafe impl Unit for u16 {
    #[cfg(target_arch = "x86_64")]
    #[inline]
    unsafe fn store(bytes: std::arch::x86_64::__m128i, to: *mut Self) {
        use std::arch::x86_64::{_mm256_cvtepu8_epi16, _mm256_storeu_si256};
        // SAFETY: the caller vouches for the processor and the room; the store needs no alignment.
        unsafe { _mm256_storeu_si256(to.cast(), _mm256_cvtepu8_epi16(bytes)) }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_loadu_si128, _mm_set_epi64x, _mm_shuffle_epi8, _mm256_add_epi8,
        _mm256_blendv_epi8, _mm256_cmpeq_epi8, _mm256_extract_epi64, _mm256_min_epu8, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_packus_epi16, _mm256_permute4x64_epi64, _mm256_set1_epi8, _mm256_set1_epi16,
        _mm256_setr_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_testz_si256,
    };

    use super::{ROOM, UNITS, Unit};
    use crate::transcript::units::avx2::load;

    /// Units that are spread over sixteen at once.
    const SPREAD: usize = 8;
    /// In the order of the output, the places of eight units, and before each that has an escape that of a backslash.
    const PLACES: [[u8; 2 * SPREAD]; 1 << SPREAD] = places();

    #[expect(clippy::indexing_slicing, reason = "evaluated when compiled")]
    const fn places() -> [[u8; 2 * SPREAD]; 1 << SPREAD] {
        let mut places = [[0; 2 * SPREAD]; 1 << SPREAD];
        let mut escapes = 0;
        while escapes < places.len() {
            let (mut unit, mut to) = (0, 0);
            while unit < SPREAD {
                if escapes >> unit & 1 == 1 {
                    places[escapes][to] = SPREAD as u8;
                    to += 1;
                }
                places[escapes][to] = unit as u8;
                to += 1;
                unit += 1;
            }
            escapes += 1;
        }
        places
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn write<U: Unit>(
        text: &[u16],
        out: &mut Vec<U>,
        other: impl Fn(&[u16], &mut Vec<U>) -> usize,
    ) {
        super::blocks(text, out, |block, out| write_block(block, out), other);
    }

    #[target_feature(enable = "avx2,popcnt")]
    fn write_block<U: Unit>(block: &[u16; UNITS], out: &mut Vec<U>) -> bool {
        let Some((letters, escapes)) = escaped(block) else { return false };
        out.reserve(ROOM);
        let quarters = [
            _mm256_extract_epi64::<0>(letters),
            _mm256_extract_epi64::<1>(letters),
            _mm256_extract_epi64::<2>(letters),
            _mm256_extract_epi64::<3>(letters),
        ];
        let mut length = out.len();
        for (quarter, escapes) in quarters.into_iter().zip(escapes.to_le_bytes()) {
            // SAFETY: eight units become at most sixteen, so that all four stores stay in the room that was reserved;
            // the features of this function are those that a store needs.
            unsafe { U::store(spread(quarter, escapes), out.as_mut_ptr().add(length)) };
            length += SPREAD + escapes.count_ones() as usize;
        }
        // SAFETY: everything up to here was written.
        unsafe { out.set_len(length) };
        true
    }

    /// Eight units with a backslash before each that has an escape.
    #[target_feature(enable = "avx2")]
    fn spread(units: i64, escapes: u8) -> __m128i {
        let backslashes = i64::from_ne_bytes([b'\\'; 8]);
        let places = PLACES.get(usize::from(escapes)).unwrap_or(&[0; 2 * SPREAD]);
        // SAFETY: the table's rows have sixteen bytes, and the load needs no alignment.
        let places = unsafe { _mm_loadu_si128(places.as_ptr().cast()) };
        _mm_shuffle_epi8(_mm_set_epi64x(backslashes, units), places)
    }

    /// A block with the letters of its escapes, and which of them are; `None` where it holds anything else than ASCII
    /// with escapes of at most two units.
    #[target_feature(enable = "avx2")]
    fn escaped(block: &[u16; UNITS]) -> Option<(__m256i, u32)> {
        let (front, back) = load(block);
        let beyond = _mm256_set1_epi16(0xff80_u16.cast_signed());
        if _mm256_testz_si256(_mm256_or_si256(front, back), beyond) == 0 {
            return None;
        }
        // Packing takes the halves of both in turn.
        let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi16(front, back));
        // The letters b, t, n, f and r, each where the lower half of its control character says.
        #[rustfmt::skip]
        let short = _mm256_setr_epi8(
            0, 0, 0, 0, 0, 0, 0, 0, 0x62, 0x74, 0x6e, 0, 0x66, 0x72, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0x62, 0x74, 0x6e, 0, 0x66, 0x72, 0, 0,
        );
        // From 0x10 on, the sum has the highest bit, which finds nothing.
        let places = _mm256_add_epi8(bytes, _mm256_set1_epi8(0x70));
        let control = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(0x1f)), bytes);
        let letters = _mm256_blendv_epi8(bytes, _mm256_shuffle_epi8(short, places), control);
        let long = _mm256_cmpeq_epi8(letters, _mm256_setzero_si256());
        let is = |byte: u8| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte.cast_signed()));
        let escapes = _mm256_or_si256(control, _mm256_or_si256(is(b'"'), is(b'\\')));
        (_mm256_movemask_epi8(long) == 0).then(|| (letters, _mm256_movemask_epi8(escapes).cast_unsigned()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written<U: Unit>(text: &[u16], by: impl Fn(&[u16], &mut Vec<U>)) -> Vec<U> {
        let mut out = Vec::new();
        by(text, &mut out);
        out
    }

    /// Stands for whatever blocks are given to it.
    fn other<U: Unit>(rest: &[u16], out: &mut Vec<U>) -> usize {
        out.push(U::from(b'?'));
        rest.len().min(UNITS)
    }

    proptest! {
        #[test]
        fn kernel_equals_its_twin(
            text in prop::collection::vec(
                prop_oneof![90 => 0x20..0x80_u16, 40 => Just(0x0a), 20 => Just(0x22), 5 => 0..0x20_u16, 1 => any::<u16>()],
                0..200,
            )
        ) {
            prop_assert_eq!(
                written::<u8>(&text, |text, out| write(text, out, other)),
                written::<u8>(&text, |text, out| blocks(text, out, write_block, other))
            );
            prop_assert_eq!(
                written::<u16>(&text, |text, out| write(text, out, other)),
                written::<u16>(&text, |text, out| blocks(text, out, write_block, other))
            );
        }
    }
}
