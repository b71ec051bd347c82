//! The plan of a compaction: guard, one reduction, chunks (requirements A14, A43, C30, G13, G15).

use super::compaction::{Compaction, Method};
use crate::budget::guard::SummaryInput;
use crate::budget::refine_budgets::RefineWindow;
use crate::budget::window::PromptLimit;
use crate::error::{CompactionError, Result};
use crate::plan::apply::apply;
use crate::plan::chunks::{ChunkBudget, ChunkRules, MOST_CHUNKS, plan_chunks};
use crate::plan::edit::{CHUNK_MARKER, Change, Edit};
use crate::plan::reduce::reduce;
use crate::plan::shape::Shape;
use crate::plan::shorten::{Cut, Form, shorten};
use crate::plan::turns::Grain;
use crate::transcript::outline::Outline;
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
    /// How many messages are cut because no chunk holds them.
    pub cuts: usize,
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
        match &compaction.method {
            Method::Chain(limit) => Self::of_chain(compaction, *limit, range, changed),
            Method::Refine { window, .. } => Self::of_refine(compaction, window, range, changed),
        }
    }

    /// One request where the range fits, reduced where it must be; else chunks (requirements A14, A43).
    fn of_chain(
        compaction: &Compaction,
        limit: PromptLimit,
        range: &[Message<'_>],
        changed: Option<&Store>,
    ) -> Result<Self> {
        if !exceeds(compaction, limit, range) {
            return Ok(Self::whole(compaction, range.len(), changed.cloned()));
        }
        let thinned = reduce(range);
        if thinned.is_empty() {
            return Self::of_chunks(compaction, limit, range, changed);
        }
        let reduced = apply(range, &thinned);
        let range: Vec<Message<'_>> = reduced.messages().collect();
        if exceeds(compaction, limit, &range) {
            let plan = Self::of_chunks(compaction, limit, &range, Some(&reduced))?;
            return Ok(Self { reduced: true, ..plan });
        }
        let messages = range.len();
        Ok(Self { reduced: true, ..Self::whole(compaction, messages, Some(reduced)) })
    }

    fn whole(compaction: &Compaction, messages: usize, changed: Option<Store>) -> Self {
        let shape = if compaction.history < messages { Shape::SplitTurn } else { Shape::Single };
        let requests = shape.requests(1, compaction.history > 0);
        Self { shape, requests, reduced: false, changed, ends: vec![messages], cuts: 0 }
    }

    fn of_chunks(
        compaction: &Compaction,
        limit: PromptLimit,
        range: &[Message<'_>],
        changed: Option<&Store>,
    ) -> Result<Self> {
        let budget = ChunkBudget::of(limit.tokens, compaction.reserve(limit), &compaction.measure())?;
        let rules = ChunkRules { grain: Grain::Turn, most: MOST_CHUNKS, fewest: 1 };
        Self::packed(compaction, range, changed, (budget, rules))
    }

    /// As many chunks as it takes, at least as many as the summary model's windows go into the main model's
    /// (requirements D16, D36 to D44).
    fn of_refine(
        compaction: &Compaction,
        window: &RefineWindow,
        range: &[Message<'_>],
        changed: Option<&Store>,
    ) -> Result<Self> {
        let budgets = compaction.budgets(window);
        let fewest = usize::try_from(budgets.ratio).unwrap_or(usize::MAX);
        let rules = ChunkRules { grain: Grain::Turn, most: usize::MAX, fewest };
        let budget = ChunkBudget { tokens: budgets.chunk };
        let mut plan = Self::packed(compaction, range, changed, (budget, rules))?;
        if plan.ends.len() == 1 {
            plan.shape = Shape::Single;
        }
        Ok(plan)
    }

    fn packed(
        compaction: &Compaction,
        range: &[Message<'_>],
        changed: Option<&Store>,
        (budget, rules): (ChunkBudget, ChunkRules),
    ) -> Result<Self> {
        let sizing = compaction.sizing;
        let outline = Outline::of(range, sizing.dialect);
        let Some(plan) = plan_chunks(&outline, budget, rules, sizing.chars_per_token) else {
            return Err(CompactionError::budget(format!(
                "the range needs more than {MOST_CHUNKS} requests; compact earlier, or use a summary model with a \
                 larger window"
            )));
        };
        let form = Form::Printed(sizing.dialect);
        let mut edits = Vec::new();
        for &(message, target) in &plan.cut {
            let Some(cut) = range.get(message) else { continue };
            let cuts = shorten(cut, Cut { form, target, marker: CHUNK_MARKER })?;
            edits.extend(cuts.into_iter().map(|change| Edit { message, change }));
        }
        let changed = if edits.is_empty() { changed.cloned() } else { Some(apply(range, &edits)) };
        let requests = Shape::Chunks.requests(plan.ends.len(), true);
        Ok(Self {
            shape: Shape::Chunks,
            requests,
            reduced: false,
            changed,
            cuts: plan.cut.len(),
            ends: plan.ends,
        })
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
fn exceeds(compaction: &Compaction, limit: PromptLimit, range: &[Message<'_>]) -> bool {
    let (history, prefix) = range.split_at_checked(compaction.history).unwrap_or((range, &[]));
    let dialect = compaction.sizing.dialect;
    let input = SummaryInput {
        history: range_extent(history, dialect).units(),
        prefix: range_extent(prefix, dialect).units(),
        previous: compaction.previous.encode_utf16().count(),
    };
    compaction.measure().exceeds(&input, limit)
}
