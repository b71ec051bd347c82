//! The plan of a compaction: guard, one reduction, chunks (requirements A14, A43, C30, G13, G15).

use super::generate::Compaction;
use crate::budget::guard::SummaryInput;
use crate::error::{CompactionError, Result};
use crate::plan::apply::apply;
use crate::plan::chunks::{ChunkBudget, ChunkRules, MOST_CHUNKS, plan_chunks};
use crate::plan::edit::{CHUNK_MARKER, Change, Edit};
use crate::plan::reduce::reduce;
use crate::plan::shape::Shape;
use crate::plan::shorten::{Cut, Form, shorten};
use crate::plan::turns::Grain;
use crate::transcript::part::{Message, Role, Tag};
use crate::transcript::serialize::range_extent;
use crate::transcript::store::Store;

/// What will be sent.
#[derive(Debug)]
pub struct Plan {
    /// How the range is summarized.
    pub shape: Shape,
    /// Requests, if none has to be repeated.
    pub requests: u32,
    /// Whether tool output was thinned.
    pub reduced: bool,
    /// The messages as they are sent; `None` when they are sent as they are.
    pub changed: Option<Store>,
    /// For each chunk the index behind its last message; one for a single request.
    pub ends: Vec<usize>,
}

impl Plan {
    /// Plans the requests for a range that is not empty.
    ///
    /// # Errors
    /// `summary_budget` when the budget leaves nothing for text, a message cannot be cut small enough, or more than
    /// 16 requests would be needed.
    pub fn of(compaction: &Compaction) -> Result<Self> {
        let range: Vec<Message<'_>> = compaction.range.messages().collect();
        let images = images(&range);
        if images.is_empty() {
            return Self::of_texts(compaction, &range, None);
        }
        let named = apply(&range, &images);
        let range: Vec<Message<'_>> = named.messages().collect();
        Self::of_texts(compaction, &range, Some(&named))
    }

    /// The plan for messages without images; `changed` holds them where they are not the compaction's own.
    fn of_texts(compaction: &Compaction, range: &[Message<'_>], changed: Option<&Store>) -> Result<Self> {
        if !exceeds(compaction, range) {
            return Ok(Self::whole(compaction, range.len(), false, changed.cloned()));
        }
        let thinned = reduce(range);
        if thinned.is_empty() {
            return Self::chunked(compaction, range, false);
        }
        let reduced = apply(range, &thinned);
        let range: Vec<Message<'_>> = reduced.messages().collect();
        if exceeds(compaction, &range) {
            return Self::chunked(compaction, &range, true);
        }
        let messages = range.len();
        Ok(Self::whole(compaction, messages, true, Some(reduced)))
    }

    fn whole(compaction: &Compaction, messages: usize, reduced: bool, changed: Option<Store>) -> Self {
        let shape = if compaction.history < messages { Shape::SplitTurn } else { Shape::Single };
        let requests = shape.requests(1, compaction.history > 0);
        Self { shape, requests, reduced, changed, ends: vec![messages] }
    }

    fn chunked(compaction: &Compaction, range: &[Message<'_>], reduced: bool) -> Result<Self> {
        let Compaction { limit, sizing, .. } = compaction;
        let budget = ChunkBudget::of(limit.tokens, compaction.reserve(), &compaction.measure())?;
        let rules = ChunkRules { grain: Grain::Turn, most: MOST_CHUNKS, fewest: 1 };
        let Some(plan) = plan_chunks(range, budget, rules, *sizing) else {
            return Err(CompactionError::budget(format!(
                "the range needs more than {MOST_CHUNKS} requests; compact earlier, or use a summary model with a \
                 larger window"
            )));
        };
        let form = Form::Printed(sizing.dialect);
        let mut edits = Vec::new();
        for &(message, target) in &plan.cut {
            let Some(cut) = range.get(message) else { continue };
            let changes = shorten(cut, Cut { form, target, marker: CHUNK_MARKER })?;
            edits.extend(changes.into_iter().map(|change| Edit { message, change }));
        }
        let changed = Some(apply(range, &edits));
        let requests = Shape::Chunks.requests(plan.ends.len(), true);
        Ok(Self { shape: Shape::Chunks, requests, reduced, changed, ends: plan.ends })
    }
}

/// Images never travel; what stands in their place is sized, planned and sent like any other text.
fn images(range: &[Message<'_>]) -> Vec<Edit> {
    let blocks = |message: &Message<'_>| -> Vec<u32> {
        let images = message.parts_of(Tag::Image).filter(|_| message.role() != Role::System);
        images.map(|part| part.address).collect()
    };
    let edit = |message, block| Edit { message, change: Change::Image { block } };
    let of_each = range.iter().enumerate().map(|(index, message)| (index, blocks(message)));
    of_each.flat_map(|(index, blocks)| blocks.into_iter().map(move |block| edit(index, block))).collect()
}

/// The guard's verdict on a form of the range.
fn exceeds(compaction: &Compaction, range: &[Message<'_>]) -> bool {
    let (history, prefix) = range.split_at_checked(compaction.history).unwrap_or((range, &[]));
    let dialect = compaction.sizing.dialect;
    let input = SummaryInput {
        history: range_extent(history, dialect).units(),
        prefix: range_extent(prefix, dialect).units(),
        previous: compaction.previous.encode_utf16().count(),
    };
    compaction.measure().exceeds(&input, compaction.limit)
}
