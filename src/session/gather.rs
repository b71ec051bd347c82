//! How pi's messages are built, where they are lines of a file: the records that `js/gather.js` would write of them.

use super::cursor::{Cursor, Names, Text, Value};
use crate::tokens::estimate::ReportedUsage;
use crate::transcript::part::{Part, Role, Tag};

/// Where the parts of a message go.
pub trait Parts<'t> {
    /// A part with a text of its own.
    fn text(&mut self, word: u32, units: u32, text: Text<'t>);
    /// The JSON of a value that is no string, between two places.
    fn json(&mut self, word: u32, units: u32, start: u32, end: u32);
    /// A part that is a number.
    fn number(&mut self, word: u32, number: u32);
    /// The number of a call's id.
    fn id(&mut self, id: &[u8]) -> u32;
}

/// The first word of a message's record, but for how it ended.
const ERROR: u32 = 1 << 19;
const BROKEN: u32 = 1 << 12;
const TOOL_USE: u32 = 2 << 12;

/// What a message is besides its parts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Head {
    /// The first word of its record.
    pub word: u32,
    /// The context's size that it reports, in tokens.
    pub reported: Option<f64>,
}

/// Reads a message: an object whose role comes first. `None` for a shape that is read in another way.
pub fn message<'t>(cursor: &mut Cursor<'t>, parts: &mut impl Parts<'t>) -> Option<Head> {
    let mut role = Role::Unknown;
    let mut later = Later::default();
    let mut names = Names::default();
    cursor.object(|cursor, name| {
        names.add(cursor, name)?;
        let name = cursor.content(name);
        if role == Role::Unknown {
            role = role_of(name, cursor)?;
            return Some(());
        }
        member(role, name, cursor, &mut later, parts)
    })?;
    match role {
        Role::Bash => later.bash.write(cursor, parts)?,
        Role::BranchSummary | Role::CompactionSummary if !later.is_summarized => return None,
        Role::ToolResult => {
            let number = parts.id(cursor.content(later.id?));
            parts.number(Part::word(Tag::ResultId, 0), number);
        }
        _ => {}
    }
    let word = ((role as u32) << 8) | later.flags | later.bash.flags;
    Some(Head { word, reported: later.reported() })
}

fn member<'t>(
    role: Role,
    name: &[u8],
    cursor: &mut Cursor<'t>,
    later: &mut Later<'t>,
    parts: &mut impl Parts<'t>,
) -> Option<()> {
    match (role, name) {
        (Role::Bash, _) => return later.bash.member(name, cursor),
        (Role::BranchSummary | Role::CompactionSummary, b"summary") => {
            summary(cursor, parts)?;
            later.is_summarized = true;
        }
        (Role::BranchSummary | Role::CompactionSummary, _) => cursor.skip()?,
        (_, b"content") => return content(cursor, role, parts),
        (Role::Assistant, b"stopReason") => return later.stop(cursor),
        (Role::Assistant, b"usage") => return later.usage(cursor),
        (Role::ToolResult, b"toolCallId") => later.id = Some(cursor.plain_string()?),
        (Role::ToolResult, b"isError") => return later.error(cursor),
        // Calls that a script made are rare, and shaped like no other.
        (Role::ToolResult, b"nestedCalls") => return None,
        _ => cursor.skip()?,
    }
    Some(())
}

/// What follows the content and belongs before it.
#[derive(Default)]
struct Later<'t> {
    flags: u32,
    stop: Option<&'t str>,
    usage: Option<ReportedUsage>,
    id: Option<Text<'t>>,
    is_summarized: bool,
    bash: Bash<'t>,
}

impl<'t> Later<'t> {
    fn stop(&mut self, cursor: &mut Cursor<'t>) -> Option<()> {
        let reason = match cursor.value()? {
            Value::Text(reason) => cursor.content(reason),
            Value::Other { start, end } => cursor.bytes(start, end),
        };
        self.flags |= match reason {
            b"error" | b"aborted" | b"deferred" => BROKEN,
            b"toolUse" => TOOL_USE,
            _ => 0,
        };
        self.stop = Some(std::str::from_utf8(reason).ok()?);
        Some(())
    }

    fn error(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        let Value::Other { start, end } = cursor.value()? else { return None };
        match cursor.bytes(start, end) {
            b"true" => self.flags |= ERROR,
            b"false" | b"null" => {}
            _ => return None,
        }
        Some(())
    }

