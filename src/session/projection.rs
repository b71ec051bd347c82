//! A branch as the messages that pi would send (pi 1.6's `buildSessionProjection`).

use std::collections::HashMap;

use super::entry::{Body, Entry, Id, Kind};
use super::tree::Branch;

/// What an entry puts into the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// The message of its line.
    Message,
    /// The message of its line with the content of the entry with this index in place of its own.
    Edited(u32),
    /// The system message that a compaction carries: prompt and tools as they were then.
    PromptState,
    /// The summary of a compaction.
    Summary,
}

/// One message of the context, or none where its line turns out to hold none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Item {
    /// Index of its entry in the file.
    pub entry: u32,
    /// What of it.
    pub shows: Shows,
}

/// The context of a branch.
#[derive(Debug, Default)]
pub struct Projection {
    /// In order.
    pub items: Vec<Item>,
    /// Items at the start whose usage reports speak of another context: from before the latest compaction or edit.
    pub stale: usize,
    /// The latest compaction, unless an edit took it out.
    pub compaction: Option<u32>,
    /// Whether the branch ends in a compaction.
    pub ends_in_compaction: bool,
}

impl Projection {
    /// The projection of a branch.
    #[must_use]
    pub fn of(branch: &Branch<'_>) -> Self {
        let place = branch.compaction();
        let edits = edits(branch, place);
        let edit_of = |at: u32| branch.entry(at).and_then(|entry| edits.get(&entry.id?)).copied();
        let omitted = |at: u32| edit_of(at).is_some_and(|edit| branch.facts(edit).omits);
        let compaction = place.and_then(|place| branch.path.get(place).copied()).filter(|&at| !omitted(at));
        let mut projection = Self { compaction, ..Self::default() };
        if let Some(entry) = compaction {
            let item = |shows| Item { entry, shows };
            projection.items.extend(branch.facts(entry).is_system.then(|| item(Shows::PromptState)));
            projection.items.push(item(Shows::Summary));
        }
        let boundary = |at: u32| branch.is(at, Kind::Compaction) || branch.is(at, Kind::ContextEdit);
        let last = branch.path.iter().rposition(|&at| boundary(at));
        projection.stale = projection.items.len();
        for (place, at) in context(branch, place) {
            let visible = branch.entry(at).is_some_and(shows_message) && !omitted(at);
            let shows = edit_of(at).map_or(Shows::Message, Shows::Edited);
            projection.items.extend(visible.then_some(Item { entry: at, shows }));
            if Some(place) <= last {
                projection.stale = projection.items.len();
            }
        }
        projection.ends_in_compaction = branch.path.last().is_some_and(|&at| branch.is(at, Kind::Compaction));
        projection
    }
}

fn shows_message(entry: &Entry) -> bool {
    let kinds = [Kind::Message, Kind::CustomMessage, Kind::BranchSummary];
    kinds.contains(&entry.kind) && entry.body != Body::None
}

/// What stays of a branch with a compaction: entries from the first kept one, then all after the compaction, with
/// their places on the path. System messages do not stay; the compaction carries their sum.
fn context<'b>(branch: &'b Branch<'_>, compaction: Option<usize>) -> impl Iterator<Item = (usize, u32)> + 'b {
    let kept = compaction.map(|at| {
        let first = branch.path.get(at).and_then(|&entry| branch.first_kept(entry)).unwrap_or(at);
        (first, at)
    });
    let is_system = |entry: u32| branch.is(entry, Kind::Message) && branch.facts(entry).is_system;
    let stays = move |&(place, entry): &(usize, u32)| {
        kept.is_none_or(|(first, at)| place > at || (place >= first && place < at && !is_system(entry)))
    };
    branch.path.iter().copied().enumerate().filter(stays)
}

/// The latest edit of each entry.
fn edits(branch: &Branch<'_>, compaction: Option<usize>) -> HashMap<Id, u32> {
    if branch.linear {
        return HashMap::new();
    }
    let edits = context(branch, compaction).filter(|(_, at)| branch.is(*at, Kind::ContextEdit));
    edits.filter_map(|(_, at)| Some((branch.facts(at).target?, at))).collect()
}
