//! A session file that is not held: where the messages of its context stand, and their records.

use std::collections::{HashMap, HashSet};
use std::fs::{File, Metadata, OpenOptions, metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use super::cursor::{Cursor, Text};
use super::entry::{Body, Entry, Id};
use super::gather::{Parts, entry, message};
use super::index::Index;
use super::projection::{Item, Shows};
use super::scan::{Calls, Scanned};
use super::text::write;
use crate::error::{CompactionError, Result};
use crate::transcript::part::{Part, Tag, messages};
use crate::transcript::resident::Elsewhere;
use crate::transcript::store::{Filling, Store, Wanted};

/// What a file was when it was read: of another, nothing is at the known places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Bytes.
    pub size: u64,
    modified: Option<SystemTime>,
    number: u64,
}

impl Identity {
    fn of(file: &Metadata) -> Self {
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(file);
        #[cfg(not(unix))]
        let number = 0;
        Self { size: file.len(), modified: file.modified().ok(), number }
    }

    /// Whether the file at a path is the same, unchanged.
    #[must_use]
    pub fn still_holds(&self, path: &Path) -> bool {
        metadata(path).is_ok_and(|file| Self::of(&file) == *self)
    }
}

/// A file that may be read as a session.
///
/// # Errors
/// `session_file`
pub fn open(path: &Path) -> Result<(File, Identity)> {
    // Before it is opened, for that alone does something to a device; and after, for it may be another by then.
    regular(path, &metadata(path).map_err(|error| refused(path, &error))?)?;
    let file = without_waiting().open(path).map_err(|error| refused(path, &error))?;
    let opened = file.metadata().map_err(|error| refused(path, &error))?;
    regular(path, &opened)?;
    Ok((file, Identity::of(&opened)))
}

fn regular(path: &Path, file: &Metadata) -> Result<()> {
    if file.is_dir() {
        return Err(fault(path, "a folder; give the path of a session's .jsonl file in it"));
    }
    if !file.is_file() {
        return Err(fault(path, "not a regular file; copy the session to one first"));
    }
    Ok(())
}

/// For reading; a pipe is not waited for until somebody writes.
fn without_waiting() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options
}

/// What the system says of a file, as an error with the way out.
#[must_use]
pub fn refused(path: &Path, error: &io::Error) -> CompactionError {
    match error.kind() {
        io::ErrorKind::NotFound => fault(path, "not there; check the path"),
        io::ErrorKind::PermissionDenied => fault(path, "not readable by this user; check its permissions"),
        _ => fault(path, &format!("not readable ({error}); check the file and its disk")),
    }
}

/// An error about a file.
#[must_use]
pub fn fault(path: &Path, what: &str) -> CompactionError {
    CompactionError::session(format!("{}: {what}", path.display()))
}

/// Where a line stands, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// Its beginning.
    pub offset: u64,
    /// Its length.
    pub length: u32,
}

/// The messages of a context, by their places in it.
pub struct Session {
    path: PathBuf,
    identity: Identity,
    offsets: Vec<u64>,
    lengths: Vec<u32>,
    /// Where the record of each message begins in the words.
    begins: Vec<u32>,
    words: Vec<u32>,
    /// The context's size that each message reports, in tokens; `NaN` for none.
    reported: Vec<f64>,
    /// Where the edits of some messages stand.
    edits: HashMap<u32, Place>,
    /// Messages that are entries of their own and not the message of one.
    own: HashSet<u32>,
    /// Numbers of the calls, for messages that come later.
    calls: Calls,
    read: AtomicU64,
}

