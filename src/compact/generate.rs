//! A range becomes a checkpoint.

use std::borrow::Cow;

use super::plan::Plan;
use crate::budget::guard::Measure;
use crate::budget::window::PromptLimit;
use crate::checkpoint::assemble::{Checkpoint, Written};
use crate::checkpoint::files::{FileOperations, without_lists};
use crate::error::{CompactionError, ErrorCode, Result};
use crate::plan::chunks::ChunkBudget;
use crate::plan::shape::Shape;
use crate::prompt::build::Prompts;
use crate::prompt::neutralize::neutralized;
use crate::prompt::redact::Secrets;
use crate::provider::Provider;
use crate::provider::overflow::Overflow;
use crate::summarize::chain::{Progress, Writing, chunks, split_turn};
use crate::summarize::events::Event;
use crate::summarize::extractive::pick;
use crate::summarize::items::items;
use crate::summarize::run::{Ended, Host, Overflowed, Run, Sent};
use crate::summarize::sections::render;
use crate::transcript::part::Message;
use crate::transcript::resident::Passage;
use crate::transcript::serialize::range_extent;
use crate::transcript::weigh::Sizing;

/// The fewest UTF-16 units of an extractive summary: its headings and a little more.
pub const LEAST_SUMMARY: u64 = 256;
/// UTF-16 units of an extractive summary, unless the caller says otherwise.
pub const DEFAULT_SUMMARY: u64 = 4_000;

/// How often the rest of a range is planned again for a window that turned out smaller.
const MOST_REPLANS: u32 = 2;

/// What is to be compacted, and within what.
#[derive(Clone)]
pub struct Compaction {
    /// History and turn prefix, one after the other; secrets masked.
    pub range: Passage,
    /// How many messages of the range are history.
    pub history: usize,
    /// The checkpoint that is carried on; empty for none.
    pub previous: String,
    /// The files as the host knows them; else they are read from the range.
    pub files: Option<FileOperations>,
    /// The limit of a summary prompt.
    pub limit: PromptLimit,
    /// The words around the text.
    pub prompts: Prompts,
    /// What must not leave.
    pub secrets: Secrets,
    /// How text is measured.
    pub sizing: Sizing,
}

impl Compaction {
    /// How requests are measured.
    #[must_use]
    pub fn measure(&self) -> Measure {
        Measure { chars_per_token: self.sizing.chars_per_token, prompts: self.prompts.sizes() }
    }

    /// Tokens held back for the summary that is carried along.
    #[must_use]
    pub fn reserve(&self) -> u64 {
        self.limit.reserve(self.tokens(self.previous.encode_utf16().count()))
    }

    fn tokens(&self, units: usize) -> u64 {
        self.sizing.chars_per_token.tokens(units)
    }

    /// The range, where there is something in it and room to say it.
    fn checked(&self) -> Result<Vec<Message<'_>>> {
        let range: Vec<Message<'_>> = self.range.messages().collect();
        if range.is_empty() {
            return Err(CompactionError::new(
                ErrorCode::NoNewHistory,
                "the range holds no message to summarize; compact again after the next turn",
            ));
        }
        ChunkBudget::of(self.limit.tokens, self.reserve(), &self.measure())?;
        Ok(range)
    }

    /// What a run that overflowed has still to do: the messages it has no summary of, within the window it learned.
    fn rest(&self, progress: &Progress, sent: Sent, said: Overflow) -> Self {
        let done = progress.chunks > 0;
        let ratio = said.prompt.map(|counted| sent.whole as f64 / counted.max(1) as f64);
        Self {
            range: self.range.skipping(progress.messages),
            history: if done { usize::MAX } else { self.history },
            previous: if done { &progress.summary } else { &self.previous }.clone(),
            files: None,
            limit: self.limit.learned(sent.text, said.limit, ratio),
            prompts: self.prompts.clone(),
            secrets: self.secrets.clone(),
            sizing: self.sizing,
        }
    }

    /// Body and file lists together.
    fn assembled(&self, range: &[Message<'_>], body: &str, written: Option<Written>) -> Checkpoint {
        let body = own_words(body);
        let files = self.files.clone().unwrap_or_else(|| FileOperations::of(range, &self.previous));
        let files = files.lists().masked(&self.secrets);
        let summary = body + &files.text();
        let carried = self.previous.encode_utf16().count();
        Checkpoint {
            tokens_before: self.tokens(range_extent(range, self.sizing.dialect).units() + carried),
            tokens_after: self.tokens(summary.encode_utf16().count()),
            summary,
            files,
            written,
        }
    }
}

/// A summary without file lists: the range's own come behind it, and a model's would be taken for them.
fn own_words(summary: &str) -> String {
    let mut words = summary.to_owned();
    loop {
        let without = without_lists(&words);
        if without == words {
            break;
        }
        words = without;
    }
    if words.contains("-files>") { neutralized(&words) } else { words }
}

/// Writes the checkpoint without a model, in at most `most` UTF-16 units, file lists not counted.
///
/// # Errors
/// `no_new_history` for an empty range; `summary_budget` when the budget leaves nothing for text.
pub fn extract<H: Host>(compaction: &Compaction, most: usize, host: &H) -> Result<Checkpoint> {
    let range = compaction.checked()?;
    host.hear(Event::Plan { requests: 0, shape: Shape::Single, reduced: false });
    let body = render(pick(&items(&range)), &without_lists(&compaction.previous), most);
    let checkpoint = compaction.assembled(&range, &compaction.secrets.masked(&body), None);
    close(&checkpoint, 0, host);
    Ok(checkpoint)
}