    fn usage(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        if cursor.peek() != b'{' {
            // No object reports nothing, whatever else it is.
            return cursor.skip();
        }
        let none = f64::NAN;
        let mut usage =
            ReportedUsage { total: none, input: none, output: none, cache_read: none, cache_write: none };
        let mut names = Names::default();
        cursor.object(|cursor, name| {
            names.add(cursor, name)?;
            let name = cursor.content(name);
            let number = match name {
                b"totalTokens" => &mut usage.total,
                b"input" => &mut usage.input,
                b"output" => &mut usage.output,
                b"cacheRead" => &mut usage.cache_read,
                b"cacheWrite" => &mut usage.cache_write,
                _ => return cursor.skip(),
            };
            *number = cursor.number()?;
            Some(())
        })?;
        self.usage = Some(usage);
        Some(())
    }

    fn reported(&self) -> Option<f64> {
        self.usage?.context_tokens(self.stop.unwrap_or("undefined"))
    }
}

fn role_of(name: &[u8], cursor: &mut Cursor<'_>) -> Option<Role> {
    let role = (name == b"role").then(|| cursor.string()).flatten()?;
    match cursor.content(role) {
        b"user" => Some(Role::User),
        b"assistant" => Some(Role::Assistant),
        b"toolResult" => Some(Role::ToolResult),
        b"bashExecution" => Some(Role::Bash),
        b"custom" => Some(Role::Custom),
        b"branchSummary" => Some(Role::BranchSummary),
        b"compactionSummary" => Some(Role::CompactionSummary),
        _ => None,
    }
}

fn content<'t>(cursor: &mut Cursor<'t>, role: Role, parts: &mut impl Parts<'t>) -> Option<()> {
    match cursor.peek() {
        b'[' => cursor.list(|cursor, index| match cursor.peek() {
            b'{' => block(cursor, role, index, parts),
            _ => cursor.skip(),
        }),
        b'"' if role != Role::Assistant => {
            let text = cursor.string()?;
            parts.text(Part::word(Tag::Text, Part::WHOLE), text.units(), text);
            Some(())
        }
        _ => cursor.skip(),
    }
}

/// What a content block is to a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Text,
    Thinking,
    Call,
    Image,
    Other,
}

fn block<'t>(cursor: &mut Cursor<'t>, role: Role, index: u32, parts: &mut impl Parts<'t>) -> Option<()> {
    let mut kind = None;
    let mut call = Call::default();
    let mut is_read = false;
    let mut names = Names::default();
    cursor.object(|cursor, name| {
        names.add(cursor, name)?;
        let name = cursor.content(name);
        let Some(block) = kind else {
            kind = Some(block_of(name, cursor, role)?);
            return Some(());
        };
        match (block, name) {
            (Block::Text, b"text") | (Block::Thinking, b"thinking") => {
                let tag = if block == Block::Text { Tag::Text } else { Tag::Thinking };
                let text = cursor.string()?;
                parts.text(Part::word(tag, index), text.units(), text);
                is_read = true;
            }
            (Block::Call, b"id") => call.id = Some(cursor.plain_string()?),
            (Block::Call, b"name") => call.name = Some(cursor.string()?),
            (Block::Call, b"arguments") => {
                call.read(cursor, index, parts)?;
                is_read = true;
            }
            _ => cursor.skip()?,
        }
        Some(())
    })?;
    match kind? {
        Block::Image => {
            parts.number(Part::word(Tag::Image, index), 0);
            Some(())
        }
        Block::Other => Some(()),
        _ => is_read.then_some(()),
    }
}

fn block_of(name: &[u8], cursor: &mut Cursor<'_>, role: Role) -> Option<Block> {
    let kind = (name == b"type").then(|| cursor.string()).flatten()?;
    Some(match (role, cursor.content(kind)) {
        (_, b"text") => Block::Text,
        (Role::Assistant, b"thinking") => Block::Thinking,
        (Role::Assistant, b"toolCall") => Block::Call,
        (Role::User | Role::ToolResult | Role::Custom, b"image") => Block::Image,
        _ => Block::Other,
    })
}

#[derive(Default)]
struct Call<'t> {
    id: Option<Text<'t>>,
    name: Option<Text<'t>>,
}

