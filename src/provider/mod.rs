//! Writers that are models: the seam to whoever speaks to one, and the rules for what comes back.

pub mod answer;
pub mod classify;
pub mod retry;

use std::future::Future;

use crate::model::Usage;

/// One request for a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryRequest {
    /// System prompt.
    pub system: String,
    /// The one user message.
    pub prompt: String,
    /// Tokens allowed for the answer.
    pub max_tokens: u64,
}

/// How a model's answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It said what it had to say.
    Complete,
    /// The allowance ran out.
    Length,
    /// It called a tool.
    ToolCall,
    /// It, or a filter, refused.
    Refusal,
    /// Somebody else than us ended it.
    Aborted,
    /// It is no answer of a model at all.
    Foreign,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The text blocks, a line each.
    pub text: String,
    /// Whether it holds a tool call.
    pub calls_tool: bool,
    /// Whether it holds thinking.
    pub thinks: bool,
    /// How it ended.
    pub ending: Ending,
}

/// Why there is no answer. The words serve to classify it and are shown to nobody.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Failure {
    /// The provider's or the network's words.
    pub words: String,
    /// A structured code.
    pub code: Option<String>,
    /// HTTP status.
    pub status: Option<u16>,
    /// How long the provider asks to wait, in milliseconds.
    pub retry_after_ms: Option<f64>,
}

/// An answer or a failure, and what it cost either way.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// What came back.
    pub outcome: Result<Answer, Failure>,
    /// What was billed, where that is known.
    pub usage: Option<Usage>,
}

/// Speaks to a model. It gets one request at a time and holds nothing between two. Dropping the future gives the
/// request up.
pub trait Provider: Sync {
    /// Sends the request once.
    fn complete(&self, request: SummaryRequest) -> impl Future<Output = Reply> + Send;
}