impl Session {
    /// The messages that some entries show.
    #[must_use]
    pub fn new(path: PathBuf, identity: Identity, scanned: Scanned, items: &[Item]) -> Self {
        let Scanned { entries, words, calls, .. } = scanned;
        let mut session = Self {
            path,
            identity,
            offsets: Vec::with_capacity(items.len()),
            lengths: Vec::with_capacity(items.len()),
            begins: Vec::with_capacity(items.len()),
            words: Vec::new(),
            reported: Vec::with_capacity(items.len()),
            edits: HashMap::new(),
            own: HashSet::new(),
            calls,
            read: AtomicU64::new(0),
        };
        let entry_at = |at: u32| entries.get(at as usize).copied();
        for (place, (item, entry)) in
            (0..).zip(items.iter().filter_map(|item| Some((item, entry_at(item.entry)?))))
        {
            session.offsets.push(entry.offset);
            session.lengths.push(entry.length);
            session.reported.push(entry.reported);
            session.begins.push(if is_gathered(*item, entry.body) { entry.words } else { NOT_GATHERED });
            session.own.extend(entry.kind.role().map(|_| place));
            if let Shows::Edited(edit) = item.shows {
                session.edits.extend(
                    entry_at(edit).map(|Entry { offset, length, .. }| (place, Place { offset, length })),
                );
            }
        }
        drop(entries);
        session.keep(words);
        session
    }

    /// Keeps the records of its messages. Where they are most of all, the few others stay with them.
    fn keep(&mut self, words: Vec<u32>) {
        let wanted: usize = self.begins.iter().map(|&begin| record_at(&words, begin).len()).sum();
        if wanted >= words.len() / 8 * 7 {
            self.words = words;
            self.words.shrink_to_fit();
            return;
        }
        self.words.reserve_exact(wanted);
        for begin in self.begins.iter_mut().filter(|begin| **begin != NOT_GATHERED) {
            let record = record_at(&words, *begin);
            *begin = self.words.len() as u32;
            self.words.extend(record);
        }
    }

    fn place(&self, place: u32) -> Place {
        let place = place as usize;
        let offset = self.offsets.get(place).copied().unwrap_or_default();
        Place { offset, length: self.lengths.get(place).copied().unwrap_or_default() }
    }

    /// The lines that some messages come from.
    ///
    /// # Errors
    /// `session_file` where the file is another by now.
    pub fn lines(&self, places: &[u32]) -> Result<Vec<Vec<u8>>> {
        let file = self.file()?;
        let line = |place: &u32| {
            let Place { offset, length } = self.place(*place);
            let mut bytes = vec![0; length as usize];
            self.read_at(&file, offset, &mut bytes).map(|()| bytes)
        };
        places.iter().map(line).collect()
    }

    /// The line of the entry whose content takes the place of a message's own; empty where there is none.
    ///
    /// # Errors
    /// As [`Session::lines`].
    pub fn edit_line(&self, place: u32) -> Result<Vec<u8>> {
        let Some(&Place { offset, length }) = self.edits.get(&place) else { return Ok(Vec::new()) };
        let mut bytes = vec![0; length as usize];
        self.read_at(&self.file()?, offset, &mut bytes)?;
        Ok(bytes)
    }

    /// The number of a call's id, where one of its messages has it.
    #[must_use]
    pub fn call(&self, id: Id) -> Option<u32> {
        self.calls.find(id)
    }

    /// How many ids have numbers.
    #[must_use]
    pub fn call_count(&self) -> usize {
        self.calls.count()
    }

    /// The context's size that a message reports.
    #[must_use]
    pub fn reported(&self, place: u32) -> Option<f64> {
        self.reported.get(place as usize).copied().filter(|tokens| !tokens.is_nan())
    }

    /// Bytes that were read since it was opened.
    #[must_use]
    pub fn read_since(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    fn file(&self) -> Result<File> {
        let (file, identity) = open(&self.path)?;
        if identity == self.identity { Ok(file) } else { Err(self.changed()) }
    }

    /// That the file is another by now.
    #[must_use]
    pub fn changed(&self) -> CompactionError {
        fault(&self.path, "changed since it was opened; open it again")
    }

    fn read_at(&self, file: &File, offset: u64, bytes: &mut [u8]) -> Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = file;
        let read = file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(bytes));
        self.read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.changed(),
            _ => refused(&self.path, &error),
        })
    }
}

/// In place of where a record begins.
const NOT_GATHERED: u32 = u32::MAX;

/// The record of a message: its second word is how many it has.
fn record_at(words: &[u32], begin: u32) -> &[u32] {
    let rest = words.get(begin as usize..).unwrap_or_default();
    rest.get(1).and_then(|length| rest.get(..*length as usize)).unwrap_or_default()
}

