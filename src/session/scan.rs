//! Stretches of a session file as entries: each line is read once.

use std::collections::HashMap;

use hashbrown::HashTable;

use super::entry::{Entry, Facts, Id};
use super::index::Index;
use super::line::{Source, read_line};
use super::skipped::SkippedLines;
use super::stretch::Stretch;
use crate::transcript::part::{Part, Tag};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The entries of a stretch. Lines count from its first.
#[derive(Debug, Default)]
pub struct Found {
    /// In file order, headers included: version 1 counts them.
    pub entries: Vec<Entry>,
    /// Records of all messages.
    pub words: Vec<u32>,
    /// The ids of calls.
    pub calls: Calls,
    /// Of the entries with these indices.
    pub facts: Vec<(u32, Facts)>,
    /// Lines that could not be used.
    pub skipped: SkippedLines,
    /// How many lines there were.
    pub lines: u32,
}

impl Found {
    /// Bytes on the heap, but for the list of lines that could not be used, which is short.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
            + self.words.capacity() * size_of::<u32>()
            + self.facts.capacity() * size_of::<(u32, Facts)>()
            + self.calls.bytes()
    }
}

/// Ids of calls, each with a number.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    ids: Vec<Id>,
    numbers: HashTable<u32>,
}

impl Calls {
    /// The number of an id that was met.
    #[must_use]
    pub fn find(&self, id: Id) -> Option<u32> {
        self.numbers.find(id.hash(), |number| self.ids.get(*number as usize) == Some(&id)).copied()
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.ids.len()
    }

    /// The number of an id: a new one where it was not met before.
    pub fn number(&mut self, id: Id) -> u32 {
        if let Some(number) = self.find(id) {
            return number;
        }
        let (number, ids) = (self.ids.len() as u32, &mut self.ids);
        ids.push(id);
        let hash = |number: &u32| ids.get(*number as usize).map_or(0, |id| id.hash());
        self.numbers.insert_unique(id.hash(), number, hash);
        number
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.ids.capacity() * size_of::<Id>() + self.numbers.allocation_size()
    }

    fn clear(&mut self) {
        self.ids.clear();
        self.numbers.clear();
    }
}

/// Reads the lines of a stretch into something empty.
pub fn read_stretch(stretch: Stretch, text: &[u8], index: &mut Index, found: &mut Found) {
    index.fill(text);
    let (mut start, mut first_quote) = (0, 0);
    if stretch.passed_over {
        found.lines += 1;
        found.skipped.push(found.lines, "longer than 64 MiB");
    }
    for line in &index.lines {
        found.lines += 1;
        let quotes = index.quotes().get(first_quote..line.quotes as usize).unwrap_or_default();
        let bytes = text.get(start..line.end as usize).unwrap_or_default();
        let is_marked = stretch.offset == 0 && start == 0 && bytes.starts_with(BYTE_ORDER_MARK);
        let source = Source {
            text,
            quotes,
            offset: stretch.offset,
            start: if is_marked { start + BYTE_ORDER_MARK.len() } else { start },
            end: start + bytes.strip_suffix(b"\r").unwrap_or(bytes).len(),
            line: found.lines,
            is_ended: text.get(line.end as usize) == Some(&b'\n'),
            has_surrogates: line.surrogates,
            is_strict: line.plain && line.is_utf8(text, start),
        };
        read_line(&source, found);
        start = line.end as usize + 1;
        first_quote = line.quotes as usize;
    }
}

/// All entries of a file.
#[derive(Debug, Default)]
pub struct Scanned {
    /// In file order, headers included.
    pub entries: Vec<Entry>,
    /// Records of all messages; ids of calls have the same number throughout.
    pub words: Vec<u32>,
    /// Of the entries with these indices.
    pub facts: HashMap<u32, Facts>,
    /// Lines that could not be used, in file order.
    pub skipped: SkippedLines,
    /// Ids of the calls of all messages.
    pub calls: Calls,
    lines: u32,
}

impl Scanned {
    /// Takes what was found in the next stretch.
    fn take(&mut self, found: &mut Found) {
        let (first, first_word) = (self.entries.len() as u32, self.words.len() as u32);
        let numbers: Vec<u32> = found.calls.ids.iter().map(|id| self.calls.number(*id)).collect();
        found.calls.clear();
        self.words.append(&mut found.words);
        for record in self.words.get_mut(first_word as usize..).unwrap_or_default().chunks_exact_mut(2) {
            if let [word, id] = record
                && matches!(Part::tag_of(*word), Some(Tag::CallId | Tag::ResultId))
            {
                *id = numbers.get(*id as usize).copied().unwrap_or(*id);
            }
        }
        self.entries.extend(found.entries.drain(..).map(|entry| Entry {
            line: entry.line + self.lines,
            words: entry.words + first_word,
            ..entry
        }));
        self.facts.extend(found.facts.drain(..).map(|(at, facts)| (at + first, facts)));
        self.skipped.take(&mut found.skipped, self.lines);
        self.lines += std::mem::take(&mut found.lines);
    }
}

/// Stretches put together in the order of the file, whatever the order in which they were read.
#[derive(Debug, Default)]
pub struct Gathering {
    scanned: Scanned,
    /// The stretch that comes next.
    next: u32,
    waiting: Vec<(u32, Found)>,
    /// Emptied, to be filled again.
    spare: Vec<Found>,
}

impl Gathering {
    /// Takes what was found in a stretch, and gives something empty to fill.
    pub fn add(&mut self, stretch: u32, found: Found) -> Found {
        self.waiting.push((stretch, found));
        while let Some(at) = self.waiting.iter().position(|(stretch, _)| *stretch == self.next) {
            let (_, mut found) = self.waiting.swap_remove(at);
            self.scanned.take(&mut found);
            self.next += 1;
            self.spare.push(found);
        }
        self.spare.pop().unwrap_or_default()
    }

    /// Everything, once all stretches were added.
    #[must_use]
    pub fn scanned(self) -> Scanned {
        self.scanned
    }
}
