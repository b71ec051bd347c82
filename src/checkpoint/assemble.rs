//! Summary and file lists become a checkpoint.

use super::files::FileLists;

/// What stands in the place of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The summary with its file lists.
    pub summary: String,
    /// The files in it.
    pub files: FileLists,
    /// Estimated tokens of the range and the previous summary.
    pub tokens_before: u64,
    /// Estimated tokens of the summary.
    pub tokens_after: u64,
}
