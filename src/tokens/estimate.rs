//! Tokens from characters, and what a provider last reported.

use crate::error::{CompactionError, Result};

/// UTF-16 units that one token stands for; finite and above 0. pi's is 4, refine's 3 (requirements A37, D25).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CharsPerToken(f64);

impl CharsPerToken {
    /// pi's heuristic.
    pub const PI: Self = Self(4.0);
    /// Refine's: Cyrillic prose and JSON around it have fewer units a token than English (requirements D25, D94).
    pub const REFINE: Self = Self(3.0);

    /// A ratio given by the host.
    ///
    /// # Errors
    /// `invalid_argument` unless `ratio` is finite and above 0.
    pub fn new(ratio: f64) -> Result<Self> {
        if ratio.is_finite() && ratio > 0.0 {
            Ok(Self(ratio))
        } else {
            Err(CompactionError::invalid("charsPerToken", "a finite number above 0"))
        }
    }

    /// Tokens that `units` characters count for, rounded up.
    #[must_use]
    pub fn tokens(self, units: usize) -> u64 {
        (units as f64 / self.0).ceil() as u64
    }

    /// The most units that count for at most `tokens`.
    #[must_use]
    pub fn units(self, tokens: u64) -> usize {
        (tokens as f64 * self.0).floor() as usize
    }
}

/// What a provider reported with an assistant message, in tokens, as it stands in the transcript.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ReportedUsage {
    /// `totalTokens`
    pub total: f64,
    /// `input`
    pub input: f64,
    /// `output`
    pub output: f64,
    /// `cacheRead`
    pub cache_read: f64,
    /// `cacheWrite`
    pub cache_write: f64,
}

impl ReportedUsage {
    /// The context's size by this report: the total, else the sum; `None` where it says nothing or comes from an
    /// answer that failed (pi's `calculateContextTokens`).
    #[must_use]
    pub fn context_tokens(&self, stop_reason: &str) -> Option<f64> {
        if matches!(stop_reason, "aborted" | "error") {
            return None;
        }
        let tokens = if self.total == 0.0 || self.total.is_nan() {
            self.input + self.output + self.cache_read + self.cache_write
        } else {
            self.total
        };
        (tokens > 0.0).then_some(tokens)
    }
}
