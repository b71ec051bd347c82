//! The one walk: from parts to the conversation text that a summary request holds.
//!
//! Equal to pi's `convertToLlm` followed by `serializeConversation`, unit for unit, in the given dialect
//! (requirements A35, A36). Generic over where a text lives and over what is wanted: a length or text.

use std::ops::Range;

use super::part::{Message, Part, Role, Tag, messages};
use super::quote::write_quoted;
use super::store::{Lengths, Source, Stored, Text};
use super::units::escape::ROOM;
use super::units::splits_pair;

/// The text form that one generation of pi sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// pi-agent-core 0.87.1: thinking is included, tool results are cut plainly.
    #[default]
    Pi087,
    /// pi-coding-agent 1.6.0: thinking is omitted, the cut never splits a surrogate pair.
    Pi16,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 2] = [Self::Pi087, Self::Pi16];
    /// Shown units of a tool result before it is cut (requirements A36).
    pub const TOOL_RESULT_CAP: usize = 2_000;

    /// Where the dialect's cut depends on what stands there; such units must be gathered.
    #[must_use]
    pub fn probed_cap(self) -> Option<usize> {
        match self {
            Self::Pi087 => None,
            Self::Pi16 => Some(Self::TOOL_RESULT_CAP),
        }
    }

    fn shows_thinking(self) -> bool {
        self == Self::Pi087
    }
}

/// What becomes of the pieces of the walk.
pub trait Sink<T> {
    /// A new part of the conversation begins with this label; parts are joined by a blank line.
    fn part(&mut self, label: &'static str);
    /// Text of the form itself.
    fn fixed(&mut self, text: &'static str);
    /// Text of the transcript.
    fn text(&mut self, text: T);
    /// Text of the transcript as a JSON string of `length` units.
    fn quoted(&mut self, text: T, length: usize);
    /// A count.
    fn number(&mut self, number: usize);
}

/// Size of serialized messages: sizes add up, so that a message is measured once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    units: usize,
    parts: usize,
}

impl Extent {
    const JOINT: usize = 2;

    /// UTF-16 units of the text, joints included.
    #[must_use]
    pub fn units(self) -> usize {
        self.units + Self::JOINT * self.parts.saturating_sub(1)
    }

    /// The extent of what follows `start`, a beginning of this text.
    #[must_use]
    pub fn without(self, start: Self) -> Self {
        Self { units: self.units - start.units, parts: self.parts - start.parts }
    }

    /// The extent of a span of messages, by the sums of what stands before each and of everything.
    #[must_use]
    pub fn of_span(before: &[Self], span: Range<usize>) -> Self {
        let until = |at: usize| before.get(at).copied().unwrap_or_default();
        until(span.end).without(until(span.start))
    }

    /// The extent of both texts, one after the other.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { units: self.units + other.units, parts: self.parts + other.parts }
    }
}

/// The extent of a message that is a line of a file, and so has no more units than fit in half the room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    units: u32,
    parts: u32,
}

impl Size {
    /// Those of a message, by dialect.
    #[must_use]
    pub fn of(message: &Message<'_>) -> [Self; Dialect::ALL.len()] {
        Dialect::ALL.map(|dialect| {
            let extent = message_extent(message, dialect);
            Self { units: extent.units as u32, parts: extent.parts as u32 }
        })
    }
}

impl From<Size> for Extent {
    fn from(Size { units, parts }: Size) -> Self {
        Self { units: units as usize, parts: parts as usize }
    }
}

impl<T: Text> Sink<T> for Extent {
    fn part(&mut self, label: &'static str) {
        self.parts += 1;
        self.units += label.len();
    }
    fn fixed(&mut self, text: &'static str) {
        self.units += text.len();
    }
    fn text(&mut self, text: T) {
        self.units += text.units();
    }
    fn quoted(&mut self, _text: T, length: usize) {
        self.units += length;
    }
    fn number(&mut self, number: usize) {
        self.units += number.checked_ilog10().unwrap_or(0) as usize + 1;
    }
}

/// The extent of all messages of a stream whose quoted records are measured.
#[must_use]
pub fn extent(records: &[u32], dialect: Dialect) -> Extent {
    let mut extent = Extent::default();
    for message in messages(records) {
        serialize_message(&message, &Lengths, dialect, &mut extent);
    }
    extent
}

