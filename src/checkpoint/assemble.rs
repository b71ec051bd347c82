//! Summary and file lists become a checkpoint.

use super::files::FileLists;
use crate::budget::refine_budgets::RefineBudgets;
use crate::plan::shape::Shape;

/// What stands in the place of a range.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The summary with its file lists.
    pub summary: String,
    /// The files in it.
    pub files: FileLists,
    /// Estimated tokens of the range and the previous summary.
    pub tokens_before: u64,
    /// Estimated tokens of the summary.
    pub tokens_after: u64,
    /// How a model wrote it, if one did.
    pub written: Option<Written>,
}

/// How a model wrote a summary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Written {
    /// How the range was summarized.
    pub shape: Shape,
    /// Chunks, or 1.
    pub chunks: u32,
    /// Whether tool output was thinned for the requests.
    pub reduced: bool,
    /// The budgets of a refine run.
    pub budgets: Option<RefineBudgets>,
}
