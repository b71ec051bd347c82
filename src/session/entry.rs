//! One line of a session file: what the tree needs of it, and its text.

use super::json::{Members, number, text};

/// What an entry does to the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A header.
    Session,
    Message,
    Compaction,
    BranchSummary,
    CustomMessage,
    ContextEdit,
    /// State of pi that the model never sees: a label, usage, a change of model.
    State,
    /// Of no type that this reader knows; it keeps its place in the tree.
    Unknown,
}

impl Kind {
    fn of(name: &[u8]) -> Self {
        match name {
            b"session" => Self::Session,
            b"message" => Self::Message,
            b"compaction" => Self::Compaction,
            b"branch_summary" => Self::BranchSummary,
            b"custom_message" => Self::CustomMessage,
            b"context_edit" => Self::ContextEdit,
            b"custom"
            | b"label"
            | b"session_info"
            | b"model_change"
            | b"thinking_level_change"
            | b"usage" => Self::State,
            _ => Self::Unknown,
        }
    }

    fn has_payload(self) -> bool {
        !matches!(self, Self::State | Self::Unknown)
    }
}

/// The content of an id, compared as JavaScript compares strings.
pub(super) type Id = Box<[u8]>;

/// An entry as it stands in the file.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Its line, from 1.
    pub(super) line: u64,
    pub(super) kind: Kind,
    pub(super) id: Option<Id>,
    /// The entry before it on its branch; an empty one counts as none, as in pi.
    pub(super) parent: Option<Id>,
    /// JSON text of the line; empty where nothing in it reaches the context.
    pub(super) text: Box<str>,
}

impl Entry {
    /// Reads a line's members.
    pub(super) fn new(line: u64, source: &str, members: &Members<'_>) -> Self {
        let id = |name| members.get(name).and_then(text).map(|content| Id::from(&*content));
        let kind = members.get("type").and_then(text).map_or(Kind::Unknown, |name| Kind::of(&name));
        Self {
            line,
            kind,
            id: id("id"),
            parent: id("parentId").filter(|parent| !parent.is_empty()),
            text: if kind.has_payload() { source.into() } else { Box::default() },
        }
    }

    /// The members of the line's object.
    pub(super) fn members(&self) -> Option<Members<'_>> {
        Members::parse(&self.text).ok()
    }

    /// The version that a header states: 1 where it states none.
    pub(super) fn version(&self) -> f64 {
        let members = self.members();
        members.and_then(|members| members.present("version").map(stated)).unwrap_or(1.0)
    }
}

/// A stated version as JavaScript compares it; what is no number is taken for the newest.
fn stated(version: &str) -> f64 {
    let quoted = || text(version).and_then(|content| std::str::from_utf8(&content).ok()?.trim().parse().ok());
    number(version).or_else(quoted).unwrap_or(f64::INFINITY)
}
