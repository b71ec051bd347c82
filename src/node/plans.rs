//! Exported planning functions: cut point, reduction, tail, chunks, shortening.

use napi::Env;
use napi::bindgen_prelude::{External, Object, Unknown};
use napi_derive::napi;

use super::error::Result;
use super::read::Fields;
use super::source::Source;
use super::write::{EditOut, edits};
use crate::plan::chunks::{ChunkBudget, ChunkPlan, plan_chunks};
use crate::plan::edit::{CHUNK_MARKER, Edit, TAIL_MARKER};
use crate::plan::reduce::{reduce as thin, reducible as thinnable};
use crate::plan::shorten::{Cut, Form, shorten};
use crate::plan::tail::{TailPlan, plan_tail, sound};
use crate::transcript::part::Role;
use crate::transcript::passage::Unread;

/// Where a context is cut.
#[napi(object, object_from_js = false)]
pub struct CutOut {
    /// `firstKeptIndex`
    pub first_kept_index: u32,
    /// `turnStartIndex`; −1 for none.
    pub turn_start_index: i32,
    /// `isSplitTurn`
    pub is_split_turn: bool,
    /// Whether messages before these would change nothing.
    pub is_settled: bool,
}

/// pi's cut point.
#[napi(catch_unwind)]
pub fn find_cut(
    env: Env,
    source: Unknown,
    start: u32,
    end: u32,
    keep_recent_tokens: f64,
    options: Option<Object>,
) -> Result<CutOut> {
    let keep = keep_recent_tokens as u64;
    let sizing = Fields::options(options.as_ref()).sizing()?;
    let cut = Source::with(env, source, (start, end), |source| Ok(source.cut(keep, sizing)))?;
    let turn_start_index = cut.turn_start.and_then(|at| i32::try_from(at).ok()).unwrap_or(-1);
    Ok(CutOut {
        first_kept_index: cut.first_kept as u32,
        turn_start_index,
        is_split_turn: turn_start_index >= 0,
        is_settled: cut.settled,
    })
}

/// Indices of the summaries of earlier compactions.
#[napi(catch_unwind)]
pub fn summaries(env: Env, source: Unknown, start: u32, end: u32) -> Result<Vec<u32>> {
    Source::with(env, source, (start, end), |source| {
        let places = (0..).zip(source.range());
        let summaries = places.filter(|(_, message)| message.role() == Role::CompactionSummary);
        Ok(summaries.map(|(place, _)| place).collect())
    })
}

/// Indices of the messages that the reduction changes.
#[napi(catch_unwind)]
pub fn reducible(env: Env, source: Unknown, start: u32, end: u32) -> Result<Vec<u32>> {
    Source::with(env, source, (start, end), |source| {
        Ok(thinnable(&source.range()).map(|index| index as u32).collect())
    })
}

/// The reduction of a passage. Empties it.
#[napi(catch_unwind)]
pub fn reduce(passage: &mut External<Unread>) -> Result<Vec<EditOut>> {
    let passage = std::mem::take(&mut **passage).read()?;
    Ok(edits(thin(&passage.messages().collect::<Vec<_>>())))
}

/// A tail by index, and what has to change in it.
#[napi(object, object_from_js = false)]
pub struct TailOut {
    /// Messages that stay.
    pub kept: Vec<u32>,
    /// Calls that go.
    pub stripped: Vec<EditOut>,
    /// Messages to be cut.
    pub cut: Vec<u32>,
    /// The units that each of them may have.
    pub targets: Vec<u32>,
}

impl From<TailPlan> for TailOut {
    fn from(plan: TailPlan) -> Self {
        let (cut, targets) = cuts(plan.cut);
        let kept = plan.kept.into_iter().map(|index| index as u32).collect();
        Self { kept, stripped: edits(plan.stripped), cut, targets }
    }
}

fn cuts(cuts: Vec<(usize, usize)>) -> (Vec<u32>, Vec<u32>) {
    cuts.into_iter().map(|(index, units)| (index as u32, u32::try_from(units).unwrap_or(u32::MAX))).unzip()
}

/// Plans the retained tail.
#[napi(catch_unwind)]
pub fn tail_plan(
    env: Env,
    source: Unknown,
    start: u32,
    end: u32,
    max_tokens: f64,
    options: Option<Object>,
) -> Result<TailOut> {
    let most = max_tokens as u64;
    let options = Fields::options(options.as_ref());
    let (retention, sizing) = (options.retention()?, options.sizing()?);
    Source::with(env, source, (start, end), |source| {
        Ok(plan_tail(&source.range(), most, retention, sizing).into())
    })
}

/// Plans the replay of stored messages.
#[napi(catch_unwind)]
pub fn replay_plan(
    env: Env,
    source: Unknown,
    start: u32,
    end: u32,
    options: Option<Object>,
) -> Result<TailOut> {
    let sizing = Fields::options(options.as_ref()).sizing()?;
    Source::with(env, source, (start, end), |source| Ok(sound(&source.range(), sizing).into()))
}

/// Chunks by index, and the messages that have to be cut.
#[napi(object, object_from_js = false)]
pub struct ChunksOut {
    /// For each chunk the index behind its last message.
    pub ends: Vec<u32>,
    /// Messages to be cut.
    pub cut: Vec<u32>,
    /// The units that each of them may have.
    pub targets: Vec<u32>,
}

/// Plans the chunks of a range.
#[napi(catch_unwind)]
pub fn chunk_plan(
    env: Env,
    source: Unknown,
    start: u32,
    end: u32,
    previous: u32,
    options: Option<Object>,
) -> Result<Option<ChunksOut>> {
    let options = Fields::options(options.as_ref());
    let (measure, sizing) = (options.measure("options.prompts")?, options.sizing()?);
    let carried = sizing.chars_per_token.tokens(previous as usize);
    let reserve = options.count("reserve")?.unwrap_or(0).max(carried);
    let budget = ChunkBudget::of(options.required("promptLimit")?, reserve, &measure)?;
    let rules = options.chunk_rules()?;
    Source::with(env, source, (start, end), |source| {
        let outline = source.outline(sizing.dialect);
        Ok(plan_chunks(&outline, budget, rules, sizing.chars_per_token).map(ChunksOut::from))
    })
}

impl From<ChunkPlan> for ChunksOut {
    fn from(plan: ChunkPlan) -> Self {
        let (cut, targets) = cuts(plan.cut);
        Self { ends: plan.ends.into_iter().map(|end| end as u32).collect(), cut, targets }
    }
}

/// Cuts each message of a passage to its target, and empties it; `counted` measures as the raw estimate does, for a tail.
#[napi(catch_unwind)]
pub fn shortened(
    passage: &mut External<Unread>,
    targets: Vec<u32>,
    options: Option<Object>,
    counted: bool,
) -> Result<Vec<EditOut>> {
    let dialect = Fields::options(options.as_ref()).sizing()?.dialect;
    let (form, marker) =
        if counted { (Form::Counted(dialect), TAIL_MARKER) } else { (Form::Printed(dialect), CHUNK_MARKER) };
    let passage = std::mem::take(&mut **passage).read()?;
    let mut found = Vec::new();
    for (index, (message, target)) in passage.messages().zip(targets).enumerate() {
        let changes = shorten(&message, Cut { form, target: target as usize, marker })?;
        found.extend(changes.into_iter().map(|change| Edit { message: index, change }));
    }
    Ok(edits(found))
}
