//! How a run ended, on its way to JavaScript: an asynchronous rejection could carry no code of ours.

use napi_derive::napi;

use super::budgets::RefineBudgetsOut;
use super::host::FailureOut;
use crate::checkpoint::assemble::{Checkpoint, Written};
use crate::compact::recovery::{Fallback, FallbackText};
use crate::model::Usage;
use crate::summarize::run::Ended;
use crate::summarize::tally::{Stage, Tally};

/// How a run ended, and what it did on the way.
pub struct Finished {
    /// The checkpoint, or why there is none.
    pub outcome: Result<Checkpoint, Ended>,
    /// What may stand in its place.
    pub fallback: Option<Fallback>,
    /// What was done.
    pub tally: Tally,
}

/// A checkpoint, a failure, or neither: then the run was given up.
#[napi(object, object_from_js = false)]
pub struct OutcomeOut {
    /// The checkpoint.
    pub checkpoint: Option<CheckpointOut>,
    /// Why there is none.
    pub failure: Option<FailureOut>,
    /// What may stand in its place.
    pub fallback: Option<FallbackOut>,
    /// What was done.
    pub tally: TallyOut,
}

/// A checkpoint without a fresh summary, but for its tail.
#[napi(object, object_from_js = false)]
pub struct FallbackOut {
    /// `failureReason`
    pub reason: &'static str,
    /// `readFiles`
    pub read_files: Vec<String>,
    /// `modifiedFiles`
    pub modified_files: Vec<String>,
    /// Estimated tokens of what was to be summarized.
    pub tokens_before: f64,
    /// Its text, the richest first.
    pub texts: Vec<FallbackTextOut>,
}

/// A text of a fallback, and what it leaves.
#[napi(object, object_from_js = false)]
pub struct FallbackTextOut {
    /// The text.
    pub summary: String,
    /// Its estimated tokens.
    pub tokens: f64,
    /// Tokens that the tail is to have at most.
    pub tail_budget: f64,
    /// Tokens of a tail that just fits.
    pub tail_room: f64,
}

/// What a run did, however it ended.
#[napi(object, object_from_js = false)]
pub struct TallyOut {
    /// Requests that were sent.
    pub requests: u32,
    /// What they cost.
    pub usage: Option<UsageOut>,
    /// `cacheHits`
    pub cache_hits: u32,
    /// `retrySplits`
    pub splits: u32,
    /// `shrinkCount`
    pub compressions: u32,
    /// Steps that were reached.
    pub stages: Vec<&'static str>,
    /// What the host was warned of.
    pub warnings: Vec<&'static str>,
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
    /// The budgets of a refine run.
    pub budgets: Option<RefineBudgetsOut>,
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

impl From<Finished> for OutcomeOut {
    fn from(finished: Finished) -> Self {
        let (checkpoint, failure) = match finished.outcome {
            Ok(checkpoint) => (Some(checkpoint.into()), None),
            Err(ended) => (None, ended.error().map(FailureOut::from)),
        };
        let fallback = finished.fallback.map(FallbackOut::from);
        Self { checkpoint, failure, fallback, tally: finished.tally.into() }
    }
}

impl From<Fallback> for FallbackOut {
    fn from(fallback: Fallback) -> Self {
        Self {
            reason: fallback.reason.name(),
            read_files: fallback.files.read,
            modified_files: fallback.files.modified,
            tokens_before: fallback.tokens_before as f64,
            texts: fallback.texts.into_iter().map(FallbackTextOut::from).collect(),
        }
    }
}

impl From<FallbackText> for FallbackTextOut {
    fn from(text: FallbackText) -> Self {
        Self {
            summary: text.summary,
            tokens: text.tokens as f64,
            tail_budget: text.tail_budget as f64,
            tail_room: text.tail_room as f64,
        }
    }
}

impl From<Tally> for TallyOut {
    fn from(tally: Tally) -> Self {
        Self {
            requests: tally.requests,
            usage: tally.usage.map(UsageOut::from),
            cache_hits: tally.cache_hits,
            splits: tally.splits,
            compressions: tally.compressions,
            stages: tally.stages.into_iter().map(Stage::name).collect(),
            warnings: tally.warnings,
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
            budgets: written.budgets.map(RefineBudgetsOut::from),
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
