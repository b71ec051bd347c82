//! Tokens counted, by the encodings that their maker has published.

use std::sync::Arc;

use super::bounds::Features;
use super::merge::Merger;
use super::pieces::Pattern;
use super::table::{Table, hash};
use crate::error::{CompactionError, ErrorCode, Result};

/// A published encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncodingName {
    /// GPT-4o and later.
    O200kBase,
    /// GPT-4 and GPT-3.5.
    Cl100kBase,
}

impl EncodingName {
    /// Every encoding.
    pub const ALL: [Self; 2] = [Self::O200kBase, Self::Cl100kBase];

    /// The name by which it is known.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
        }
    }

    /// The encoding of a name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }

    fn tokens(self) -> usize {
        match self {
            Self::O200kBase => 199_998,
            Self::Cl100kBase => 100_256,
        }
    }

    fn pattern(self) -> Pattern {
        match self {
            Self::O200kBase => Pattern::O200k,
            Self::Cl100kBase => Pattern::Cl100k,
        }
    }

    /// Its table is not there, or is not its table.
    #[must_use]
    pub fn missing(self) -> CompactionError {
        let name = self.as_str();
        let way_out = "install the package pi-compaction-native-tokens of the same version";
        let message = format!("exact tokens: there is no usable table of {name}; {way_out}");
        CompactionError::new(ErrorCode::UnsupportedApi, message)
    }
}

/// An encoding with its table.
pub struct Encoding {
    table: Table,
    pattern: Pattern,
}

impl Encoding {
    /// The encoding whose table these bytes are: of each token its length in one byte and its bytes, in order of rank.
    ///
    /// # Errors
    /// `unsupported_api` where they are no such table.
    pub fn new(name: EncodingName, table: Vec<u8>) -> Result<Self> {
        let table = Table::new(table, name.tokens()).ok_or_else(|| name.missing())?;
        Ok(Self { table, pattern: name.pattern() })
    }

    /// Tokens of a text. What looks like a special token is text.
    #[must_use]
    pub fn count(&self, text: &str) -> u64 {
        let mut counting = Counting::default();
        let mut at = 0;
        while at < text.len() {
            at = self.advance(&mut counting, text, at);
        }
        counting.tokens
    }

    /// Counts from one piece to another, some way further on.
    fn advance(&self, counting: &mut Counting, text: &str, from: usize) -> usize {
        let mut at = from;
        let until = text.len().min(from + STEP);
        while at < until {
            let end = self.pattern.end_of_piece(text, at);
            counting.tokens += counting.piece(&self.table, text.as_bytes(), at, end);
            at = end;
        }
        at
    }

    #[cfg(test)]
    pub(super) fn longest(&self) -> usize {
        self.table.longest()
    }
}

/// Bytes that are counted at a time.
const STEP: usize = 1 << 16;
/// Pieces that are remembered, a power of two.
const REMEMBERED: usize = 1 << 11;
/// Bytes of the longest of them.
const LONGEST_REMEMBERED: usize = 64;

/// One text while it is counted.
#[derive(Default)]
struct Counting {
    tokens: u64,
    merger: Merger,
    /// Pieces of more than one token, where they stood: most come again.
    known: Vec<Known>,
}

#[derive(Clone, Copy, Default)]
struct Known {
    start: usize,
    length: u8,
    tokens: u8,
}

impl Counting {
    /// Tokens of one piece.
    fn piece(&mut self, table: &Table, text: &[u8], start: usize, end: usize) -> u64 {
        let piece = text.get(start..end).unwrap_or_default();
        if piece.len() > LONGEST_REMEMBERED {
            return match table.rank(piece) {
                Some(_) => 1,
                None => self.merger.tokens(table, piece) as u64,
            };
        }
        let hash = hash(piece);
        if table.find(hash, piece).is_some() {
            return 1;
        }
        self.known.resize(REMEMBERED, Known::default());
        let Self { known, merger, .. } = self;
        let Some(slot) = known.get_mut(hash as usize % REMEMBERED) else { return 0 };
        if text.get(slot.start..slot.start + usize::from(slot.length)) != Some(piece) {
            let tokens = merger.tokens(table, piece) as u8;
            *slot = Known { start, length: piece.len() as u8, tokens };
        }
        u64::from(slot.tokens)
    }
}

