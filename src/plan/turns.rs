//! Turns, calls with their results, and where a transcript may be cut between them.

use std::collections::HashMap;
use std::ops::Range;

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
    group_ends: Vec<usize>,
}

impl Joints {
    /// The joints of a range of messages.
    #[must_use]
    pub fn of(range: &[Message<'_>]) -> Self {
        let mut answered_by = vec![0; range.len()];
        for pair in pairs(range) {
            if let Some(end) = answered_by.get_mut(pair.start) {
                *end = pair.end.max(*end);
            }
        }
        let mut open_until = 0;
        let joint = |(i, (message, end)): (usize, (&Message<'_>, usize))| {
            let inside = i < open_until;
            open_until = end.max(open_until);
            match begins_turn(message.role()) {
                _ if inside => Grain::Message,
                true => Grain::Turn,
                false => Grain::Group,
            }
        };
        let before: Vec<Grain> = range.iter().zip(answered_by).enumerate().map(joint).collect();
        let mut end = before.len();
        let mut group_ends: Vec<usize> = Vec::with_capacity(end);
        for (i, joint) in before.iter().enumerate().rev() {
            group_ends.push(end);
            if *joint != Grain::Message {
                end = i;
            }
        }
        group_ends.reverse();
        Self { before, group_ends }
    }

    /// The index behind the call group of a message.
    #[must_use]
    pub fn group_end(&self, message: usize) -> usize {
        self.group_ends.get(message).copied().unwrap_or(message + 1)
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

/// From each call's message to the message behind its result. A result binds to the nearest earlier call of its
/// id; a call that has no result is no pair.
fn pairs(range: &[Message<'_>]) -> Vec<Range<usize>> {
    let mut latest: HashMap<usize, usize> = HashMap::new();
    let mut found = Vec::new();
    for (i, message) in range.iter().enumerate() {
        latest.extend(calls(message).map(|id| (id, i)));
        if let Some(&call) = answered(message).as_ref().and_then(|id| latest.get(id)) {
            found.push(call..i + 1);
        }
    }
    found
}
