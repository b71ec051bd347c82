//! What is to be compacted, and within what.

use crate::budget::guard::Measure;
use crate::budget::refine_budgets::{RefineBudgets, RefineWindow};
use crate::budget::window::{Learned, PromptLimit};
use crate::checkpoint::assemble::{Checkpoint, Written};
use crate::checkpoint::files::FileOperations;
use crate::error::{CompactionError, ErrorCode, Result};
use crate::plan::chunks::ChunkBudget;
use crate::prompt::build::Prompts;
use crate::prompt::frame::words;
use crate::prompt::freshness::stamped;
use crate::prompt::neutralize::{is_blank, neutralized};
use crate::prompt::redact::Secrets;
use crate::provider::overflow::Overflow;
use crate::summarize::cache::Shelf;
use crate::summarize::run::Sent;
use crate::summarize::writing::Progress;
use crate::transcript::part::Message;
use crate::transcript::passage::Passage;
use crate::transcript::serialize::range_extent;
use crate::transcript::weigh::Sizing;

/// A range that is to become a checkpoint.
#[derive(Clone)]
pub struct Compaction {
    /// History and turn prefix, one after the other; secrets masked.
    pub range: Passage,
    /// How many messages of the range are history.
    pub history: usize,
    /// The checkpoint that is carried on, without what a fallback added to it; empty for none.
    pub previous: String,
    /// The files as the host knows them; else they are read from the range.
    pub files: Option<FileOperations>,
    /// Files that the details of the earlier checkpoint name.
    pub earlier_files: FileOperations,
    /// How it is written, and within what.
    pub method: Method,
    /// The words around the text.
    pub prompts: Prompts,
    /// What must not leave.
    pub secrets: Secrets,
    /// How text is measured.
    pub sizing: Sizing,
    /// What earlier runs of the session have finished, where it has a name.
    pub shelf: Option<Shelf>,
}

/// How a range is summarized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Method {
    /// Each request carries the summary so far, within the limit of a prompt.
    Chain(PromptLimit),
    /// A running summary over chunks.
    Refine {
        /// What the budgets follow from.
        window: RefineWindow,
        /// When it is written, where that is to be said.
        written_at: Option<String>,
    },
}

impl Compaction {
    /// How requests are measured.
    #[must_use]
    pub fn measure(&self) -> Measure {
        Measure { chars_per_token: self.sizing.chars_per_token, prompts: self.prompts.sizes() }
    }

    /// Tokens held back for the summary that is carried along in a chain.
    #[must_use]
    pub fn reserve(&self, limit: PromptLimit) -> u64 {
        limit.reserve(self.previous_tokens())
    }

    /// The budgets of a refine run.
    #[must_use]
    pub fn budgets(&self, window: &RefineWindow) -> RefineBudgets {
        window.budgets(self.previous_tokens(), &self.measure())
    }

    /// The same, where it is one.
    #[must_use]
    pub fn refine_budgets(&self) -> Option<RefineBudgets> {
        match &self.method {
            Method::Chain(_) => None,
            Method::Refine { window, .. } => Some(self.budgets(window)),
        }
    }

    /// Strategy and budgets by their numbers: under others an answer might have been another (requirement D52).
    #[must_use]
    pub fn budget_names(&self) -> String {
        match &self.method {
            Method::Chain(PromptLimit { tokens, output }) => format!("chain:{tokens}:{output}"),
            Method::Refine { window, .. } => {
                let RefineBudgets { ratio, max_prompt, max_output, summary_ceiling, chunk, .. } =
                    self.budgets(window);
                format!("refine:{ratio}:{max_prompt}:{max_output}:{summary_ceiling}:{chunk}")
            }
        }
    }

    /// Takes its range; secrets are masked from here on.
    pub fn take(&mut self, range: Passage) {
        self.range = range;
        if self.secrets.longest() > 0 {
            self.range.change_texts(|text| self.secrets.mask(text));
        }
    }

    /// Tokens that a prompt must not exceed.
    #[must_use]
    pub fn prompt_limit(&self) -> u64 {
        match &self.method {
            Method::Chain(limit) => limit.tokens,
            Method::Refine { window, .. } => self.budgets(window).max_prompt,
        }
    }

