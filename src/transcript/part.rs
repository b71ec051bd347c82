//! Parts: what `js/gather.js` writes of a message. Two `u32` words a record, kind and length.
//!
//! A message begins with a [`Tag::Message`] record whose second word counts the words of the whole message;
//! the records of its parts follow in the order in which they stand in the message.

use super::store::Store;

/// The kind of a record. The numbers are the protocol with `js/gather.js`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Tag {
    /// Header of a message: role, stop reason, flags; the second word is the message's length in words.
    Message = 0,
    /// Text of a content block, or a message's string content.
    Text = 1,
    /// A thinking block.
    Thinking = 2,
    /// An image block; it has no text.
    Image = 3,
    /// A tool call; the length is that of its name.
    Call = 4,
    /// The name of one argument, as it stands.
    Key = 5,
    /// The same name as a JSON string, quotes and escapes included.
    QuotedKey = 6,
    /// A value printed as it stands: number, boolean, null, or the JSON text of a nested value.
    Literal = 7,
    /// A string value, as a JSON string.
    Quoted = 8,
    /// A value that has no JSON text.
    Unserializable = 9,
    /// The JSON text of all arguments, where the sum of the members would not give it.
    Arguments = 10,
    /// Id of the call, interned to a number (in the length word).
    CallId = 11,
    /// Id of the call that a tool result answers, interned likewise.
    ResultId = 12,
    /// The two units on either side of the tool result cap, for dialects that keep pairs whole.
    CapUnits = 13,
    /// Command line of a bash execution.
    Command = 14,
    /// Output of a bash execution.
    Output = 15,
    /// Exit code of a bash execution, where it is neither absent nor zero.
    ExitCode = 16,
    /// Where the full output of a bash execution was saved.
    OutputPath = 17,
    /// Summary of a branch or of a compaction.
    Summary = 18,
    /// A call that a script made, recorded on the script's result; its arguments follow. Neither printed nor counted.
    NestedCall = 19,
}

impl Tag {
    const ALL: [Self; 20] = [
        Self::Message,
        Self::Text,
        Self::Thinking,
        Self::Image,
        Self::Call,
        Self::Key,
        Self::QuotedKey,
        Self::Literal,
        Self::Quoted,
        Self::Unserializable,
        Self::Arguments,
        Self::CallId,
        Self::ResultId,
        Self::CapUnits,
        Self::Command,
        Self::Output,
        Self::ExitCode,
        Self::OutputPath,
        Self::Summary,
        Self::NestedCall,
    ];

    /// Whether a gathering with texts passes this record's string along.
    #[must_use]
    pub fn has_text(self) -> bool {
        !matches!(
            self,
            Self::Message
                | Self::Image
                | Self::QuotedKey
                | Self::Unserializable
                | Self::Arguments
                | Self::CallId
                | Self::ResultId
                | Self::CapUnits
        )
    }
}

/// Who wrote a message, as pi names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A role that pi does not know; it prints and counts nothing.
    Unknown,
    /// `user`
    User,
    /// `assistant`
    Assistant,
    /// `toolResult`
    ToolResult,
    /// `bashExecution`
    Bash,
    /// `custom`
    Custom,
    /// `branchSummary`
    BranchSummary,
    /// `compactionSummary`
    CompactionSummary,
    /// `system`
    System,
}

impl Role {
    fn from_code(code: u32) -> Self {
        match code {
            1 => Self::User,
            2 => Self::Assistant,
            3 => Self::ToolResult,
            4 => Self::Bash,
            5 => Self::Custom,
            6 => Self::BranchSummary,
            7 => Self::CompactionSummary,
            8 => Self::System,
            _ => Self::Unknown,
        }
    }
}

/// How an assistant message ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Any reason that leaves a usable message.
    Usable,
    /// `error`, `aborted` or `deferred`: not to be replayed (requirements C19 to C21).
    Broken,
    /// `toolUse`: the turn goes on.
    ToolUse,
}

/// One message: its header and the records of its parts.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    header: u32,
    /// Position of the first part's record in the whole stream, in words.
    pub start: usize,
    /// Records of the parts.
    words: &'a [u32],
    /// The header's record and those of the parts.
    records: &'a [u32],
    texts: Option<&'a Store>,
}

impl<'a> Message<'a> {
    const EXCLUDED: u32 = 1 << 16;
    const CANCELLED: u32 = 1 << 17;
    const TRUNCATED: u32 = 1 << 18;
    const ERROR: u32 = 1 << 19;
    const SHOWS_OUTPUT: u32 = 1 << 20;

