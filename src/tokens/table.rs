//! The tokens of an encoding, found by their bytes.

use hashbrown::HashTable;

/// Tokens by their bytes. A token's rank is where it stands in the table: what was learned first stands first.
pub(super) struct Table {
    /// Of each token its length in one byte, then its bytes.
    bytes: Vec<u8>,
    /// Where the bytes of each token begin.
    tokens: HashTable<u32>,
    longest: usize,
}

impl Table {
    /// The table that these bytes are, with so many tokens; `None` where they are no such table.
    pub(super) fn new(bytes: Vec<u8>, count: usize) -> Option<Self> {
        let mut table = Self { bytes, tokens: HashTable::with_capacity(count), longest: 0 };
        let mut at = 0;
        while let Some(&length) = table.bytes.get(at) {
            let (start, length) = (at + 1, usize::from(length));
            let token = table.bytes.get(start..start + length)?;
            let hash = hash(token);
            if token.is_empty() || table.find(hash, token).is_some() {
                return None;
            }
            let bytes = &table.bytes;
            let rehash = |&known: &u32| self::hash(token_at(bytes, known));
            table.tokens.insert_unique(hash, u32::try_from(start).ok()?, rehash);
            table.longest = table.longest.max(length);
            at = start + length;
        }
        // Without each single byte some text would have no tokens at all.
        let whole = (0..=u8::MAX).all(|byte| table.rank(&[byte]).is_some());
        (whole && table.tokens.len() == count).then_some(table)
    }

    /// The rank of a token; `None` where the bytes are none.
    pub(super) fn rank(&self, bytes: &[u8]) -> Option<u32> {
        if bytes.len() > self.longest { None } else { self.find(hash(bytes), bytes) }
    }

    /// The same where the hash is known.
    pub(super) fn find(&self, hash: u64, bytes: &[u8]) -> Option<u32> {
        self.tokens.find(hash, |&known| token_at(&self.bytes, known) == bytes).copied()
    }

    /// Bytes of the longest token.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }
}

fn token_at(bytes: &[u8], start: u32) -> &[u8] {
    let start = start as usize;
    let length = start.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(0);
    bytes.get(start..start + usize::from(length)).unwrap_or_default()
}

/// A hash of short byte strings. What is hashed is looked up and never kept, so that no text can fill the table.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let (head, tail) = match bytes {
        [] => (0, 0),
        [first, .., last] if bytes.len() < 4 => {
            let middle = bytes.get(bytes.len() / 2).copied().unwrap_or(0);
            (u64::from(*first) | u64::from(middle) << 8 | u64::from(*last) << 16, 0)
        }
        [one] => (u64::from(*one), 0),
        _ => ends(bytes),
    };
    folded(head ^ 0x9e37_79b9_7f4a_7c15, tail ^ 0xc2b2_ae3d_27d4_eb4f ^ bytes.len() as u64)
}

/// Two words that hold all of four bytes or more; of more than sixteen all is folded into the first.
fn ends(bytes: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let last = u64::from_le_bytes(*last);
        if bytes.len() <= 16 {
            return (u64::from_le_bytes(*first), last);
        }
        let (words, _) = bytes.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        return (words.fold(0, |sum, word| folded(sum ^ word, 0xff51_afd7_ed55_8ccd)), last);
    }
    let word = |four: Option<&[u8; 4]>| four.map_or(0, |four| u64::from(u32::from_le_bytes(*four)));
    (word(bytes.first_chunk()), word(bytes.last_chunk()))
}

fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn a_table_holds_every_byte_and_every_token_once() {
        let bytes = samples::table_bytes(&[b"ab", b"abc"]);
        let table = Table::new(bytes.clone(), 258).unwrap();
        assert_eq!(table.longest(), 3);
        assert!(table.rank(b"ab") < table.rank(b"abc"));
        assert_eq!(table.rank(b"bc"), None);
        for (broken, count) in [
            (bytes.clone(), 257),
            (bytes[..bytes.len() - 1].to_vec(), 258),
            (bytes[2..].to_vec(), 257),
            ([bytes.clone(), vec![0]].concat(), 259),
            ([bytes.clone(), vec![2, b'a', b'b']].concat(), 259),
            (Vec::new(), 0),
        ] {
            assert!(Table::new(broken, count).is_none());
        }
    }

    #[test]
    fn the_hash_reads_every_byte() {
        for length in 1..40 {
            let bytes: Vec<u8> = (0..length).collect();
            for at in 0..bytes.len() {
                let mut other = bytes.clone();
                other[at] ^= 1;
                assert_ne!(hash(&bytes), hash(&other), "{at} of {length}");
            }
        }
    }
}