/// The tokens of some texts together, each on its own, counted step by step.
pub struct Count {
    encoding: Arc<Encoding>,
    texts: std::vec::IntoIter<String>,
    text: String,
    at: usize,
    counting: Counting,
    counted: u64,
    /// Of what is not counted yet.
    left: Features,
}

impl Count {
    /// Begins to count.
    #[must_use]
    pub fn new(encoding: Arc<Encoding>, texts: Vec<String>) -> Self {
        let features = texts.iter().map(|text| Features::of(text.as_bytes(), 0..text.len()));
        let left = features.fold(Features::default(), Features::and);
        let texts = texts.into_iter();
        Self { encoding, texts, text: String::new(), at: 0, counting: Counting::default(), counted: 0, left }
    }

    /// Counts some way further; false when there is nothing left.
    pub fn step(&mut self) -> bool {
        if self.at >= self.text.len() {
            self.counted = self.tokens();
            self.counting = Counting::default();
            (self.text, self.at) = (self.texts.next().unwrap_or_default(), 0);
        }
        let end = self.encoding.advance(&mut self.counting, &self.text, self.at);
        self.left = self.left.without(Features::of(self.text.as_bytes(), self.at..end));
        self.at = end;
        self.left != Features::default()
    }

    /// Tokens that were counted so far.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.counted + self.counting.tokens
    }

    /// Whether there are as many tokens as that, or more; `None` while it is not known.
    #[must_use]
    pub fn reaches(&self, tokens: u64) -> Option<bool> {
        let known = self.tokens();
        if known + self.left.least(self.encoding.table.longest()) >= tokens {
            return Some(true);
        }
        (known + self.left.most() < tokens).then_some(false)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::samples;
    use super::*;

    pub(in super::super) fn encoding(name: EncodingName) -> Arc<Encoding> {
        Arc::new(Encoding::new(name, samples::table_file(name.as_str())).unwrap())
    }

    #[test]
    fn known_counts() {
        let [o200k, cl100k] = EncodingName::ALL.map(encoding);
        for (text, with_o200k, with_cl100k) in [
            ("", 0, 0),
            ("hello world", 2, 2),
            ("<|endoftext|>", 7, 7),
            ("\u{4f60}\u{597d}\u{ff0c}\u{4e16}\u{754c}", 3, 6),
        ] {
            assert_eq!((o200k.count(text), cl100k.count(text)), (with_o200k, with_cl100k), "{text}");
        }
    }

    #[test]
    fn a_verdict_is_that_of_the_whole_count_and_comes_early() {
        let encoding = encoding(EncodingName::O200kBase);
        let text: String = (0..4_000).map(samples::text).collect();
        let texts = || vec![text.clone(), String::new(), "a second text".to_owned()];
        let whole: u64 = texts().iter().map(|text| encoding.count(text)).sum();
        let mut count = Count::new(Arc::clone(&encoding), texts());
        while count.step() {}
        assert_eq!(
            (count.tokens(), count.reaches(whole), count.reaches(whole + 1)),
            (whole, Some(true), Some(false))
        );
        for limit in [0, 1, whole / 2, whole - 1, whole, whole + 1, whole * 2, u64::MAX] {
            let mut count = Count::new(Arc::clone(&encoding), texts());
            let reached = loop {
                if let Some(reached) = count.reaches(limit) {
                    break reached;
                }
                assert!(count.step() || count.reaches(limit).is_some());
            };
            assert_eq!(reached, whole >= limit, "{limit}");
            assert!(limit != whole / 2 || count.tokens() < whole, "stops when it knows");
        }
    }

    #[test]
    fn a_table_of_another_encoding_is_none() {
        let table = samples::table_file("cl100k_base");
        let error = Encoding::new(EncodingName::O200kBase, table).err().unwrap();
        assert_eq!(error.code, ErrorCode::UnsupportedApi);
    }
}