    /// Tokens of the checkpoint that is carried on.
    #[must_use]
    pub fn previous_tokens(&self) -> u64 {
        self.tokens(&self.previous)
    }

    fn tokens(&self, text: &str) -> u64 {
        self.sizing.chars_per_token.tokens(text.encode_utf16().count())
    }

    /// The words of the checkpoint that is carried on: its frame is made anew.
    #[must_use]
    pub fn previous_words(&self) -> String {
        let words = words(&self.previous);
        if is_blank(&words) { String::new() } else { words }
    }

    /// The range, where there is something in it and room to say it.
    ///
    /// # Errors
    /// `no_new_history` for an empty range; `summary_budget` when the budget leaves nothing for text.
    pub fn checked(&self) -> Result<Vec<Message<'_>>> {
        let range: Vec<Message<'_>> = self.range.messages().collect();
        if range.is_empty() {
            return Err(nothing_new());
        }
        match &self.method {
            Method::Chain(limit) => {
                ChunkBudget::of(limit.tokens, self.reserve(*limit), &self.measure())?;
            }
            Method::Refine { window, .. } => refuse_tiny(&self.budgets(window))?,
        }
        Ok(range)
    }

    /// What a run that overflowed has still to do: the messages it has no summary of, within the window it learned.
    #[must_use]
    pub fn rest(&self, progress: &Progress, sent: Sent, said: Overflow) -> Self {
        let ratio = said.prompt.map(|counted| sent.whole as f64 / counted.max(1) as f64);
        let learned = Learned { window: said.limit, ratio };
        let method = match &self.method {
            Method::Chain(limit) => Method::Chain(limit.learned(sent.text, learned)),
            Method::Refine { window, written_at } => {
                Method::Refine { window: window.learned(sent.whole, learned), written_at: written_at.clone() }
            }
        };
        Self {
            range: self.range.skipping(progress.messages),
            history: if progress.requests > 0 { usize::MAX } else { self.history },
            previous: progress.summary.clone(),
            files: None,
            method,
            ..self.clone()
        }
    }

    /// The files that the range and what came before it touched.
    #[must_use]
    pub fn touched(&self, range: &[Message<'_>]) -> FileOperations {
        let known = self.files.clone().unwrap_or_else(|| FileOperations::of(range, &self.previous));
        known.and(&self.earlier_files)
    }

    /// Body and file lists together.
    #[must_use]
    pub fn assembled(&self, range: &[Message<'_>], body: &str, written: Option<Written>) -> Checkpoint {
        let words = own_words(body);
        let body = match &self.method {
            Method::Refine { written_at, .. } => stamped(&words, written_at.as_deref()),
            Method::Chain(_) => words,
        };
        let files = self.touched(range).lists().masked(&self.secrets);
        // Once more: what a frame parted may have been a secret.
        let summary = self.secrets.masked(&(body + &files.text()));
        let carried = self.previous.encode_utf16().count();
        let before = range_extent(range, self.sizing.dialect).units() + carried;
        Checkpoint {
            tokens_before: self.sizing.chars_per_token.tokens(before),
            tokens_after: self.tokens(&summary),
            summary,
            files,
            written,
        }
    }
}

/// Nothing has been said since the last checkpoint.
pub(super) fn nothing_new() -> CompactionError {
    CompactionError::new(
        ErrorCode::NoNewHistory,
        "the range holds no message to summarize; compact again after the next turn",
    )
}

/// Refuses budgets that leave nothing for a chunk or an answer (requirements G6).
fn refuse_tiny(budgets: &RefineBudgets) -> Result<()> {
    if budgets.leave_room() {
        return Ok(());
    }
    Err(CompactionError::budget(format!(
        "next to nothing is left for text: of {} tokens for a prompt {} are held back for the running summary and the rest \
         for prompts and instructions, and {} are allowed for an answer; use a summary model with a larger \
         contextWindow, shorter customInstructions, or other refine settings",
        budgets.max_prompt, budgets.summary_ceiling, budgets.max_output
    )))
}

/// What a model wrote without the frame that it may have copied: the range's own comes around it.
fn own_words(summary: &str) -> String {
    let words = words(summary);
    if words.contains("-files>") { neutralized(&words) } else { words }
}
