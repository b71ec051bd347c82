//! What a host hears of a running compaction.

use crate::error::ErrorCode;
use crate::plan::shape::Shape;

/// Why a chunk is halved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitCause {
    /// Its prompt would be too large.
    Prompt,
    /// Its answer was cut off.
    Answer,
}

impl SplitCause {
    /// Its name in events.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Answer => "answer",
        }
    }
}

/// One step of a compaction. No event holds text of the transcript, of a prompt or of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event {
    /// What will be done.
    Plan {
        /// Requests, if none has to be repeated.
        requests: u32,
        /// How the range is summarized.
        shape: Shape,
        /// Whether tool output was thinned for it.
        reduced: bool,
    },
    /// A request leaves.
    Request {
        /// Which one, from 1.
        index: u32,
        /// Of how many.
        of: u32,
        /// How often it has been tried, this time included.
        attempt: u32,
        /// Estimated tokens of its prompt.
        prompt_tokens: u64,
    },
    /// An answer begins.
    FirstToken {
        /// To which request, from 1.
        index: u32,
        /// In which try.
        attempt: u32,
    },
    /// The window is smaller than was stated: what is left of the range is planned again.
    Replan {
        /// Requests for it, if none has to be repeated.
        requests: u32,
        /// How it is summarized.
        shape: Shape,
        /// Tokens that a prompt must stay below from here on.
        prompt_limit: u64,
    },
    /// A request will be repeated.
    Retry {
        /// Which one.
        index: u32,
        /// The try that failed, from 1.
        attempt: u32,
        /// Milliseconds until the next.
        delay_ms: u64,
        /// Why.
        code: ErrorCode,
    },
    /// A part of the range is summarized.
    Chunk {
        /// Which one, from 1.
        index: u32,
        /// Of how many.
        of: u32,
        /// Estimated tokens of the summary so far.
        summary_tokens: u64,
        /// Whether an earlier run had it already.
        cached: bool,
    },
    /// A chunk is halved.
    Split {
        /// Which one, from 1.
        index: u32,
        /// Of how many.
        of: u32,
        /// Why.
        cause: SplitCause,
        /// How often it is halved for that reason.
        depth: u32,
    },
    /// The running summary was compressed.
    Compress {
        /// Its estimated tokens before.
        tokens_before: u64,
        /// And after.
        tokens_after: u64,
    },
    /// Something a person should know, in words.
    Warning(&'static str),
    /// The checkpoint is written.
    Done {
        /// Estimated tokens of what it stands for.
        tokens_before: u64,
        /// Estimated tokens of it.
        tokens_after: u64,
        /// Requests that were sent.
        requests: u32,
    },
}