/// The extent of a range of messages.
#[must_use]
pub fn range_extent(range: &[Message<'_>], dialect: Dialect) -> Extent {
    range.iter().fold(Extent::default(), |sum, message| sum.and(message_extent(message, dialect)))
}

/// The extent of one message.
#[must_use]
pub fn message_extent(message: &Message<'_>, dialect: Dialect) -> Extent {
    let mut extent = Extent::default();
    serialize_message(message, &Lengths, dialect, &mut extent);
    extent
}

/// Walks one message into the sink.
pub fn serialize_message<'a, S: Source<'a>, K: Sink<S::Text>>(
    message: &Message<'a>,
    source: &S,
    dialect: Dialect,
    sink: &mut K,
) {
    match message.role() {
        Role::User | Role::Custom => user(message, source, sink),
        Role::Assistant => assistant(message, source, dialect, sink),
        Role::ToolResult => tool_result(message, source, dialect, sink),
        Role::Bash if !message.is_excluded() => bash(message, source, sink),
        Role::BranchSummary => summary(message, source, &BRANCH, sink),
        Role::CompactionSummary => summary(message, source, &COMPACTION, sink),
        Role::Bash | Role::System | Role::Unknown => {}
    }
}

/// What pi prints for a value without JSON text.
pub const UNSERIALIZABLE: &str = "[unserializable]";

const USER: &str = "[User]: ";

fn shown(message: &Message<'_>, tag: Tag) -> impl Iterator<Item = Part> {
    message.parts_of(tag).filter(Part::is_shown)
}

fn user<'a, S: Source<'a>, K: Sink<S::Text>>(message: &Message<'a>, source: &S, sink: &mut K) {
    if shown(message, Tag::Text).all(|part| part.units == 0) {
        return;
    }
    sink.part(USER);
    shown(message, Tag::Text).for_each(|part| sink.text(source.text(message, &part)));
}

fn assistant<'a, S: Source<'a>, K: Sink<S::Text>>(
    message: &Message<'a>,
    source: &S,
    dialect: Dialect,
    sink: &mut K,
) {
    if dialect.shows_thinking() {
        lines(message, source, Tag::Thinking, "[Assistant thinking]: ", sink);
    }
    lines(message, source, Tag::Text, "[Assistant]: ", sink);
    calls(message, source, sink);
}

/// All parts of one kind under one label, a line each; nothing where there is none.
fn lines<'a, S: Source<'a>, K: Sink<S::Text>>(
    message: &Message<'a>,
    source: &S,
    tag: Tag,
    label: &'static str,
    sink: &mut K,
) {
    for (i, part) in shown(message, tag).enumerate() {
        if i == 0 {
            sink.part(label);
        } else {
            sink.fixed("\n");
        }
        sink.text(source.text(message, &part));
    }
}

fn calls<'a, S: Source<'a>, K: Sink<S::Text>>(message: &Message<'a>, source: &S, sink: &mut K) {
    let (mut calls, mut arguments) = (0, 0);
    for part in message.parts().filter(Part::is_shown) {
        match part.tag {
            Tag::Call => {
                match calls {
                    0 => sink.part("[Assistant tool calls]: "),
                    _ => sink.fixed("); "),
                }
                calls += 1;
                arguments = 0;
                sink.text(source.text(message, &part));
                sink.fixed("(");
            }
            Tag::Key => {
                if arguments > 0 {
                    sink.fixed(", ");
                }
                arguments += 1;
                sink.text(source.text(message, &part));
                sink.fixed("=");
            }
            Tag::Literal => sink.text(source.text(message, &part)),
            Tag::Quoted => sink.quoted(source.text(message, &part), part.units),
            Tag::Unserializable => sink.fixed(UNSERIALIZABLE),
            _ => {}
        }
    }
    if calls > 0 {
        sink.fixed(")");
    }
}

fn tool_result<'a, S: Source<'a>, K: Sink<S::Text>>(
    message: &Message<'a>,
    source: &S,
    dialect: Dialect,
    sink: &mut K,
) {
    let total: usize = shown(message, Tag::Text).map(|part| part.units).sum();
    if total == 0 {
        return;
    }
    sink.part("[Tool result]: ");
    let is_cut = total > Dialect::TOOL_RESULT_CAP;
    let mut left = if is_cut { kept_units(message, source, dialect) } else { total };
    for part in shown(message, Tag::Text) {
        let kept = part.units.min(left);
        sink.text(source.text(message, &part).prefix(kept));
        left -= kept;
    }
    if is_cut {
        sink.fixed("\n\n[... ");
        sink.number(total - Dialect::TOOL_RESULT_CAP);
        sink.fixed(" more characters truncated]");
    }
}

fn kept_units<'a, S: Source<'a>>(message: &Message<'a>, source: &S, dialect: Dialect) -> usize {
    let cap = Dialect::TOOL_RESULT_CAP;
    let around = dialect.probed_cap().and_then(|cap| source.around(message, cap));
    match around {
        Some((before, after)) if splits_pair(before, after) => cap - 1,
        _ => cap,
    }
}

fn bash<'a, S: Source<'a>, K: Sink<S::Text>>(message: &Message<'a>, source: &S, sink: &mut K) {
    sink.part(USER);
    sink.fixed("Ran `");
    shown(message, Tag::Command).for_each(|part| sink.text(source.text(message, &part)));
    sink.fixed("`\n");
    match shown(message, Tag::Output).find(|_| message.shows_output()) {
        Some(output) => {
            sink.fixed("```\n");
            sink.text(source.text(message, &output));
            sink.fixed("\n```");
        }
        None => sink.fixed("(no output)"),
    }
    if message.is_cancelled() {
        sink.fixed("\n\n(command cancelled)");
    } else if let Some(code) = message.parts_of(Tag::ExitCode).next() {
        sink.fixed("\n\nCommand exited with code ");
        sink.text(source.text(message, &code));
    }
    if let Some(path) = message.parts_of(Tag::OutputPath).next()
        && message.is_truncated()
    {
        sink.fixed("\n\n[Output truncated. Full output: ");
        sink.text(source.text(message, &path));
        sink.fixed("]");
    }
}

/// The words that pi puts around a summary.
struct Frame {
    before: &'static str,
    after: &'static str,
}

const BRANCH: Frame = Frame {
    before: "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n",
    after: "</summary>",
};
const COMPACTION: Frame = Frame {
    before: "The conversation history before this point was compacted into the following summary:\n\n<summary>\n",
    after: "\n</summary>",
};

fn summary<'a, S: Source<'a>, K: Sink<S::Text>>(
    message: &Message<'a>,
    source: &S,
    frame: &Frame,
    sink: &mut K,
) {
    sink.part(USER);
    sink.fixed(frame.before);
    shown(message, Tag::Summary).for_each(|part| sink.text(source.text(message, &part)));
    sink.fixed(frame.after);
}

/// The conversation as UTF-16 text.
#[must_use]
pub fn conversation(range: &[Message<'_>], dialect: Dialect) -> Vec<u16> {
    let mut text = Vec::with_capacity(range_extent(range, dialect).units() + ROOM);
    write_conversation(range, dialect, &mut text);
    text
}

/// Appends the conversation.
pub fn write_conversation(range: &[Message<'_>], dialect: Dialect, text: &mut Vec<u16>) {
    let mut sink = Utf16 { text, begun: false };
    for message in range {
        serialize_message(message, &Stored, dialect, &mut sink);
    }
}

struct Utf16<'t> {
    text: &'t mut Vec<u16>,
    begun: bool,
}

impl Sink<&[u16]> for Utf16<'_> {
    fn part(&mut self, label: &'static str) {
        if std::mem::replace(&mut self.begun, true) {
            self.text.extend([0x0a, 0x0a]);
        }
        self.fixed(label);
    }
    fn fixed(&mut self, text: &'static str) {
        // The form's own words are ASCII.
        self.text.extend(text.bytes().map(u16::from));
    }
    fn text(&mut self, text: &[u16]) {
        self.text.extend_from_slice(text);
    }
    fn quoted(&mut self, text: &[u16], _length: usize) {
        write_quoted(text, self.text);
    }
    fn number(&mut self, number: usize) {
        self.text.extend(number.to_string().encode_utf16());
    }
}
