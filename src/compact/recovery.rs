//! What becomes of a compaction that failed or came out too large (ADR 0049, 0302; requirements B10 to B29, C10 to
//! C14, C41).

use super::compaction::Compaction;
use super::generate::{DEFAULT_SUMMARY, LEAST_SUMMARY, picked};
use crate::budget::window::BudgetLimits;
use crate::checkpoint::assemble::Checkpoint;
use crate::checkpoint::fallback::text;
use crate::checkpoint::files::FileLists;
use crate::error::{CompactionError, ErrorCode};
use crate::prompt::frame::words;
use crate::prompt::neutralize::is_blank;
use crate::prompt::notice::{NOTICE, without_notice};
use crate::summarize::run::Ended;
use crate::tokens::estimate::CharsPerToken;
use crate::transcript::part::Message;
use crate::transcript::serialize::range_extent;

/// What stands beside a checkpoint in the next request, and what is to be done where it does not fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Recovery {
    /// What all of it has to stay below.
    pub limits: BudgetLimits,
    /// Tokens of recent context that the host keeps.
    pub keep_recent: u64,
    /// Tokens that every request holds besides, and those of the messages about to be sent.
    pub beside: u64,
    /// Tokens of the tail that stands behind a summary.
    pub tail: u64,
    /// The earlier checkpoint as it is stored.
    pub previous: String,
    /// What a failure leads to.
    pub on_failure: OnFailure,
    /// How the context is measured.
    pub chars_per_token: CharsPerToken,
}

/// What a failure leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// To nothing else: a person asked and is told (requirement B26).
    Fail,
    /// To a fallback with a notice.
    Notice,
    /// To a fallback with a notice and what is picked from the range without a model.
    Excerpt,
}

/// Why a fallback has no summary: a closed set (requirements C41, C42).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureReason {
    /// Nothing has happened since the last checkpoint.
    NoNewHistory,
    /// No plan fits the budget.
    SummaryBudget,
    /// The provider failed, or what it answered is no summary.
    SummaryProvider,
    /// The checkpoint came out too large.
    CheckpointOversized,
}

impl FailureReason {
    /// The reason behind a code; `None` for one that no fallback helps.
    #[must_use]
    pub fn of(code: ErrorCode) -> Option<Self> {
        match code {
            ErrorCode::NoNewHistory => Some(Self::NoNewHistory),
            ErrorCode::SummaryBudget | ErrorCode::ContextOverflow => Some(Self::SummaryBudget),
            ErrorCode::CheckpointOversized => Some(Self::CheckpointOversized),
            ErrorCode::SummaryProvider
            | ErrorCode::SummaryIncomplete
            | ErrorCode::SummaryEmpty
            | ErrorCode::SummaryRefused => Some(Self::SummaryProvider),
            ErrorCode::InvalidArgument
            | ErrorCode::UnsupportedApi
            | ErrorCode::SessionFile
            | ErrorCode::Internal => None,
        }
    }

    /// Its name in details.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoNewHistory => "no_new_history",
            Self::SummaryBudget => "summary_budget",
            Self::SummaryProvider => "summary_provider",
            Self::CheckpointOversized => "checkpoint_oversized",
        }
    }
}

/// A checkpoint without a fresh summary, but for its tail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fallback {
    /// Why there is no summary.
    pub reason: FailureReason,
    /// The files of the range and of what came before it.
    pub files: FileLists,
    /// Estimated tokens of the range and the previous summary.
    pub tokens_before: u64,
    /// Its text, the richest first: a shorter one is for where the least tail does not fit beside a longer one. None
    /// where no text leaves room for a tail.
    pub texts: Vec<FallbackText>,
}

/// A text of a fallback, and what it leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FallbackText {
    /// The text.
    pub summary: String,
    /// Its estimated tokens.
    pub tokens: u64,
    /// Tokens that the tail is to have at most.
    pub tail_budget: u64,
    /// Tokens of a tail with which the context would just stay below its limit.
    pub tail_room: u64,
}

/// How a compaction ended after all.
pub struct Recovered {
    /// The checkpoint that fits, or why there is none.
    pub outcome: Result<Checkpoint, Ended>,
    /// What may stand in its place.
    pub fallback: Option<Fallback>,
}

impl Recovery {
    /// Why no request need be made: however short a summary, it would not fit.
    ///
    /// # Errors
    /// `checkpoint_oversized`
    pub fn worth_a_request(&self) -> Result<(), CompactionError> {
        let least = self.beside.saturating_add(self.tail).saturating_add(1);
        if least < self.limits.hard_limit { Ok(()) } else { Err(oversized(self.limits.hard_limit)) }
    }

