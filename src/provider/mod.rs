//! Writers that are models: the seam between a summary and whoever speaks to a model.

use std::future::Future;

use crate::error::Result;

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

/// A model that answers summary requests. It gets one request at a time and holds no state between two.
pub trait Provider {
    /// Sends the request and returns the text of a complete answer.
    fn complete(&self, request: SummaryRequest) -> impl Future<Output = Result<String>> + Send;
}
