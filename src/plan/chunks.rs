//! Chunks: contiguous pieces of a range, each small enough for one summary request (ADR 0302; requirements C30 to
//! C39, D36 to D44, G5).

use std::ops::Range;

use super::turns::{Grain, Joints};
use crate::budget::guard::Measure;
use crate::budget::window::PROMPT_MARGIN;
use crate::error::{CompactionError, Result};
use crate::tokens::estimate::CharsPerToken;
use crate::transcript::outline::Outline;
use crate::transcript::part::Role;

/// The most chunks unless the caller says otherwise (requirements C32).
pub const MOST_CHUNKS: usize = 16;
/// Part of the room that a plan fills (requirements C39).
const FILL: f64 = 0.9;

/// The room of one chunk.
#[derive(Debug, Clone, Copy)]
pub struct ChunkBudget {
    /// Tokens of serialized text; at least 1.
    pub tokens: u64,
}

impl ChunkBudget {
    /// What a prompt leaves for text, and 0.9 of that.
    ///
    /// # Errors
    /// `summary_budget` when reserve and template leave nothing (requirements G11).
    pub fn of(prompt_limit: u64, reserve: u64, measure: &Measure) -> Result<Self> {
        let words = measure.chars_per_token.tokens(measure.prompts.chunk_overhead());
        let excess = words.saturating_sub(PROMPT_MARGIN);
        let room = prompt_limit.saturating_sub(excess).saturating_sub(reserve);
        if room == 0 {
            return Err(CompactionError::budget(format!(
                "nothing is left for text: of {prompt_limit} tokens for a prompt {reserve} are held back for the \
                 summary that is carried along and {excess} for prompts and instructions; use a model with a larger \
                 contextWindow, a budget with a larger hardLimit, or a shorter previousSummary or customInstructions"
            )));
        }
        Ok(Self { tokens: ((room as f64 * FILL).floor() as u64).max(1) })
    }
}

/// How many chunks there may be, and where they may be cut.
#[derive(Debug, Clone, Copy)]
pub struct ChunkRules {
    /// The coarsest grain to begin with.
    pub grain: Grain,
    /// The most chunks.
    pub most: usize,
    /// The fewest chunks.
    pub fewest: usize,
}

/// The chunks of a range.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChunkPlan {
    /// For each chunk the index behind its last message.
    pub ends: Vec<usize>,
    /// Messages larger than a chunk, with the printed units that each may have.
    pub cut: Vec<(usize, usize)>,
}

/// Plans the chunks of a range; `None` when it is empty or needs more than the most.
#[must_use]
pub fn plan_chunks(
    outline: &Outline<'_>,
    budget: ChunkBudget,
    rules: ChunkRules,
    chars_per_token: CharsPerToken,
) -> Option<ChunkPlan> {
    let room = chars_per_token.units(budget.tokens);
    if fits_whole(outline, room, rules) {
        return Some(ChunkPlan { ends: vec![outline.len()], cut: Vec::new() });
    }
    let joints = Joints::of(outline.links());
    rules.grain.and_finer().iter().find_map(|&grain| {
        let mut packer =
            Packer { outline, joints: &joints, room, plan: ChunkPlan::default(), open: 0..0, filled: 0 };
        for section in sections(outline, &joints, rules.fewest, grain) {
            packer.add(section, grain);
            packer.close();
        }
        let chunks = packer.plan.ends.len();
        (chunks > 0 && chunks <= rules.most).then_some(packer.plan)
    })
}

/// Whether one chunk is enough, whatever the joints are.
fn fits_whole(outline: &Outline<'_>, room: usize, rules: ChunkRules) -> bool {
    let may_be_one = rules.fewest <= 1 && rules.most >= 1;
    may_be_one && !outline.is_empty() && outline.units(0..outline.len()) <= room
}

/// The range in `fewest` sections of about equal size, cut as coarsely as that many sections allow; in fewer where
/// more would part calls from their results.
fn sections(outline: &Outline<'_>, joints: &Joints, fewest: usize, grain: Grain) -> Vec<Range<usize>> {
    let whole = 0..outline.len();
    // One section needs no pieces.
    if fewest <= 1 {
        return if outline.is_empty() { Vec::new() } else { vec![whole] };
    }
    let pieces_at = |grain| joints.pieces(whole.clone(), grain).collect::<Vec<_>>();
    let coarse = pieces_at(grain);
    let pieces = if coarse.len() < fewest { pieces_at(grain.max(Grain::Group)) } else { coarse };
    let pieces = with_text(pieces, outline);
    let total = outline.units(whole.clone());
    let mut sections: Vec<Range<usize>> = Vec::new();
    let count = pieces.len();
    for (i, piece) in pieces.into_iter().enumerate() {
        let done = sections.len();
        let due = done < fewest && outline.units(0..piece.end) * fewest > total * done;
        // As many pieces are left as sections are missing: each begins one.
        let last_chance = count - i <= fewest.saturating_sub(done);
        match sections.last_mut() {
            Some(open) if !(due || last_chance) => open.end = piece.end,
            _ => sections.push(piece),
        }
    }
    sections
}

/// The pieces, those that print nothing joined to a neighbour: a request about nothing helps nobody.
fn with_text(pieces: Vec<Range<usize>>, outline: &Outline<'_>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for piece in pieces {
        match joined.last_mut() {
            Some(open) if outline.units(open.clone()) == 0 || outline.units(piece.clone()) == 0 => {
                open.end = piece.end;
            }
            _ => joined.push(piece),
        }
    }
    joined
}

/// Fills chunk after chunk.
struct Packer<'a> {
    outline: &'a Outline<'a>,
    joints: &'a Joints,
    /// Units of one chunk.
    room: usize,
    plan: ChunkPlan,
    /// The chunk that is being filled, and its units.
    open: Range<usize>,
    filled: usize,
}

impl Packer<'_> {
    /// Adds a span whole where that fits, else in finer pieces.
    fn add(&mut self, span: Range<usize>, grain: Grain) {
        for piece in self.joints.pieces(span, grain) {
            let units = self.outline.units(piece.clone());
            match grain.and_finer() {
                _ if joined(self.filled, units) <= self.room => self.take(piece.end, units),
                _ if units <= self.room => {
                    self.close();
                    self.take(piece.end, units);
                }
                [_, finer, ..] => self.add(piece, *finer),
                _ => self.add_cut(piece.start),
            }
        }
    }

    fn take(&mut self, end: usize, units: usize) {
        self.open.end = end;
        self.filled = joined(self.filled, units);
    }

    /// A message that no chunk holds: it is cut. A result stays beside its call, a call leaves room for its
    /// results, where that costs no more than half a chunk (requirements G5).
    fn add_cut(&mut self, at: usize) {
        let half = self.room / 2;
        let is_result = self.outline.role(at) == Role::ToolResult;
        if !is_result || self.filled > half {
            self.close();
        }
        let results = self.outline.units(at + 1..self.joints.group_end(at));
        let kept_free = if is_result || results > half { 0 } else { results };
        let target = self.room.saturating_sub(joined(self.filled, kept_free)).saturating_sub(2 * JOINT);
        self.plan.cut.push((at, target));
        self.take(at + 1, target);
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.plan.ends.push(self.open.end);
            self.open.start = self.open.end;
            self.filled = 0;
        }
    }
}

/// Units between two printed messages.
const JOINT: usize = 2;

fn joined(filled: usize, units: usize) -> usize {
    match (filled, units) {
        (0, one) | (one, 0) => one,
        (filled, units) => filled + JOINT + units,
    }
}
