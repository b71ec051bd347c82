//! The retained tail: the newest provider-valid window of a range (ADR 0302; requirements C8 to C29).

use std::collections::{BTreeSet, HashMap};

use super::edit::{Change, Edit};
use super::shorten::{MIN_ARGUMENTS, level};
use super::turns::{answered, calls};
use crate::transcript::part::{Message, Role, Stop, Tag};
use crate::transcript::weigh::{Sizing, each_piece};

/// What the end of the window has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Retention {
    /// The plain window.
    #[default]
    Window,
    /// The message that began the newest turn stays ahead of a window that does not hold it.
    ActiveTurn,
    /// The window ends on a finished assistant message, so that it reads as history.
    CompletedTurn,
}

/// The tail by index, and what has to change in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TailPlan {
    /// Messages that stay, oldest first.
    pub kept: Vec<usize>,
    /// Calls that have no result in the window and are taken out.
    pub stripped: Vec<Edit>,
    /// Messages to be cut, with the units they may weigh.
    pub cut: Vec<(usize, usize)>,
}

/// Plans the tail of a range under `max_tokens`.
#[must_use]
pub fn plan_tail(range: &[Message<'_>], max_tokens: u64, retention: Retention, sizing: Sizing) -> TailPlan {
    let range = match retention {
        Retention::CompletedTurn => finished(range),
        Retention::Window | Retention::ActiveTurn => range,
    };
    let goal = match retention {
        Retention::ActiveTurn => range.iter().rposition(|m| m.role() == Role::User && is_replayable(m)),
        Retention::Window | Retention::CompletedTurn => None,
    };
    let plain = Window::newest(range, max_tokens, sizing);
    match goal.filter(|&goal| goal < plain.start) {
        None => plain.plan(range, max_tokens, sizing),
        Some(goal) => with_goal(range, goal, max_tokens, sizing),
    }
}

/// Every sound message of a list, for replay: what a window as large as the list holds.
#[must_use]
pub fn sound(range: &[Message<'_>], sizing: Sizing) -> TailPlan {
    Window::newest(range, u64::MAX, sizing).plan(range, u64::MAX, sizing)
}

/// The range up to its last finished assistant message; the whole range where there is none.
fn finished<'r, 'm>(range: &'r [Message<'m>]) -> &'r [Message<'m>] {
    let last = range.iter().rposition(|message| {
        message.role() == Role::Assistant
            && message.stop() == Stop::Usable
            && says_something(message)
            && message.parts_of(Tag::Call).next().is_none()
    });
    last.and_then(|last| range.get(..=last)).unwrap_or(range)
}

fn says_something(message: &Message<'_>) -> bool {
    message.parts_of(Tag::Text).any(|part| part.units > 0)
}

