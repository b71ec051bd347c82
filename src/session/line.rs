//! One line of a session file becomes an entry: in the strict form at once, in any other in a slower, exact way.

use super::cursor::{Cursor, Names, Text};
use super::entry::{Body, Entry, Facts, Id, Kind};
use super::gather::{Head, Parts, entry as own_message, message};
use super::index::Quote;
use super::json::{Members, NoObject, text};
use super::scan::{Calls, Found};
use super::text::write;
use crate::transcript::part::{Part, Role, Tag, messages};
use crate::transcript::serialize::{Dialect, Size};

/// A line and where it stands.
pub struct Source<'t> {
    /// The stretch that holds it.
    pub text: &'t [u8],
    /// Its quotes.
    pub quotes: &'t [Quote],
    /// Where the stretch begins in the file, in bytes.
    pub offset: u64,
    /// Where the line begins and ends in the stretch.
    pub start: usize,
    /// See `start`.
    pub end: usize,
    /// From 1, in the stretch.
    pub line: u32,
    /// Whether a line feed ends it.
    pub is_ended: bool,
    /// Whether it may have surrogates.
    pub has_surrogates: bool,
    /// Whether its bytes are such as `JSON.stringify` writes.
    pub is_strict: bool,
}

impl<'t> Source<'t> {
    fn cursor(&self) -> Cursor<'t> {
        Cursor::new(self.text, self.start, self.end, self.quotes)
    }

    fn entry(&self, kind: Kind) -> Entry {
        Entry {
            offset: self.offset + self.start as u64,
            length: (self.end - self.start) as u32,
            line: self.line,
            id: None,
            parent: None,
            kind,
            body: Body::None,
            words: 0,
            sizes: Default::default(),
            reported: f64::NAN,
        }
    }
}

/// Adds the entry of a line, or why there is none.
pub fn read_line(source: &Source<'_>, found: &mut Found) {
    let begun = found.words.len();
    let strict = if source.is_strict { strict(source, found) } else { None };
    if let Some(entry) = strict {
        found.entries.push(entry);
    } else {
        found.words.truncate(begun);
        exact(source, found);
    }
}

/// The entry of a line as pi writes most of them: a type first, then links, then a message of a common shape.
fn strict(source: &Source<'_>, found: &mut Found) -> Option<Entry> {
    let begun = found.words.len();
    let mut entry = source.entry(Kind::Unknown);
    let mut kind = None;
    let mut names = Names::default();
    let mut sizes = Sizes::new(source, &mut found.words, &mut found.calls);
    let mut cursor = source.cursor();
    cursor.object(|cursor, name| {
        names.add(cursor, name)?;
        let name = cursor.content(name);
        let Some(kind) = kind else {
            kind = Some(kind_of(name, cursor)?);
            return Some(());
        };
        match name {
            b"id" => entry.id = Some(Id::of(plain(cursor)?)),
            b"parentId" if cursor.peek() == b'"' => {
                entry.parent = Some(plain(cursor)?).filter(|id| !id.is_empty()).map(Id::of);
            }
            b"parentId" if cursor.peek() != b'n' => return None,
            b"message" if kind == Kind::Message => {
                entry.reported = sizes.gather(|sizes| message(cursor, sizes))?.reported.unwrap_or(f64::NAN);
                entry.body = Body::Gathered;
            }
            _ => cursor.skip()?,
        }
        Some(())
    })?;
    entry.kind = kind?;
    let is_whole = entry.kind != Kind::Message || entry.body == Body::Gathered;
    if !cursor.is_done() || !is_whole {
        return None;
    }
    measure(&mut entry, begun, &found.words);
    Some(entry)
}

/// Notes of a gathered message where its records begin and how large it is.
fn measure(entry: &mut Entry, begun: usize, words: &[u32]) {
    entry.words = begun as u32;
    let message = words.get(begun..).and_then(|records| messages(records).next());
    entry.sizes = message.as_ref().map(Size::of).unwrap_or_default();
}

fn kind_of(name: &[u8], cursor: &mut Cursor<'_>) -> Option<Kind> {
    let kind = (name == b"type").then(|| cursor.string()).flatten()?;
    let kind = Kind::of(cursor.content(kind));
    matches!(kind, Kind::Message | Kind::State | Kind::Unknown).then_some(kind)
}

/// The content of a string without escapes.
fn plain<'t>(cursor: &mut Cursor<'t>) -> Option<&'t [u8]> {
    let text = cursor.plain_string()?;
    Some(cursor.content(text))
}

/// The entry of a line in whatever form JSON allows. Messages in other forms than the strict one are left to whoever
/// can build them.
fn exact(source: &Source<'_>, found: &mut Found) {
    // As pi decodes: what is no UTF-8 becomes U+FFFD and does not lose the line.
    let line = String::from_utf8_lossy(source.text.get(source.start..source.end).unwrap_or_default());
    if line.trim().is_empty() {
        return;
    }
    let mut skip = |reason| found.skipped.push(source.line, reason);
    let members = match Members::parse(&line) {
        Ok(members) => members,
        Err(fault) => return skip(reason(&line, fault, source.is_ended)),
    };
    let kind = members.get("type").and_then(text).map(|name| Kind::of(&name));
    let has_message = members.get("message").is_some_and(|message| message.starts_with('{'));
    match kind {
        None => skip("an entry without a type"),
        Some(Kind::Message) if !has_message => skip("a message entry without a message"),
        Some(_) => {}
    }
    let kind = kind.unwrap_or(Kind::Unknown);
    let is_shown = kind.role().is_some() || (kind == Kind::Message && has_message);
    let mut entry = Entry {
        id: members.get("id").and_then(named),
        parent: members.get("parentId").and_then(linked),
        body: if is_shown { Body::Odd } else { Body::None },
        ..source.entry(kind)
    };
    gather_own(source, &mut entry, found);
    found.facts.push((found.entries.len() as u32, Facts::of(kind, &members)));
    found.entries.push(entry);
}

