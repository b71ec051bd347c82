//! Turns, calls with their results, and where a transcript may be cut between them.

use std::ops::Range;

use crate::transcript::outline::Link;
use crate::transcript::part::{Message, Role, Tag};

/// Whether a message begins a turn: what a person or the host says to the model.
#[must_use]
pub fn begins_turn(role: Role) -> bool {
    matches!(role, Role::User | Role::Bash | Role::Custom | Role::BranchSummary | Role::CompactionSummary)
}

/// Ids of the calls of a message, interned by the gatherer.
pub fn calls(message: &Message<'_>) -> impl Iterator<Item = usize> {
    message.parts_of(Tag::CallId).map(|part| part.units)
}

/// Id of the call that a tool result answers.
#[must_use]
pub fn answered(message: &Message<'_>) -> Option<usize> {
    message.parts_of(Tag::ResultId).next().map(|part| part.units)
}

/// How finely a range may be cut, from coarse to fine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grain {
    /// Between turns.
    Turn,
    /// Between calls with their results.
    Group,
    /// Between any two messages.
    Message,
}

impl Grain {
    /// The grains from this one to the finest.
    #[must_use]
    pub fn and_finer(self) -> &'static [Self] {
        match self {
            Self::Turn => &[Self::Turn, Self::Group, Self::Message],
            Self::Group => &[Self::Group, Self::Message],
            Self::Message => &[Self::Message],
        }
    }
}

/// The joints of a range: how fine a cut before each message is.
#[derive(Debug, Clone)]
pub struct Joints {
    before: Vec<Grain>,
    /// For each message the index behind its call group.
    group_ends: Vec<u32>,
}

impl Joints {
    /// The joints of a range of messages.
    #[must_use]
    pub fn of(links: &[Link]) -> Self {
        let ends = answered_until(links);
        let mut open_until = 0;
        let joint = |((i, link), end): ((u32, &Link), &u32)| {
            let inside = i < open_until;
            open_until = open_until.max(*end);
            match begins_turn(link.role) {
                _ if inside => Grain::Message,
                true => Grain::Turn,
                false => Grain::Group,
            }
        };
        let before: Vec<Grain> = (0..).zip(links).zip(&ends).map(joint).collect();
        let mut group_ends = ends;
        let mut end = before.len() as u32;
        for ((group_end, joint), i) in group_ends.iter_mut().zip(&before).rev().zip((0..end).rev()) {
            *group_end = end;
            if *joint != Grain::Message {
                end = i;
            }
        }
        Self { before, group_ends }
    }

    /// The index behind the call group of a message.
    #[must_use]
    pub fn group_end(&self, message: usize) -> usize {
        self.group_ends.get(message).map_or(message + 1, |end| *end as usize)
    }

    /// The pieces of `span` at a grain, in order.
    pub fn pieces(&self, span: Range<usize>, grain: Grain) -> impl Iterator<Item = Range<usize>> {
        let end = span.end;
        let mut start = span.start;
        std::iter::from_fn(move || {
            let from = start;
            (from < end).then(|| {
                start = (from + 1..end).find(|&i| self.allows(i, grain)).unwrap_or(end);
                from..start
            })
        })
    }

    fn allows(&self, before: usize, grain: Grain) -> bool {
        let joint = self.before.get(before).copied().unwrap_or(Grain::Turn);
        match grain {
            Grain::Turn => joint == Grain::Turn,
            Grain::Group => joint != Grain::Message,
            Grain::Message => true,
        }
    }
}

/// For each message the index behind the last result of its calls, 0 for none. A result whose call stands before the
/// range is no pair, and neither is a call without a result.
fn answered_until(links: &[Link]) -> Vec<u32> {
    let mut ends = vec![0; links.len()];
    for (i, link) in links.iter().enumerate().filter(|(_, link)| link.back > 0) {
        if let Some(end) = i.checked_sub(link.back as usize).and_then(|call| ends.get_mut(call)) {
            *end = i as u32 + 1;
        }
    }
    ends
}