/// Tells the host what became of the range (requirements G18).
fn close<H: Host>(checkpoint: &Checkpoint, requests: u32, host: &H) {
    let Checkpoint { tokens_before, tokens_after, .. } = *checkpoint;
    if tokens_after >= tokens_before {
        host.hear(Event::Warning("the checkpoint is no smaller than what it stands for"));
    }
    host.hear(Event::Done { tokens_before, tokens_after, requests });
}

/// Has a model write the checkpoint. Where the provider says that its window is smaller than was stated, what is left
/// of the range is planned again, at most twice.
///
/// # Errors
/// As [`extract`]; `summary_budget` also when more requests would be needed than the run allows; else why a request
/// failed, or that the run was given up.
pub async fn generate<P: Provider, H: Host>(
    compaction: &Compaction,
    run: &Run<'_, P, H>,
) -> std::result::Result<Checkpoint, Ended> {
    let range = compaction.checked()?;
    let mut plan = Plan::of(compaction)?;
    refuse_beyond(plan.requests, run.max_requests())?;
    run.tell(Event::Plan { requests: plan.requests, shape: plan.shape, reduced: plan.reduced });
    let mut rest = Cow::Borrowed(compaction);
    let (mut written, mut replans, mut reduced) = (0, 0, false);
    let body = loop {
        let mut progress = Progress::default();
        let overflow = match write(&rest, run, &plan, &mut progress).await {
            Ok(body) => break body,
            Err(Ended::Overflowed(overflow)) if replans < MOST_REPLANS => overflow,
            Err(ended) => return Err(ended),
        };
        reduced |= plan.reduced && progress.chunks > 0;
        written += progress.chunks;
        (rest, plan) = replan(&rest, &progress, overflow, run)?;
        replans += 1;
    };
    let written = Written {
        shape: if written > 0 { Shape::Chunks } else { plan.shape },
        chunks: u32::try_from(plan.ends.len()).unwrap_or(u32::MAX).saturating_add(written),
        reduced: reduced || plan.reduced,
        requests: run.sent(),
        usage: run.usage(),
    };
    let checkpoint = compaction.assembled(&range, &body, Some(written));
    close(&checkpoint, run.sent(), run.host());
    Ok(checkpoint)
}

/// What is left, and a plan for it within the window that was learned; the overflow itself where there is none.
fn replan<'c, P: Provider, H: Host>(
    rest: &Compaction,
    progress: &Progress,
    overflow: Box<Overflowed>,
    run: &Run<'_, P, H>,
) -> std::result::Result<(Cow<'c, Compaction>, Plan), Ended> {
    // Numbers that lead to no plan say no more than none.
    let learned = [overflow.said.plausible(overflow.sent.whole), Overflow::default()];
    let planned = |said| {
        let rest = rest.rest(progress, overflow.sent, said);
        rest.checked().and_then(|_| Plan::of(&rest)).ok().map(|plan| (rest, plan))
    };
    let Some((rest, plan)) = learned.into_iter().find_map(planned) else {
        return Err(without_plan(overflow));
    };
    let Plan { requests, shape, .. } = plan;
    refuse_beyond(run.sent().saturating_add(requests), run.max_requests())?;
    run.tell(Event::Replan { requests, shape, prompt_limit: rest.limit.tokens });
    Ok((Cow::Owned(rest), plan))
}

fn without_plan(mut overflow: Box<Overflowed>) -> Ended {
    overflow.error.message.push_str("; no plan for what it takes fits into 16 requests");
    Ended::Overflowed(overflow)
}

fn refuse_beyond(needed: u32, most: u32) -> Result<()> {
    if needed <= most {
        return Ok(());
    }
    Err(CompactionError::budget(format!(
        "the plan needs {needed} requests and maxRequests allows {most}; raise it, or use a model with a larger window"
    )))
}

async fn write<P: Provider, H: Host>(
    compaction: &Compaction,
    run: &Run<'_, P, H>,
    plan: &Plan,
    progress: &mut Progress,
) -> std::result::Result<String, Ended> {
    let Compaction { prompts, secrets, sizing, limit, .. } = compaction;
    let reserve = compaction.reserve();
    // What is written in a chain is carried into the next request, so that it may be no longer than the room there.
    let max_tokens = if plan.shape == Shape::Chunks { limit.output.min(reserve) } else { limit.output };
    let writing = Writing { prompts, secrets, sizing: *sizing, max_tokens, reserve };
    let range: Vec<Message<'_>> = match &plan.changed {
        Some(changed) => changed.messages().collect(),
        None => compaction.range.messages().collect(),
    };
    let previous = secrets.masked(&without_lists(&compaction.previous));
    match plan.shape {
        Shape::SplitTurn => {
            let parts = range.split_at_checked(compaction.history).unwrap_or((&range, &[]));
            split_turn(run, &writing, parts, &previous, progress).await
        }
        Shape::Single | Shape::Chunks => {
            let starts = std::iter::once(0).chain(plan.ends.iter().copied());
            let pieces: Vec<&[Message<'_>]> =
                starts.zip(&plan.ends).filter_map(|(start, &end)| range.get(start..end)).collect();
            chunks(run, &writing, &pieces, &previous, progress).await
        }
    }
}
