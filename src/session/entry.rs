//! One line of a session file: its place, its links, and what a projection has to know of it.

use std::hash::{DefaultHasher, Hasher};
use std::num::NonZeroU64;

use super::json::{Members, number, text};
use crate::transcript::part::Role;
use crate::transcript::serialize::{Dialect, Size};

/// What an entry does to the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A header.
    Session,
    /// A message.
    Message,
    /// A checkpoint.
    Compaction,
    /// The summary of a branch that was left.
    BranchSummary,
    /// A message of an extension.
    CustomMessage,
    /// Other content for an earlier entry, or none.
    ContextEdit,
    /// State of pi that the model never sees: a label, usage, a change of model.
    State,
    /// Of no type that this reader knows; it keeps its place in the tree.
    Unknown,
}

impl Kind {
    /// The kind of an entry by the content of its type.
    #[must_use]
    pub fn of(name: &[u8]) -> Self {
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

    /// The role of the message that an entry of this kind is by itself.
    #[must_use]
    pub fn role(self) -> Option<Role> {
        match self {
            Self::CustomMessage => Some(Role::Custom),
            Self::BranchSummary => Some(Role::BranchSummary),
            Self::Compaction => Some(Role::CompactionSummary),
            _ => None,
        }
    }
}

/// An id, as a number that stands for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Id(NonZeroU64);

impl Id {
    /// The number of an id's content: the same for the same content, in this process and any other.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(content);
        Self(NonZeroU64::new(hasher.finish()).unwrap_or(NonZeroU64::MAX))
    }

    /// The number of a value that is no string, by its JSON.
    #[must_use]
    pub fn of_value(written: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(written.as_bytes());
        // In no string's UTF-8.
        hasher.write_u8(0xff);
        Self(NonZeroU64::new(hasher.finish()).unwrap_or(NonZeroU64::MAX))
    }

    /// Its place in a hash table: it is a hash by itself.
    #[must_use]
    pub fn hash(self) -> u64 {
        self.0.get()
    }

    /// The same of a string of JavaScript: a lone surrogate stands as its own three bytes, as in [`text`].
    #[must_use]
    pub fn of_string(id: &[u16]) -> Self {
        let mut content = Vec::with_capacity(id.len());
        for unit in char::decode_utf16(id.iter().copied()) {
            match unit {
                Ok(character) => {
                    let mut bytes = [0; 4];
                    content.extend_from_slice(character.encode_utf8(&mut bytes).as_bytes());
                }
                Err(lone) => {
                    let unit = lone.unpaired_surrogate();
                    let [high, low] = [(unit >> 6) as u8 & 0x3f, unit as u8 & 0x3f];
                    content.extend([0xed, 0x80 | high, 0x80 | low]);
                }
            }
        }
        Self::of(&content)
    }
}

/// Whether the message of an entry is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// It has none, or none that is built of its line alone.
    None,
    /// Its records are gathered.
    Gathered,
    /// It has to be built in another way.
    Odd,
}

/// An entry as it stands in the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// Where its line begins, in bytes.
    pub offset: u64,
    /// Bytes of its line.
    pub length: u32,
    /// Its line, from 1.
    pub line: u32,
    /// Its id.
    pub id: Option<Id>,
    /// The entry before it on its branch; an empty id counts as none, as in pi.
    pub parent: Option<Id>,
    /// What it does to the context.
    pub kind: Kind,
    /// Whether its message is known.
    pub body: Body,
    /// Where its message's record begins, where that is gathered.
    pub words: u32,
    /// The printed sizes of that message, by dialect.
    pub sizes: [Size; Dialect::ALL.len()],
    /// The context's size that its message reports, in tokens; `NaN` for none.
    pub reported: f64,
}

/// What a projection has to know of entries that are not plain messages.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Facts {
    /// Of a header: the version that it states.
    pub version: f64,
    /// Of a compaction: the first entry that it keeps, by id.
    pub first_kept: Option<Id>,
    /// And in version 1, by line.
    pub first_kept_line: Option<f64>,
    /// Of a compaction: whether it carries a system message. Of a message: whether it is one.
    pub is_system: bool,
    /// Of an edit: the entry whose content it replaces.
    pub target: Option<Id>,
    /// Of an edit: whether it takes the entry out.
    pub omits: bool,
}

impl Facts {
    /// The facts of an entry by its members.
    #[must_use]
    pub fn of(kind: Kind, members: &Members<'_>) -> Self {
        let id = |name| members.get(name).and_then(text).map(|content| Id::of(&content));
        let object = |name| members.get(name).filter(|value| value.starts_with('{'));
        let is_system = match kind {
            Kind::Message => object("message")
                .and_then(|message| Members::parse(message).ok())
                .is_some_and(|message| message.is("role", "system")),
            _ => object("systemMessage").is_some(),
        };
        Self {
            version: members.present("version").map_or(1.0, stated),
            first_kept: id("firstKeptEntryId"),
            first_kept_line: members.get("firstKeptEntryIndex").and_then(number),
            is_system,
            target: id("targetId"),
            omits: members.get("replacement") == Some("null"),
        }
    }
}

/// A stated version as JavaScript compares it; what is no number is taken for the newest.
fn stated(version: &str) -> f64 {
    let quoted = || text(version).and_then(|content| std::str::from_utf8(&content).ok()?.trim().parse().ok());
    number(version).or_else(quoted).unwrap_or(f64::INFINITY)
}
