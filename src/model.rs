//! What is known of a model: its limits.

/// Limits of a model in tokens, as pi-ai's `Model` states them; 0 and absent both mean unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelLimits {
    /// Context window.
    pub context_window: Option<u64>,
    /// The most it writes in one answer.
    pub max_tokens: Option<u64>,
    /// The most it reads in one request, where that is stated.
    pub max_input_tokens: Option<u64>,
}