    /// Its own record and those of its parts.
    #[must_use]
    pub fn records(&self) -> &'a [u32] {
        self.records
    }

    /// The first word of its record.
    #[must_use]
    pub fn header(&self) -> u32 {
        self.header
    }

    /// Who wrote it.
    #[must_use]
    pub fn role(&self) -> Role {
        Role::from_code((self.header >> 8) & 0xf)
    }

    /// How it ended.
    #[must_use]
    pub fn stop(&self) -> Stop {
        match (self.header >> 12) & 0xf {
            1 => Stop::Broken,
            2 => Stop::ToolUse,
            _ => Stop::Usable,
        }
    }

    /// A bash execution that the person kept out of the model's context.
    #[must_use]
    pub fn is_excluded(&self) -> bool {
        self.header & Self::EXCLUDED != 0
    }

    /// A bash execution that was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.header & Self::CANCELLED != 0
    }

    /// A bash execution whose output was truncated.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.header & Self::TRUNCATED != 0
    }

    /// A bash execution whose output is shown, be it empty.
    #[must_use]
    pub fn shows_output(&self) -> bool {
        self.header & Self::SHOWS_OUTPUT != 0
    }

    /// A tool result that reports a failure.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.header & Self::ERROR != 0
    }

    /// The message with its texts at hand.
    #[must_use]
    pub fn with_texts(self, texts: &'a Store) -> Self {
        Self { texts: Some(texts), ..self }
    }

    /// The text of one of its parts, as far as it was read; empty where texts were not gathered.
    #[must_use]
    pub fn text(&self, part: &Part) -> &'a [u16] {
        self.texts.map_or(&[], |texts| texts.text(part))
    }

    /// Its parts in order.
    pub fn parts(&self) -> impl Iterator<Item = Part> + use<'a> {
        let start = self.start;
        self.words
            .chunks_exact(2)
            .enumerate()
            .filter_map(move |(i, record)| Part::read(start + 2 * i, record))
    }

    /// Numbers of the calls that it makes and answers, each with [`Tag::CallId`] or [`Tag::ResultId`].
    pub fn numbers(&self) -> impl Iterator<Item = (Tag, u32)> + use<'a> {
        self.words.chunks_exact(2).filter_map(|record| {
            let &[word, number] = record else { return None };
            let tag = Part::tag_of(word).filter(|tag| matches!(tag, Tag::CallId | Tag::ResultId))?;
            Some((tag, number))
        })
    }

    /// The parts of one kind.
    pub fn parts_of(&self, tag: Tag) -> impl Iterator<Item = Part> + use<'a> {
        self.parts().filter(move |part| part.tag == tag)
    }
}

/// One record of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Its kind.
    pub tag: Tag,
    /// Whether it is part of the printed text, of the estimate, or of both.
    pub scope: Scope,
    /// Index of the content block, or of the argument within its call.
    pub address: u32,
    /// Its length in UTF-16 units (or the number that the tag documents).
    pub units: usize,
    /// Position of its record in the stream, in words.
    pub at: usize,
    /// The first word of its record.
    pub word: u32,
}

/// pi prints a value as text but counts its `length`; for a value that is no string the two differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Printed and counted.
    Both,
    /// Printed only.
    Shown,
    /// Counted only.
    Weighed,
}

impl Part {
    /// Address of a message's own string content.
    pub const WHOLE: u32 = 0xff_ffff;
    const SHOWN_ONLY: u32 = 1 << 6;
    const WEIGHED_ONLY: u32 = 1 << 7;

    fn read(at: usize, record: &[u32]) -> Option<Self> {
        let &[word, units] = record else { return None };
        let tag = Self::tag_of(word)?;
        let scope = match (word & Self::SHOWN_ONLY, word & Self::WEIGHED_ONLY) {
            (0, 0) => Scope::Both,
            (_, 0) => Scope::Shown,
            _ => Scope::Weighed,
        };
        Some(Self { tag, scope, address: word >> 8, units: units as usize, at, word })
    }

    /// The tag in the first word of a record.
    #[must_use]
    pub fn tag_of(word: u32) -> Option<Tag> {
        Tag::ALL.get((word & 0x1f) as usize).copied()
    }

    /// The first word of a record of a printed and counted part.
    #[must_use]
    pub fn word(tag: Tag, address: u32) -> u32 {
        tag as u32 | (address << 8)
    }

    /// Whether it is part of the printed text.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        self.scope != Scope::Weighed
    }

    /// Whether the raw estimate counts it.
    #[must_use]
    pub fn is_weighed(&self) -> bool {
        self.scope != Scope::Shown
    }
}

/// The messages of a record stream. A malformed stream ends it early; nothing panics.
pub fn messages(records: &[u32]) -> impl Iterator<Item = Message<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = records.get(at..)?;
        let &[header, words] = rest.first_chunk::<2>()?;
        let own = rest.get(..words as usize)?;
        let message = Message { header, start: at + 2, words: own.get(2..)?, records: own, texts: None };
        at += words as usize;
        Some(message)
    })
}

/// The record that follows the one at `at` and satisfies `wanted`, with its position in words.
#[must_use]
pub fn next_record(records: &[u32], at: usize, wanted: impl Fn(&Part) -> bool) -> Option<Part> {
    let rest = records.get(at..)?;
    rest.chunks_exact(2)
        .enumerate()
        .filter_map(|(i, record)| Part::read(at + 2 * i, record))
        .find(|part| wanted(part))
}