/// Whether the record of an item is that of its line.
#[must_use]
pub fn is_gathered(item: Item, body: Body) -> bool {
    body == Body::Gathered && matches!(item.shows, Shows::Message | Shows::Summary)
}

impl Elsewhere for Session {
    fn records(&self, place: u32) -> &[u32] {
        record_at(&self.words, self.begins.get(place as usize).copied().unwrap_or(NOT_GATHERED))
    }

    fn read(&self, places: &[u32]) -> Result<Store> {
        let file = self.file()?;
        let records: Vec<u32> = places.iter().flat_map(|&place| self.records(place)).copied().collect();
        let mut store = Filling::new(records, Wanted::Printed(0));
        let (mut bytes, mut index) = (Vec::new(), Index::default());
        for &place in places {
            let Place { offset, length } = self.place(place);
            bytes.resize(length as usize, 0);
            self.read_at(&file, offset, &mut bytes)?;
            index.fill(&bytes);
            let mut cursor = Cursor::new(&bytes, 0, bytes.len(), index.quotes());
            let record = self.records(place);
            let mut texts =
                Texts { store: &mut store, bytes: &bytes, calls: &self.calls, expected: record.get(2..) };
            let role = messages(record).next().map(|message| message.role());
            let own = role.filter(|_| self.own.contains(&place));
            let read = match own {
                Some(role) => entry(&mut cursor, role, &mut texts).map(drop),
                None => cursor.object(|cursor, name| match cursor.content(name) {
                    b"message" => message(cursor, &mut texts).map(drop),
                    _ => cursor.skip(),
                }),
            };
            read.filter(|()| texts.is_whole()).ok_or_else(|| self.changed())?;
        }
        Ok(store.filled())
    }

    fn bytes(&self) -> usize {
        self.offsets.capacity() * size_of::<u64>()
            + self.lengths.capacity() * size_of::<u32>()
            + self.reported.capacity() * size_of::<f64>()
            + self.calls.bytes()
            + self.edits.capacity() * size_of::<(u32, Place)>()
            + (self.begins.capacity() + self.words.capacity()) * size_of::<u32>()
    }
}

/// The texts of a message, which a store awaits in the order in which they stand.
struct Texts<'s> {
    store: &'s mut Filling,
    bytes: &'s [u8],
    calls: &'s Calls,
    /// Words that were noted when the file was opened and are to come yet; `None` once others came.
    expected: Option<&'s [u32]>,
}

impl Texts<'_> {
    /// Meets the next part. A line that was changed in place, at the same time and size, has other parts.
    fn meet(&mut self, word: u32, value: u32) {
        self.expected = self.expected.and_then(|words| words.strip_prefix(&[word, value]));
    }

    /// Whether all parts came, but for the one that follows from the others.
    fn is_whole(&self) -> bool {
        match self.expected {
            Some([]) => true,
            Some([word, _]) => Part::tag_of(*word) == Some(Tag::CapUnits),
            _ => false,
        }
    }

    fn push(&mut self, fill: impl FnOnce(&mut Vec<u16>, usize)) {
        if let Some(part) = self.store.awaited() {
            self.store.push(&part, fill);
        }
    }
}

impl<'t> Parts<'t> for Texts<'_> {
    fn text(&mut self, word: u32, units: u32, text: Text<'t>) {
        self.meet(word, units);
        let content = self.bytes.get(text.start() as usize..text.end() as usize).unwrap_or_default();
        self.push(|arena, most| write(content, most, arena));
    }

    fn json(&mut self, word: u32, units: u32, start: u32, end: u32) {
        self.meet(word, units);
        let written = self.bytes.get(start as usize..end as usize).unwrap_or_default();
        let text = String::from_utf8_lossy(written);
        self.push(|arena, most| arena.extend(text.encode_utf16().take(most)));
    }

    fn number(&mut self, word: u32, number: u32) {
        self.meet(word, number);
    }

    fn id(&mut self, id: &[u8]) -> u32 {
        self.calls.find(Id::of(id)).unwrap_or(u32::MAX)
    }
}
