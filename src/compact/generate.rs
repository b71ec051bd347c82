//! A range becomes a checkpoint.

use std::borrow::Cow;

use super::compaction::{Compaction, Method, nothing_new};
use super::plan::Plan;
use crate::checkpoint::assemble::{Checkpoint, Written};
use crate::error::{CompactionError, Result};
use crate::plan::shape::Shape;
use crate::prompt::build::Template;
use crate::provider::Provider;
use crate::provider::overflow::Overflow;
use crate::summarize::chain::{ChainRoom, chunks, split_turn};
use crate::summarize::events::Event;
use crate::summarize::extractive::pick;
use crate::summarize::items::items;
use crate::summarize::refine::Refining;
use crate::summarize::run::{Ended, Host, Overflowed, Run};
use crate::summarize::sections::render;
use crate::summarize::tally::Log;
use crate::summarize::writing::{Progress, Writing};
use crate::transcript::part::Message;
use crate::transcript::serialize::range_extent;

/// The fewest UTF-16 units of an extractive summary: its headings and a little more.
pub const LEAST_SUMMARY: u64 = 256;
/// UTF-16 units of an extractive summary, unless the caller says otherwise.
pub const DEFAULT_SUMMARY: u64 = 4_000;

/// How often the rest of a range is planned again for a window that turned out smaller.
const MOST_REPLANS: u32 = 2;

/// Writes the checkpoint without a model, in at most `most` UTF-16 units, file lists not counted.
///
/// # Errors
/// `no_new_history` for an empty range; `summary_budget` when the budget leaves nothing for text.
pub fn extract<H: Host>(compaction: &Compaction, most: usize, log: &Log<'_, H>) -> Result<Checkpoint> {
    let range = compaction.checked()?;
    log.tell(Event::Plan { requests: 0, shape: Shape::Single, reduced: false });
    let earlier = compaction.secrets.masked(&compaction.previous_words());
    let body = picked(compaction, &range, &earlier, most);
    let checkpoint = compaction.assembled(&range, &body, None);
    warn_of_size(&checkpoint, log);
    Ok(checkpoint)
}

/// What is picked from a range by rule.
pub(super) fn picked(compaction: &Compaction, range: &[Message<'_>], earlier: &str, most: usize) -> String {
    compaction.secrets.masked(&render(pick(&items(range)), earlier, most))
}

/// Warns of a checkpoint that saves nothing (requirements G18).
fn warn_of_size<H: Host>(checkpoint: &Checkpoint, log: &Log<'_, H>) {
    if checkpoint.tokens_after >= checkpoint.tokens_before {
        log.tell(Event::Warning("the checkpoint is no smaller than what it stands for"));
    }
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
    if range_extent(&range, compaction.sizing.dialect).units() == 0 {
        // A model that is asked about nothing makes something up.
        return Err(nothing_new().into());
    }
    let mut plan = Plan::of(compaction)?;
    refuse_beyond(plan.requests, run.max_requests())?;
    run.tell(Event::Plan { requests: plan.requests, shape: plan.shape, reduced: plan.reduced });
    warn_of_cuts(&plan, run);
    warn(compaction, run);
    let mut rest = Cow::Borrowed(compaction);
    let (mut written, mut replans, mut reduced) = (0, 0, false);
    let body = loop {
        let mut progress = Progress::from(rest.secrets.masked(&rest.previous_words()));
        let overflow = match write(&rest, run, &plan, &mut progress).await {
            Ok(body) => break body,
            Err(Ended::Overflowed(overflow)) if replans < MOST_REPLANS => overflow,
            Err(ended) => return Err(ended),
        };
        reduced |= plan.reduced && progress.requests > 0;
        written += progress.requests;
        (rest, plan) = replan(&rest, &progress, overflow, run)?;
        replans += 1;
    };
    let written = Written {
        shape: if written > 0 { Shape::Chunks } else { plan.shape },
        chunks: u32::try_from(plan.ends.len()).unwrap_or(u32::MAX).saturating_add(written),
        reduced: reduced || plan.reduced,
        budgets: compaction.refine_budgets(),
    };
    let checkpoint = compaction.assembled(&range, &body, Some(written));
    warn_of_size(&checkpoint, run.log());
    Ok(checkpoint)
}

/// Says what a host should know before anything is sent.
fn warn<P: Provider, H: Host>(compaction: &Compaction, run: &Run<'_, P, H>) {
    if let Method::Refine { window, .. } = &compaction.method {
        let budgets = compaction.budgets(window);
        if window.settings.max_output_tokens.is_some() && budgets.max_output > budgets.hard_ceiling {
            run.tell(Event::Warning("refine.maxOutputTokens is more than the window leaves beside a prompt"));
        }
    }
}

fn warn_of_cuts<P: Provider, H: Host>(plan: &Plan, run: &Run<'_, P, H>) {
    if plan.cuts > 0 {
        run.tell(Event::Warning("messages that no request holds whole are cut where they are sent"));
    }
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
    warn_of_cuts(&plan, run);
    run.tell(Event::Replan { requests, shape, prompt_limit: rest.prompt_limit() });
    Ok((Cow::Owned(rest), plan))
}

fn without_plan(mut overflow: Box<Overflowed>) -> Ended {
    overflow.error.message.push_str("; no plan for what it takes is left");
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
    let Compaction { prompts, secrets, sizing, shelf, .. } = compaction;
    let range: Vec<Message<'_>> = match &plan.changed {
        Some(changed) => changed.messages().collect(),
        None => compaction.range.messages().collect(),
    };
    let writing =
        |max_tokens| Writing { prompts, secrets, sizing: *sizing, max_tokens, shelf: shelf.as_ref() };
    match (&compaction.method, plan.shape) {
        (Method::Refine { window, .. }, _) => {
            let budgets = compaction.budgets(window);
            let writing = writing(budgets.max_output);
            Refining::new(run, &writing, budgets, &range, progress).chunks(&plan.ends).await
        }
        (Method::Chain(limit), Shape::SplitTurn) => {
            let parts = range.split_at_checked(compaction.history).unwrap_or((&range, &[]));
            split_turn(run, &writing(limit.output), parts, progress).await
        }
        (Method::Chain(limit), shape) => {
            let reserve = compaction.reserve(*limit);
            // What is written in a chain is carried into the next request, and may be no longer than the room there.
            let most = if shape == Shape::Chunks { limit.output.min(reserve) } else { limit.output };
            let starts = std::iter::once(0).chain(plan.ends.iter().copied());
            let pieces: Vec<&[Message<'_>]> =
                starts.zip(&plan.ends).filter_map(|(start, &end)| range.get(start..end)).collect();
            let excess = compaction.measure().excess(Template::Update, true);
            let room = ChainRoom { reserve, prompt: limit.tokens.saturating_sub(excess + 1) };
            chunks(run, &writing(most), &pieces, room, progress).await
        }
    }
}
