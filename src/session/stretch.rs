//! A session file in stretches of whole lines.

use std::io::{self, Read};

/// The longest line that is read, in bytes; longer ones are passed over without being held.
pub const LONGEST_LINE: usize = 64 << 20;
/// Bytes of a stretch, longer lines aside: small enough for the nearer caches.
pub const STRETCH: usize = 256 << 10;

/// Bytes to read into, of which the first ones are filled. They are set up once, and not again for each file.
#[derive(Debug, Default)]
pub struct Buffer {
    bytes: Vec<u8>,
    filled: usize,
}

impl Buffer {
    /// What was read.
    #[must_use]
    pub fn filled(&self) -> &[u8] {
        self.bytes.get(..self.filled).unwrap_or_default()
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.capacity()
    }

    fn clear(&mut self) {
        self.filled = 0;
    }

    /// Makes room behind what is filled: a long line grows what holds it by a part and does not double it.
    fn room(&mut self, least: usize) {
        if self.bytes.len() < self.filled + least {
            let most = self.filled + least.max(self.filled / 8);
            self.bytes.reserve_exact(most - self.bytes.len());
            self.bytes.resize(most, 0);
        }
    }

    fn extend(&mut self, bytes: &[u8]) {
        self.room(bytes.len());
        let end = self.filled + bytes.len();
        if let Some(room) = self.bytes.get_mut(self.filled..end) {
            room.copy_from_slice(bytes);
            self.filled = end;
        }
    }

    /// Reads a stretch's length, less only at the end; how many bytes those were.
    fn read(&mut self, source: &mut impl Read) -> io::Result<usize> {
        self.room(STRETCH);
        let (begin, end) = (self.filled, self.filled + STRETCH);
        while let Some(room @ [_, ..]) = self.bytes.get_mut(self.filled..end) {
            match source.read(room) {
                Ok(0) => break,
                Ok(got) => self.filled += got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.filled - begin)
    }

    /// Leaves what stands before a place.
    fn truncate(&mut self, end: usize) {
        self.filled = end.min(self.filled);
    }

    /// Leaves what stands from a place on.
    fn keep_from(&mut self, start: usize) {
        let start = start.min(self.filled);
        self.bytes.copy_within(start..self.filled, 0);
        self.filled -= start;
    }
}

/// A file under reading, one stretch after the other.
pub struct Stretches<R> {
    source: R,
    /// The beginning of a line whose end was not read yet.
    carried: Vec<u8>,
    /// Where the next stretch begins, in bytes.
    offset: u64,
    next: u32,
    longest: usize,
    /// Bytes that were read.
    pub read: u64,
}

/// Where a stretch stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Which one, from 0.
    pub index: u32,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// Whether a line longer than the longest was passed over before it.
    pub passed_over: bool,
    /// The most bytes that were held while it was read.
    pub held: usize,
}

impl<R: Read> Stretches<R> {
    /// A source that was not read yet.
    pub fn new(source: R, longest: usize) -> Self {
        Self { source, carried: Vec::new(), offset: 0, next: 0, longest, read: 0 }
    }

    /// Fills `text` with the next whole lines; `None` at the end.
    ///
    /// # Errors
    /// Those of the source.
    pub fn next(&mut self, text: &mut Buffer) -> io::Result<Option<Stretch>> {
        let mut offset = self.offset;
        let (mut passed_over, mut held) = (false, 0);
        text.clear();
        text.extend(&self.carried);
        self.carried.clear();
        loop {
            let before = text.filled().len();
            let got = text.read(&mut self.source)?;
            self.read += got as u64;
            held = text.filled().len().max(held);
            if got == 0 {
                break;
            }
            let fresh = text.filled().get(before..).unwrap_or_default();
            if let Some(last) = fresh.iter().rposition(|&byte| byte == b'\n') {
                self.carried.extend_from_slice(fresh.get(last + 1..).unwrap_or_default());
                text.truncate(before + last + 1);
                break;
            }
            if text.filled().len() > self.longest {
                offset += text.filled().len() as u64 + self.pass_over(text)?;
                passed_over = true;
            }
        }
        if text.filled().is_empty() && !passed_over {
            return Ok(None);
        }
        self.offset = offset + text.filled().len() as u64;
        let stretch = Stretch { index: self.next, offset, passed_over, held };
        self.next += 1;
        Ok(Some(stretch))
    }

    /// Reads on to the end of the line, and leaves what stands behind it in `text`.
    fn pass_over(&mut self, text: &mut Buffer) -> io::Result<u64> {
        let mut passed = 0;
        loop {
            text.clear();
            let got = text.read(&mut self.source)?;
            self.read += got as u64;
            match text.filled().iter().position(|&byte| byte == b'\n') {
                Some(end) => {
                    text.keep_from(end + 1);
                    return Ok(passed + end as u64 + 1);
                }
                None if got == 0 => return Ok(passed),
                None => passed += got as u64,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};

    use super::{Buffer, STRETCH, Stretches};

    /// Gives a few bytes at a time, and is interrupted in between.
    struct Halting<'t> {
        text: &'t [u8],
        most: usize,
        turn: usize,
    }

    impl Read for Halting<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            self.turn += 1;
            if self.turn.is_multiple_of(3) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let most = room.len().min(self.most);
            self.text.read(&mut room[..most])
        }
    }

    /// The text of each stretch, and what was passed over before it.
    fn stretches(text: &[u8], most: usize, longest: usize) -> Vec<(u64, bool, Vec<u8>)> {
        let mut stretches = Stretches::new(Halting { text, most, turn: 0 }, longest);
        let mut buffer = Buffer::default();
        buffer.extend(&vec![b'x'; 3 * STRETCH]);
        let mut found = Vec::new();
        while let Some(stretch) = stretches.next(&mut buffer).unwrap() {
            found.push((stretch.offset, stretch.passed_over, buffer.filled().to_vec()));
        }
        assert_eq!(stretches.read, text.len() as u64);
        found
    }

    #[test]
    fn all_lines_come_whole_and_in_order_however_they_are_read() {
        let lines: Vec<u8> = (0..300).flat_map(|i| [vec![b'a'; 37 * i], vec![b'\n']].concat()).collect();
        for text in [lines.as_slice(), &lines[..lines.len() - 9], b"", b"\n", b"a"] {
            for most in [1_000, 65_536, usize::MAX] {
                let found = stretches(text, most, usize::MAX);
                let mut at = 0;
                for (i, (offset, passed_over, part)) in found.iter().enumerate() {
                    assert_eq!((*offset, *passed_over), (at as u64, false));
                    assert!(part.ends_with(b"\n") || i + 1 == found.len());
                    at += part.len();
                }
                let joined: Vec<u8> = found.into_iter().flat_map(|(_, _, part)| part).collect();
                assert_eq!(joined, text);
            }
        }
    }

    #[test]
    fn a_line_longer_than_the_longest_is_passed_over() {
        let text = [vec![b'a'; 3 * STRETCH + 5], b"\nb\nc".to_vec()].concat();
        let found = stretches(&text, usize::MAX, STRETCH);
        assert_eq!(found, [(3 * STRETCH as u64 + 6, true, b"b\nc".to_vec())]);
    }
}
