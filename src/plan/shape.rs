//! How a range is summarized.

/// How a range is summarized (requirements G13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One request.
    Single,
    /// History and the beginning of a split turn, a request each.
    SplitTurn,
    /// One chunk after the other, each carrying the summary so far.
    Chunks,
}

impl Shape {
    /// Its name in events and details.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::SplitTurn => "split_turn",
            Self::Chunks => "chunks",
        }
    }

    /// Requests that it needs when none is repeated.
    #[must_use]
    pub fn requests(self, chunks: usize, has_history: bool) -> u32 {
        match self {
            Self::Single => 1,
            Self::SplitTurn => 1 + u32::from(has_history),
            Self::Chunks => u32::try_from(chunks).unwrap_or(u32::MAX),
        }
    }
}