/// The goal takes at most half of the budget, the window the rest (requirements C23, C29).
fn with_goal(range: &[Message<'_>], goal: usize, max_tokens: u64, sizing: Sizing) -> TailPlan {
    let tokens = range.get(goal).map_or(0, |message| sizing.message_tokens(message));
    let share = tokens.min(max_tokens / 2);
    let rest = max_tokens - share;
    let mut plan = Window::newest(range, rest, sizing).plan(range, rest, sizing);
    plan.kept.insert(0, goal);
    if share < tokens {
        plan.cut.insert(0, (goal, sizing.chars_per_token.units(share).max(LEAST_UNITS)));
    }
    plan
}

/// Units that a cut message keeps at least (requirements C29).
const LEAST_UNITS: usize = 64;

/// Whether a message can stand in a request: pi would send it, and it is not the remains of a failure.
fn is_replayable(message: &Message<'_>) -> bool {
    match message.role() {
        Role::Unknown => false,
        Role::Bash => !message.is_excluded(),
        Role::Assistant => message.stop() != Stop::Broken && message.parts().next().is_some(),
        Role::ToolResult => true,
        _ => message.parts().next().is_some(),
    }
}

/// A message of the window, with the calls it loses.
#[derive(Debug, Clone)]
struct Kept {
    index: usize,
    tokens: u64,
    /// Blocks of calls that it loses.
    dropped: BTreeSet<u32>,
    /// For a result, the block of its call.
    answers: Option<u32>,
}

/// The messages from `start` to the end of the range that stand in a request together.
#[derive(Debug, Clone, Default)]
struct Window {
    start: usize,
    kept: Vec<Kept>,
    tokens: u64,
}

impl Window {
    /// The largest window within the budget; where not even the newest fits, that alone.
    fn newest(range: &[Message<'_>], max_tokens: u64, sizing: Sizing) -> Self {
        let mut window = Self { start: range.len(), ..Self::default() };
        // Results whose call has not come yet, by id, newest first: the walk goes from the newest message back.
        let mut awaiting: HashMap<usize, Vec<Kept>> = HashMap::new();
        for (index, message) in range.iter().enumerate().rev() {
            let joining = match (is_replayable(message), message.role(), answered(message)) {
                (false, ..) => Vec::new(),
                (true, Role::ToolResult, Some(id)) => {
                    awaiting.entry(id).or_default().push(Kept::whole(index, message, sizing));
                    Vec::new()
                }
                (true, Role::Assistant, _) => with_results(index, message, &mut awaiting, sizing),
                (true, ..) => vec![Kept::whole(index, message, sizing)],
            };
            let tokens = joining.iter().map(|kept| kept.tokens).sum::<u64>();
            if !window.kept.is_empty() && window.tokens + tokens > max_tokens {
                break;
            }
            window.tokens += tokens;
            window.kept.extend(joining);
            window.start = index;
        }
        window.kept.sort_by_key(|kept| kept.index);
        if window.tokens > max_tokens {
            window.thin(range, max_tokens, sizing);
        }
        window
    }

    /// Where even the smallest cuts of all messages would not fit, the oldest calls of the newest group go with
    /// their results, as few as possible; one pair stays.
    fn thin(&mut self, range: &[Message<'_>], max_tokens: u64, sizing: Sizing) {
        let blocks: Vec<u32> = self.kept.iter().filter_map(|kept| kept.answers).collect();
        let counts: Vec<usize> = (0..blocks.len().saturating_sub(1)).collect();
        let without = |count: usize| -> BTreeSet<u32> { blocks.iter().take(count).copied().collect() };
        let gone = without(
            counts.partition_point(|&count| self.least_without(&without(count), range, sizing) > max_tokens),
        );
        self.kept.retain(|kept| kept.answers.is_none_or(|block| !gone.contains(&block)));
        for kept in self.kept.iter_mut().filter(|kept| kept.answers.is_none()) {
            kept.dropped.extend(&gone);
            let message = range.get(kept.index).filter(|_| !kept.dropped.is_empty());
            kept.tokens =
                message.map_or(kept.tokens, |message| without_calls(message, &kept.dropped, sizing));
        }
        self.tokens = self.kept.iter().map(|kept| kept.tokens).sum();
    }

    /// Tokens of the messages without some calls and their results, each cut as far as it may be.
    fn least_without(&self, gone: &BTreeSet<u32>, range: &[Message<'_>], sizing: Sizing) -> u64 {
        let stays = self.kept.iter().filter(|kept| kept.answers.is_none_or(|block| !gone.contains(&block)));
        stays.filter_map(|kept| range.get(kept.index).map(|message| kept.least(message, gone, sizing))).sum()
    }

    fn plan(self, range: &[Message<'_>], max_tokens: u64, sizing: Sizing) -> TailPlan {
        let cut = if self.tokens > max_tokens { self.cuts(range, max_tokens, sizing) } else { Vec::new() };
        let mut plan = TailPlan { cut, ..TailPlan::default() };
        for kept in self.kept {
            plan.kept.push(kept.index);
            let drop = |block| Edit { message: kept.index, change: Change::Drop { block } };
            plan.stripped.extend(kept.dropped.iter().map(|&block| drop(block)));
        }
        plan
    }

    /// The units that each message too large for its share may weigh. A message with calls gets what its calls
    /// need at least; the others share the rest.
    fn cuts(&self, range: &[Message<'_>], max_tokens: u64, sizing: Sizing) -> Vec<(usize, usize)> {
        let least = |kept: &Kept| {
            range.get(kept.index).map_or(0, |message| kept.least(message, &BTreeSet::new(), sizing))
        };
        let weights: Vec<u64> = self.kept.iter().map(|kept| kept.tokens).collect();
        let even = level(&weights, max_tokens);
        let (wide, shared): (Vec<&Kept>, Vec<&Kept>) = self.kept.iter().partition(|kept| least(kept) > even);
        let weights: Vec<u64> = shared.iter().map(|kept| kept.tokens).collect();
        let share = level(&weights, max_tokens.saturating_sub(wide.iter().map(|kept| least(kept)).sum()));
        let target = |kept: &Kept| if least(kept) > even { least(kept) } else { share };
        let cut = self.kept.iter().filter(|kept| kept.tokens > target(kept));
        cut.map(|kept| (kept.index, sizing.chars_per_token.units(target(kept)).max(LEAST_UNITS))).collect()
    }
}

impl Kept {
    fn whole(index: usize, message: &Message<'_>, sizing: Sizing) -> Self {
        Self { index, tokens: sizing.message_tokens(message), dropped: BTreeSet::new(), answers: None }
    }

    /// Tokens of the message when it is cut as far as it may be.
    fn least(&self, message: &Message<'_>, gone: &BTreeSet<u32>, sizing: Sizing) -> u64 {
        let mut units = 0;
        each_piece(message, |piece| {
            units += match piece.name {
                Some(_) if self.dropped.contains(&piece.block) || gone.contains(&piece.block) => 0,
                Some(name) => piece.units.min(name + MIN_ARGUMENTS),
                None => 0,
            }
        });
        let tokens = |units| sizing.chars_per_token.tokens(units);
        self.tokens.min(tokens(units + LEAST_UNITS))
    }
}

/// Tokens of an assistant message without the calls of the given blocks.
fn without_calls(message: &Message<'_>, dropped: &BTreeSet<u32>, sizing: Sizing) -> u64 {
    let mut units = 0;
    each_piece(message, |piece| {
        units += if piece.name.is_some() && dropped.contains(&piece.block) { 0 } else { piece.units };
    });
    sizing.chars_per_token.tokens(units)
}

/// An assistant message with the results of its calls. Calls without a result go; nothing is left of a message
/// that held only such calls. A second result of one call is nobody's.
fn with_results(
    index: usize,
    message: &Message<'_>,
    awaiting: &mut HashMap<usize, Vec<Kept>>,
    sizing: Sizing,
) -> Vec<Kept> {
    let mut blocks: Vec<u32> = message.parts_of(Tag::Call).map(|part| part.address).collect();
    blocks.dedup();
    let ids: Vec<usize> = calls(message).collect();
    let mut joining = Vec::new();
    let mut dropped = BTreeSet::new();
    for (&id, &block) in ids.iter().zip(&blocks) {
        // Pushed newest first, so that the oldest is popped for the first call.
        match awaiting.get_mut(&id).and_then(Vec::pop) {
            Some(result) => joining.push(Kept { answers: Some(block), ..result }),
            None => drop(dropped.insert(block)),
        }
    }
    for id in ids {
        awaiting.remove(&id);
    }
    if dropped.len() < blocks.len() || says_something(message) {
        let tokens = without_calls(message, &dropped, sizing);
        joining.push(Kept { index, tokens, dropped, answers: None });
    }
    joining
}
