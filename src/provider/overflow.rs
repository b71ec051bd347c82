//! What providers say of sizes when a prompt is too large.

/// The numbers in the words of an overflow, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Overflow {
    /// What the model takes.
    pub limit: Option<u64>,
    /// What the prompt had.
    pub prompt: Option<u64>,
}

impl Overflow {
    /// The numbers that the words state.
    #[must_use]
    pub fn of(_words: &str) -> Self {
        Self::default()
    }
}