impl<'t> Call<'t> {
    /// The call with its arguments, which stand behind its name and its id.
    fn read(&self, cursor: &mut Cursor<'t>, index: u32, parts: &mut impl Parts<'t>) -> Option<()> {
        let (id, name) = (self.id?, self.name?);
        parts.text(Part::word(Tag::Call, index), name.units(), name);
        let number = parts.id(cursor.content(id));
        parts.number(Part::word(Tag::CallId, 0), number);
        let mut names = Names::default();
        let mut member = 0;
        cursor.object(|cursor, key| {
            names.add(cursor, key)?;
            parts.text(Part::word(Tag::Key, member), key.units(), key);
            parts.number(Part::word(Tag::QuotedKey, 0), key.quoted());
            let value_at = Part::word(Tag::Quoted, member);
            let literal = Part::word(Tag::Literal, member);
            match cursor.value()? {
                Value::Text(text) => parts.text(value_at, text.quoted(), text),
                Value::Other { start, end } => parts.json(literal, cursor.units(start, end), start, end),
            }
            member += 1;
            Some(())
        })
    }
}

/// A bash execution, whose members may stand in any order.
#[derive(Default)]
struct Bash<'t> {
    command: Option<Text<'t>>,
    output: Option<Text<'t>>,
    exit_code: Option<(u32, u32)>,
    output_path: Option<Text<'t>>,
    flags: u32,
}

impl<'t> Bash<'t> {
    const EXCLUDED: u32 = 1 << 16;
    const CANCELLED: u32 = 1 << 17;
    const TRUNCATED: u32 = 1 << 18;
    const SHOWS_OUTPUT: u32 = 1 << 20;

    fn member(&mut self, name: &[u8], cursor: &mut Cursor<'t>) -> Option<()> {
        let value = cursor.value()?;
        match (name, value) {
            (b"command", Value::Text(text)) => self.command = Some(text),
            (b"output", Value::Text(text)) => {
                self.output = Some(text);
                self.flags |= if text.units() > 0 { Self::SHOWS_OUTPUT } else { 0 };
            }
            (b"fullOutputPath", Value::Text(text)) => {
                self.output_path = Some(text).filter(|text| text.units() > 0);
            }
            (b"exitCode", Value::Other { start, end }) => match cursor.bytes(start, end) {
                b"0" | b"null" => {}
                [b'{' | b'[', ..] => return None,
                _ => self.exit_code = Some((start, end)),
            },
            (b"command" | b"output" | b"fullOutputPath" | b"exitCode", _) => return None,
            (b"cancelled", value) => self.flag(Self::CANCELLED, cursor, value)?,
            (b"truncated", value) => self.flag(Self::TRUNCATED, cursor, value)?,
            (b"excludeFromContext", value) => self.flag(Self::EXCLUDED, cursor, value)?,
            _ => {}
        }
        Some(())
    }

    fn flag(&mut self, flag: u32, cursor: &Cursor<'_>, value: Value<'_>) -> Option<()> {
        let Value::Other { start, end } = value else { return None };
        match cursor.bytes(start, end) {
            b"true" => self.flags |= flag,
            b"false" | b"null" => {}
            _ => return None,
        }
        Some(())
    }

    fn write(&self, cursor: &Cursor<'t>, parts: &mut impl Parts<'t>) -> Option<()> {
        let (command, output) = (self.command?, self.output?);
        parts.text(Part::word(Tag::Command, 0), command.units(), command);
        parts.text(Part::word(Tag::Output, 0), output.units(), output);
        if let Some((start, end)) = self.exit_code {
            parts.json(Part::word(Tag::ExitCode, 0), cursor.units(start, end), start, end);
        }
        if let Some(path) = self.output_path {
            parts.text(Part::word(Tag::OutputPath, 0), path.units(), path);
        }
        Some(())
    }
}

fn summary<'t>(cursor: &mut Cursor<'t>, parts: &mut impl Parts<'t>) -> Option<Text<'t>> {
    let text = cursor.string()?;
    parts.text(Part::word(Tag::Summary, 0), text.units(), text);
    Some(text)
}

/// Reads an entry that is a message of its own: the role that it has, and the member that is its text. `None` for a
/// shape that is read in another way, and for a text that pi would not show.
pub fn entry<'t>(cursor: &mut Cursor<'t>, role: Role, parts: &mut impl Parts<'t>) -> Option<Head> {
    let mut names = Names::default();
    let mut is_read = false;
    cursor.object(|cursor, name| {
        names.add(cursor, name)?;
        let name = cursor.content(name);
        match (role, name) {
            (Role::Custom, b"content") => {
                is_read = matches!(cursor.peek(), b'"' | b'[');
                content(cursor, role, parts)
            }
            (Role::BranchSummary | Role::CompactionSummary, b"summary") => {
                is_read = summary(cursor, parts)?.units() > 0 || role == Role::CompactionSummary;
                Some(())
            }
            _ => cursor.skip(),
        }
    })?;
    (is_read && cursor.is_done()).then_some(Head { word: (role as u32) << 8, reported: None })
}