/// The id that a value is: a string, or a number, as its JSON stands.
fn named(value: &str) -> Option<Id> {
    let is_number = value.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    text(value).map(|id| Id::of(&id)).or_else(|| is_number.then(|| Id::of_value(value)))
}

/// The id that a parent is: whatever JavaScript takes for true, be it an id of no entry.
fn linked(value: &str) -> Option<Id> {
    match value {
        "null" | "false" | "0" | "-0" | "\"\"" => None,
        _ => text(value).map(|id| Id::of(&id)).or_else(|| Some(Id::of_value(value))),
    }
}

/// Gathers the message that an entry is by itself, where its line is in the strict form.
fn gather_own(source: &Source<'_>, entry: &mut Entry, found: &mut Found) {
    let Some(role) = entry.kind.role().filter(|_| source.is_strict) else { return };
    let begun = found.words.len();
    let mut sizes = Sizes::new(source, &mut found.words, &mut found.calls);
    match sizes.gather(|sizes| own_message(&mut source.cursor(), role, sizes)) {
        Some(_) => {
            entry.body = Body::Gathered;
            measure(entry, begun, &found.words);
        }
        None => found.words.truncate(begun),
    }
}

fn reason(line: &str, fault: NoObject, is_ended: bool) -> &'static str {
    match fault {
        NoObject::OtherValue => "not a JSON object",
        NoObject::CutOff | NoObject::NoJson if !is_ended && is_cut_off(line) => {
            "cut off: the file ends inside this line"
        }
        NoObject::CutOff | NoObject::NoJson => "not valid JSON",
    }
}

/// Bytes of the longest escape: a pair of surrogates.
const LONGEST_ESCAPE: usize = 12;

/// Whether a line is the beginning of JSON, be it cut through an escape or a number.
fn is_cut_off(line: &str) -> bool {
    let escapes = line.rmatch_indices('\\').map(|(at, _)| at);
    let ends = escapes.take_while(|at| line.len() - at <= LONGEST_ESCAPE);
    let without_number = line.trim_end_matches(|byte: char| byte.is_ascii_digit() || "+-.eE".contains(byte));
    [line.len(), without_number.len()]
        .into_iter()
        .chain(ends)
        .any(|end| line.get(..end).is_some_and(|line| Members::parse(line).err() == Some(NoObject::CutOff)))
}

/// The records of messages, of which only the sizes are wanted.
struct Sizes<'f> {
    /// The stretch, where the line may have surrogates: then the units around the cap of a tool result may be a pair.
    text: Option<&'f [u8]>,
    shown: Vec<Text<'f>>,
    words: &'f mut Vec<u32>,
    calls: &'f mut Calls,
}

impl<'f> Sizes<'f> {
    fn new(source: &Source<'f>, words: &'f mut Vec<u32>, calls: &'f mut Calls) -> Self {
        Self { text: source.has_surrogates.then_some(source.text), shown: Vec::new(), words, calls }
    }

    /// A message with its header.
    fn gather(&mut self, read: impl FnOnce(&mut Self) -> Option<Head>) -> Option<Head> {
        let begun = self.words.len();
        self.words.extend([0, 0]);
        self.shown.clear();
        let head = read(self)?;
        if head.word >> 8 & 0xf == Role::ToolResult as u32 {
            self.cap();
        }
        let words = (self.words.len() - begun) as u32;
        if let Some([header, length]) = self.words.get_mut(begun..begun + 2) {
            (*header, *length) = (head.word, words);
        }
        Some(head)
    }

    /// The units on either side of the cap of a tool result that is longer.
    fn cap(&mut self) {
        const CAP: usize = Dialect::TOOL_RESULT_CAP;
        let units: usize = self.shown.iter().map(|text| text.units() as usize).sum();
        let Some(text) = self.text.filter(|_| units > CAP) else { return };
        let mut start = Vec::with_capacity(CAP + 1);
        for shown in &self.shown {
            let content = text.get(shown.start() as usize..shown.end() as usize).unwrap_or_default();
            write(content, CAP + 1 - start.len(), &mut start);
        }
        if let Some(&[before, after]) = start.get(CAP - 1..) {
            let units = u32::from(before) << 16 | u32::from(after);
            self.words.extend([Part::word(Tag::CapUnits, 0), units]);
        }
    }
}

impl<'f> Parts<'f> for Sizes<'f> {
    fn text(&mut self, word: u32, units: u32, text: Text<'f>) {
        self.words.extend([word, units]);
        if self.text.is_some() && Part::tag_of(word) == Some(Tag::Text) {
            self.shown.push(text);
        }
    }

    fn json(&mut self, word: u32, units: u32, _start: u32, _end: u32) {
        self.words.extend([word, units]);
    }

    fn number(&mut self, word: u32, number: u32) {
        self.words.extend([word, number]);
    }

    fn id(&mut self, id: &[u8]) -> u32 {
        self.calls.number(Id::of(id))
    }
}
