//! A range becomes a checkpoint.

use crate::budget::guard::Measure;
use crate::budget::window::PromptLimit;
use crate::checkpoint::assemble::Checkpoint;
use crate::checkpoint::files::{FileOperations, without_lists};
use crate::error::{CompactionError, ErrorCode, Result};
use crate::plan::chunks::ChunkBudget;
use crate::summarize::extractive::pick;
use crate::summarize::items::items;
use crate::summarize::sections::render;
use crate::transcript::part::Message;
use crate::transcript::serialize::range_extent;
use crate::transcript::store::Store;
use crate::transcript::weigh::Sizing;

/// The fewest UTF-16 units of an extractive summary: its headings and a little more.
pub const LEAST_SUMMARY: u64 = 256;
/// UTF-16 units of an extractive summary, unless the caller says otherwise.
pub const DEFAULT_SUMMARY: u64 = 4_000;

/// What is to be compacted, and how.
#[derive(Debug, Clone)]
pub struct Compaction {
    /// History and turn prefix, one after the other.
    pub range: Store,
    /// The checkpoint that is carried on; empty for none.
    pub previous: String,
    /// The files as the host knows them; else they are read from the range.
    pub files: Option<FileOperations>,
    /// The limit of a summary prompt.
    pub limit: PromptLimit,
    /// How prompts are measured.
    pub measure: Measure,
    /// How text is measured.
    pub sizing: Sizing,
    /// The most UTF-16 units of the summary, file lists not counted.
    pub most: usize,
}

/// Writes the checkpoint without a model.
///
/// # Errors
/// `no_new_history` for an empty range; `summary_budget` when the budget leaves nothing for text.
pub fn generate(compaction: &Compaction) -> Result<Checkpoint> {
    let Compaction { range, previous, limit, measure, sizing, .. } = compaction;
    let range: Vec<Message<'_>> = range.messages().collect();
    if range.is_empty() {
        return Err(CompactionError::new(
            ErrorCode::NoNewHistory,
            "the range holds no message to summarize; compact again after the next turn",
        ));
    }
    let carried = previous.encode_utf16().count();
    let tokens = |units| sizing.chars_per_token.tokens(units);
    ChunkBudget::of(limit.tokens, limit.reserve(tokens(carried)), measure)?;
    let files = compaction.files.clone().unwrap_or_else(|| FileOperations::of(&range, previous)).lists();
    let body = render(pick(&items(&range)), &without_lists(previous), compaction.most);
    let summary = body + &files.text();
    Ok(Checkpoint {
        tokens_before: tokens(range_extent(&range, sizing.dialect).units() + carried),
        tokens_after: tokens(summary.encode_utf16().count()),
        summary,
        files,
    })
}