    /// Measures a finished checkpoint with what stands beside it, and makes the fallback where there is none that fits.
    #[must_use]
    pub fn of(&self, outcome: Result<Checkpoint, Ended>, compaction: &Compaction) -> Recovered {
        let outcome = outcome.and_then(|checkpoint| self.rechecked(checkpoint).map_err(Ended::from));
        let error = outcome.as_ref().err().and_then(Ended::error);
        let reason = error
            .and_then(|error| FailureReason::of(error.code))
            .filter(|_| self.on_failure != OnFailure::Fail);
        let Some(reason) = reason else { return Recovered { outcome, fallback: None } };
        Recovered { outcome, fallback: Some(self.fallback(reason, compaction)) }
    }

    /// The checkpoint, where it fits (requirements B7, B16).
    fn rechecked(&self, checkpoint: Checkpoint) -> Result<Checkpoint, CompactionError> {
        let beside = self.beside.saturating_add(self.tail);
        if beside.saturating_add(self.tokens(&checkpoint.summary)) < self.limits.hard_limit {
            Ok(checkpoint)
        } else {
            Err(oversized(self.limits.hard_limit))
        }
    }

    fn fallback(&self, reason: FailureReason, compaction: &Compaction) -> Fallback {
        let range: Vec<Message<'_>> = compaction.range.messages().collect();
        let room = self.limits.hard_limit.saturating_sub(1).saturating_sub(self.beside);
        let earlier = compaction.secrets.masked(&without_notice(&self.previous));
        let earlier = if is_blank(&words(&earlier)) { String::new() } else { earlier };
        let carried = self.most_carried(room);
        let bare = text(&earlier, carried, None);
        let left = room.saturating_sub(self.tokens(&bare)).saturating_sub(self.wished_tail());
        let excerpt = self.excerpt(&range, left, compaction);
        let rich = excerpt.map(|picked| text(&earlier, carried, Some(&picked)));
        let short = (carried > LEAST_CARRIED).then(|| text(&earlier, LEAST_CARRIED, None));
        let texts = [rich, Some(bare), short].into_iter().flatten();
        let texts: Vec<_> = texts.filter_map(|summary| self.beside_tail(summary, room)).collect();
        let before =
            range_extent(&range, compaction.sizing.dialect).units() + self.previous.encode_utf16().count();
        Fallback {
            reason,
            files: compaction.touched(&range).lists().masked(&compaction.secrets),
            tokens_before: self.chars_per_token.tokens(before),
            texts,
        }
    }

    /// A text with the room that it leaves for a tail, where it leaves any.
    fn beside_tail(&self, summary: String, room: u64) -> Option<FallbackText> {
        let tokens = self.tokens(&summary);
        let tail_room = room.checked_sub(tokens).filter(|&left| left > 0)?;
        Some(FallbackText { summary, tokens, tail_budget: self.wished_tail().min(tail_room), tail_room })
    }

    /// Tokens of the tail that a fallback wants (requirement C13).
    fn wished_tail(&self) -> u64 {
        let carried = self.chars_per_token.tokens(self.limits.fallback_summary_chars() as usize);
        let beside_text =
            self.limits.hard_limit.saturating_sub(carried + self.chars_per_token.tokens(NOTICE.len())).max(1);
        self.keep_recent.min(self.limits.fallback_tail()).min(beside_text)
    }

    /// UTF-16 units that the earlier summary may have: C13's, but where that and the tail do not fit beside what is
    /// sent, half of what is left.
    fn most_carried(&self, room: u64) -> usize {
        let most = self.limits.fallback_summary_chars() as usize;
        let notice = self.chars_per_token.tokens(NOTICE.len() + FRAME);
        let left = room.saturating_sub(notice);
        if self.chars_per_token.tokens(most).saturating_add(self.wished_tail()) <= left {
            return most;
        }
        most.min(self.chars_per_token.units(left / 2))
    }

    /// What is picked from the range without a model, where it is asked for and there is room.
    fn excerpt(&self, range: &[Message<'_>], room: u64, compaction: &Compaction) -> Option<String> {
        /// Units of the line above it, and more.
        const HEADING: usize = 64;
        let room = self.chars_per_token.units(room).saturating_sub(HEADING);
        let most = room.min(DEFAULT_SUMMARY as usize);
        let asked = self.on_failure == OnFailure::Excerpt && !range.is_empty();
        (asked && most >= LEAST_SUMMARY as usize).then(|| picked(compaction, range, "", most))
    }

    fn tokens(&self, text: &str) -> u64 {
        self.chars_per_token.tokens(text.encode_utf16().count())
    }
}

/// Units between the parts of a fallback's text.
const FRAME: usize = 4;
/// UTF-16 units that stay of an earlier summary where the room is smallest.
const LEAST_CARRIED: usize = 64;

/// A checkpoint that does not fit.
#[must_use]
pub fn oversized(hard_limit: u64) -> CompactionError {
    CompactionError::new(
        ErrorCode::CheckpointOversized,
        format!(
            "checkpoint, kept messages, fixedTokens and pendingMessages together do not stay below the hard limit of \
             {hard_limit} tokens; send less with the next request, keep less recent context, or use a model with a \
             larger window"
        ),
    )
}
