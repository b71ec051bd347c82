//! How a run ended, on its way to JavaScript: an asynchronous rejection could carry no code of ours.

use napi_derive::napi;

use super::host::FailureOut;
use crate::checkpoint::assemble::{Checkpoint, Written};
use crate::model::Usage;
use crate::summarize::run::Ended;

/// A checkpoint, a failure, or neither: then the run was given up.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct OutcomeOut {
    /// The checkpoint.
    pub checkpoint: Option<CheckpointOut>,
    /// Why there is none.
    pub failure: Option<FailureOut>,
}

/// A checkpoint.
#[napi(object, object_from_js = false)]
pub struct CheckpointOut {
    /// The summary with its file lists.
    pub summary: String,
    /// `readFiles`
    pub read_files: Vec<String>,
    /// `modifiedFiles`
    pub modified_files: Vec<String>,
    /// Estimated tokens of what was summarized.
    pub tokens_before: f64,
    /// Estimated tokens of the summary.
    pub tokens_after: f64,
    /// How a model wrote it.
    pub written: Option<WrittenOut>,
}

/// How a model wrote a summary.
#[napi(object, object_from_js = false)]
pub struct WrittenOut {
    /// `single`, `split_turn` or `chunks`.
    pub shape: &'static str,
    /// Chunks, or 1.
    pub chunks: u32,
    /// Whether tool output was thinned.
    pub reduced: bool,
    /// Requests that were sent.
    pub requests: u32,
    /// What they cost.
    pub usage: Option<UsageOut>,
}

/// pi-ai's `Usage`.
#[napi(object, object_from_js = false)]
pub struct UsageOut {
    /// `input`
    pub input: f64,
    /// `output`
    pub output: f64,
    /// `cacheRead`
    pub cache_read: f64,
    /// `cacheWrite`
    pub cache_write: f64,
    /// `cacheWrite1h`
    #[napi(js_name = "cacheWrite1h")]
    pub cache_write_1h: Option<f64>,
    /// `reasoning`
    pub reasoning: Option<f64>,
    /// `totalTokens`
    pub total_tokens: f64,
    /// `cost`
    pub cost: CostOut,
}

/// What each kind of token cost.
#[napi(object, object_from_js = false)]
pub struct CostOut {
    /// `input`
    pub input: f64,
    /// `output`
    pub output: f64,
    /// `cacheRead`
    pub cache_read: f64,
    /// `cacheWrite`
    pub cache_write: f64,
    /// `total`
    pub total: f64,
}

impl From<Result<Checkpoint, Ended>> for OutcomeOut {
    fn from(outcome: Result<Checkpoint, Ended>) -> Self {
        match outcome {
            Ok(checkpoint) => Self { checkpoint: Some(checkpoint.into()), failure: None },
            Err(Ended::Overflowed(overflow)) => Self::from(Err(Ended::Failed(overflow.error))),
            Err(Ended::Failed(error)) => Self { checkpoint: None, failure: Some((&error).into()) },
            Err(Ended::Aborted) => Self::default(),
        }
    }
}

impl From<Checkpoint> for CheckpointOut {
    fn from(checkpoint: Checkpoint) -> Self {
        Self {
            summary: checkpoint.summary,
            read_files: checkpoint.files.read,
            modified_files: checkpoint.files.modified,
            tokens_before: checkpoint.tokens_before as f64,
            tokens_after: checkpoint.tokens_after as f64,
            written: checkpoint.written.map(WrittenOut::from),
        }
    }
}

impl From<Written> for WrittenOut {
    fn from(written: Written) -> Self {
        Self {
            shape: written.shape.name(),
            chunks: written.chunks,
            reduced: written.reduced,
            requests: written.requests,
            usage: written.usage.map(UsageOut::from),
        }
    }
}

impl From<Usage> for UsageOut {
    fn from(usage: Usage) -> Self {
        let cost = usage.cost;
        Self {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            cache_write_1h: usage.cache_write_1h,
            reasoning: usage.reasoning,
            total_tokens: usage.total_tokens,
            cost: CostOut {
                input: cost.input,
                output: cost.output,
                cache_read: cost.cache_read,
                cache_write: cost.cache_write,
                total: cost.total,
            },
        }
    }
}
