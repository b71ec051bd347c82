//! Writers that are models: the seam to whoever speaks to one, and the rules for what comes back.

pub mod answer;
pub mod anthropic;
pub mod classify;
pub mod connections;
pub mod draft;
pub mod error_body;
pub mod google;
pub mod hosts;
pub mod http;
mod json;
pub mod openai_completions;
pub mod openai_responses;
pub mod overflow;
mod pattern;

pub mod retry;
pub mod retry_after;
pub mod sse;
pub mod trouble;
pub mod wire;

use std::future::Future;

use crate::model::Usage;
use trouble::Trouble;

/// One request for a summary.
#[derive(Clone, PartialEq, Eq)]
pub struct SummaryRequest {
    /// System prompt.
    pub system: String,
    /// The one user message, as UTF-16 text; lone surrogates in it become U+FFFD where it is sent.
    pub prompt: Vec<u16>,
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
    /// In a way that is not known to be a complete answer.
    Unknown,
    /// It is no answer of a model at all.
    Foreign,
}

/// What a model answered.
#[derive(Clone, PartialEq)]
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

/// Why there is no answer.
#[derive(Clone, Default, PartialEq)]
pub struct Failure {
    /// The provider's or the network's words. They serve to classify the failure and are shown to nobody.
    pub words: String,
    /// Structured codes, the most telling first.
    pub codes: Vec<String>,
    /// HTTP status.
    pub status: Option<u16>,
    /// How long the provider asks to wait, in milliseconds.
    pub retry_after_ms: Option<f64>,
    /// What is known of it without words.
    pub trouble: Option<Trouble>,
    /// The code that may be shown.
    pub shown_code: Option<String>,
}

/// Bytes of words that are looked at: an error says what it is at its beginning.
const MOST_WORDS: usize = 8 << 10;
/// The longest code that is shown.
const LONGEST_CODE: usize = 64;

impl Failure {
    /// A failure of which there are only words.
    #[must_use]
    pub fn of_words(words: &str) -> Self {
        let end = (0..=MOST_WORDS.min(words.len())).rev().find(|&end| words.is_char_boundary(end));
        Self { words: words.get(..end.unwrap_or(0)).unwrap_or_default().to_owned(), ..Self::default() }
    }

    /// Shows the first of its codes that is an identifier, and nothing that has to be hidden.
    #[must_use]
    pub fn showing(mut self, hides: impl Fn(&str) -> bool) -> Self {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let is_code =
            |code: &&String| !code.is_empty() && code.len() <= LONGEST_CODE && code.bytes().all(is_part);
        self.shown_code = self.codes.iter().filter(is_code).find(|code| !hides(code)).cloned();
        self
    }
}

impl std::fmt::Debug for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Failure({:?}, {:?})", self.status, self.trouble)
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        Self { trouble: Some(trouble), ..Self::default() }
    }
}

/// An answer or a failure, and what it cost either way.
#[derive(Clone, PartialEq)]
pub struct Reply {
    /// What came back.
    pub outcome: Result<Answer, Failure>,
    /// What was billed, where that is known.
    pub usage: Option<Usage>,
}

/// Speaks to a model. It gets one request at a time and holds nothing between two. Dropping the future gives the
/// request up.
pub trait Provider: Sync {
    /// A request as it is sent, once or again.
    type Prepared: Send + Sync;

    /// Puts a request into the form in which it is sent.
    fn prepare(&self, request: SummaryRequest) -> Self::Prepared;

    /// Sends it once. `begins` is called when an answer begins, where that can be seen.
    fn complete(
        &self,
        request: &Self::Prepared,
        begins: &(dyn Fn() + Sync),
    ) -> impl Future<Output = Reply> + Send;
}
