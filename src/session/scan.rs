//! Lines to entries: buffered reads of a file that is never written.

use std::fs::{File, metadata};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::entry::{Entry, Kind};
use super::json::{Members, NoObject};
use crate::error::{CompactionError, Result};

/// The longest line that is read, in bytes; longer ones are passed over without being held.
pub const LONGEST_LINE: usize = 64 << 20;
/// Size of one read in bytes.
const READ_BYTES: usize = 1 << 18;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A line that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The line, from 1.
    pub line: u64,
    /// Why, in words that quote nothing of the file.
    pub reason: &'static str,
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// In file order, headers included: version 1 counts them.
    pub(super) entries: Vec<Entry>,
    pub(super) skipped: Vec<Skipped>,
}

impl Scanned {
    pub(super) fn skip(&mut self, line: u64, reason: &'static str) {
        self.skipped.push(Skipped { line, reason });
    }
}

/// Reads the entries of a session file.
pub(super) fn scan_file(path: &Path) -> Result<Scanned> {
    let kind = metadata(path).map_err(|error| refused(path, &error))?;
    if kind.is_dir() {
        return Err(fault(path, "a folder; give the path of a session's .jsonl file in it"));
    }
    if !kind.is_file() {
        return Err(fault(path, "not a regular file; copy the session to one first"));
    }
    let file = File::open(path).map_err(|error| refused(path, &error))?;
    let scanned = scan(BufReader::with_capacity(READ_BYTES, file), LONGEST_LINE);
    let scanned = scanned.map_err(|error| refused(path, &error))?;
    let usable = |entry: &Entry| !matches!(entry.kind, Kind::Session | Kind::Unknown);
    if scanned.entries.iter().any(usable) {
        return Ok(scanned);
    }
    Err(fault(path, emptiness(&scanned, kind.len())))
}

fn emptiness(scanned: &Scanned, bytes: u64) -> &'static str {
    if bytes == 0 {
        "empty; give the path of a session that pi has written to"
    } else if scanned.entries.iter().any(|entry| entry.kind == Kind::Session) {
        "a session without entries; say something in it first"
    } else {
        "no pi session: none of its lines is an entry of one; give the path of a session's .jsonl file"
    }
}

fn refused(path: &Path, error: &io::Error) -> CompactionError {
    match error.kind() {
        io::ErrorKind::NotFound => fault(path, "not there; check the path"),
        io::ErrorKind::PermissionDenied => fault(path, "not readable by this user; check its permissions"),
        _ => fault(path, &format!("not readable ({error}); check the file and its disk")),
    }
}

fn fault(path: &Path, what: &str) -> CompactionError {
    CompactionError::session(format!("{}: {what}", path.display()))
}

/// Reads entries from lines that end at LF only; other line breaks of Unicode are ordinary text.
pub(super) fn scan(mut reader: impl BufRead, longest: usize) -> io::Result<Scanned> {
    let mut scanned = Scanned::default();
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        if reader.by_ref().take(longest as u64 + 1).read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        let ended = bytes.last() == Some(&b'\n');
        if !ended && bytes.len() > longest {
            reader.skip_until(b'\n')?;
            scanned.skip(line, "longer than 64 MiB");
            continue;
        }
        let text = if line == 1 { bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes) } else { &bytes };
        // As pi decodes: what is no UTF-8 becomes U+FFFD and does not lose the line.
        take_line(&mut scanned, line, &String::from_utf8_lossy(text), ended);
    }
    Ok(scanned)
}

fn take_line(scanned: &mut Scanned, line: u64, text: &str, ended: bool) {
    if text.trim().is_empty() {
        return;
    }
    let members = match Members::parse(text) {
        Ok(members) => members,
        Err(fault) => return scanned.skip(line, reason(fault, ended)),
    };
    if members.get("type").and_then(super::json::text).is_none() {
        scanned.skip(line, "an entry without a type");
    }
    let entry = Entry::new(line, text, &members);
    if entry.kind == Kind::Message && !members.get("message").is_some_and(|message| message.starts_with('{'))
    {
        scanned.skip(line, "a message entry without a message");
    }
    scanned.entries.push(entry);
}

fn reason(fault: NoObject, ended: bool) -> &'static str {
    match fault {
        NoObject::OtherValue => "not a JSON object",
        NoObject::CutOff if !ended => "cut off: the file ends inside this line",
        NoObject::CutOff | NoObject::NoJson => "not valid JSON",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(text: &[u8]) -> Scanned {
        scan(text, LONGEST_LINE).unwrap()
    }

    fn faults(scanned: &Scanned) -> Vec<(u64, &str)> {
        scanned.skipped.iter().map(|skipped| (skipped.line, skipped.reason)).collect()
    }

    #[test]
    fn lines_end_at_lf_only() {
        let text = "\u{feff}{\"type\":\"session\",\"id\":\"s\"}\r\n\r\n{\"type\":\"custom\",\"data\":\"a\u{2028}b\u{2029}c\u{85}d\"}";
        let found = scanned(text.as_bytes());
        assert_eq!(found.entries.iter().map(|entry| entry.line).collect::<Vec<_>>(), [1, 3]);
        assert!(found.skipped.is_empty());
    }

    #[test]
    fn bad_lines_are_counted_and_good_ones_load() {
        let found = scanned(b"{\"type\":\"session\"}\n{\"type\":\n[]\n7\n{}\n{\"type\":\"message\"}\n{\"type\":\"label\"}\n{\"ty");
        let expected = [
            (2, "not valid JSON"),
            (3, "not a JSON object"),
            (4, "not a JSON object"),
            (5, "an entry without a type"),
            (6, "a message entry without a message"),
            (8, "cut off: the file ends inside this line"),
        ];
        assert_eq!(faults(&found), expected);
        assert_eq!(found.entries.len(), 4);
    }

    #[test]
    fn long_lines_are_passed_over() {
        let label = "{\"type\":\"label\"}\n";
        let text = format!("{label}{{\"type\":\"label\",\"x\":\"{}\"}}\n{label}", "x".repeat(100));
        let found = scan(BufReader::with_capacity(7, text.as_bytes()), 40).unwrap();
        assert_eq!(faults(&found), [(2, "longer than 64 MiB")]);
        assert_eq!(found.entries.iter().map(|entry| entry.line).collect::<Vec<_>>(), [1, 3]);
        let exact = scan(label.as_bytes(), label.len() - 1).unwrap();
        assert_eq!(exact.entries.len(), 1);
    }

    #[test]
    fn invalid_utf8_does_not_lose_the_line() {
        assert_eq!(scanned(b"{\"type\":\"label\",\"label\":\"\xff\xfe\"}").entries.len(), 1);
    }
}
