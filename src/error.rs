//! What can go wrong, as a closed set of codes (design: Errors, requirements G20).

/// Why a call was refused or failed. The wire string of each is what JavaScript sees as `error.code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCode {
    /// An argument has the wrong type or lies outside its range.
    InvalidArgument,
    /// The range holds no message to summarize.
    NoNewHistory,
    /// The budget leaves no room for text, or a message cannot be cut small enough.
    SummaryBudget,
    /// The provider says that the prompt is larger than its model takes.
    ContextOverflow,
    /// The provider or the way to it failed.
    SummaryProvider,
    /// The answer was cut off.
    SummaryIncomplete,
    /// The answer held no text.
    SummaryEmpty,
    /// The model refused, was filtered, or called a tool.
    SummaryRefused,
    /// A checkpoint, with what stands beside it, would exceed the hard limit.
    CheckpointOversized,
    /// The wire format, or what a model asks of it, is not spoken.
    UnsupportedApi,
    /// A session file could not be read.
    SessionFile,
    /// A fault of this library: a caught panic.
    Internal,
}

impl ErrorCode {
    /// The wire string.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "invalid_argument",
            Self::NoNewHistory => "no_new_history",
            Self::SummaryBudget => "summary_budget",
            Self::ContextOverflow => "context_overflow",
            Self::SummaryProvider => "summary_provider",
            Self::SummaryIncomplete => "summary_incomplete",
            Self::SummaryEmpty => "summary_empty",
            Self::SummaryRefused => "summary_refused",
            Self::CheckpointOversized => "checkpoint_oversized",
            Self::UnsupportedApi => "unsupported_api",
            Self::SessionFile => "session_file",
            Self::Internal => "internal",
        }
    }
}

/// A refusal with the way out in its message. It never holds prompt text, keys or file contents.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CompactionError {
    /// The closed code.
    pub code: ErrorCode,
    /// What is wrong and what to do about it.
    pub message: String,
    /// What is known of the request that failed, where one did.
    pub request: Option<FailedRequest>,
}

/// What is known of a request that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRequest {
    /// HTTP status, where there was one.
    pub status: Option<u16>,
    /// Whether trying again later may help.
    pub retryable: bool,
    /// How often it was sent.
    pub attempts: u32,
    /// The provider's own structured code, where it is an identifier.
    pub provider_code: Option<String>,
}

impl CompactionError {
    /// An error with a code and a message.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), request: None }
    }

    /// `argument` is not what was `expected`.
    #[must_use]
    pub fn invalid(argument: &str, expected: &str) -> Self {
        Self::new(ErrorCode::InvalidArgument, format!("{argument}: expected {expected}"))
    }

    /// Nothing is left for text under the given budget.
    #[must_use]
    pub fn budget(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::SummaryBudget, message)
    }

    /// A model that is not spoken to natively, for the reason `why` in `field`.
    #[must_use]
    pub fn unsupported(field: &str, why: &str) -> Self {
        let way_out = "use a summarizer of kind \"callback\" with the host's own client";
        Self::new(ErrorCode::UnsupportedApi, format!("{field}: {why}; {way_out}"))
    }

    /// A session file that cannot be read.
    #[must_use]
    pub fn session(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::SessionFile, message)
    }
}

/// The result of every fallible function of the core.
pub type Result<T> = std::result::Result<T, CompactionError>;
