//! A strict reader of one JSON line in the form in which `JSON.stringify` writes: no blanks, no escapes but the usual.
//! Whatever is written otherwise is refused and read in another way, so that this one need not know it.

use super::index::Quote;
use super::number::{is_numeric, natural, printed_so};

/// How deep values may lie in each other.
const DEEPEST: u32 = 64;

/// A line under reading. Every step answers `None` where the line is not in the strict form.
#[derive(Debug, Clone)]
pub struct Cursor<'t> {
    text: &'t [u8],
    at: usize,
    quotes: &'t [Quote],
}

/// A string that was read, by its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'t>(&'t [Quote; 2]);

impl Text<'_> {
    /// Where its content begins, in bytes.
    #[must_use]
    pub fn start(self) -> u32 {
        let Self([open, _]) = self;
        open.at + 1
    }

    /// And ends.
    #[must_use]
    pub fn end(self) -> u32 {
        let Self([_, close]) = self;
        close.at
    }

    /// UTF-16 units of it as JSON, quotes included.
    #[must_use]
    pub fn quoted(self) -> u32 {
        let Self([open, close]) = self;
        close.units - open.units + 1
    }

    /// UTF-16 units of its content.
    #[must_use]
    pub fn units(self) -> u32 {
        self.quoted() - 2 - self.escapes()
    }

    /// Units that escapes take beyond those of what they stand for.
    fn escapes(self) -> u32 {
        let Self([open, close]) = self;
        close.escapes - open.escapes
    }
}

/// A value that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'t> {
    /// A string.
    Text(Text<'t>),
    /// Any other value, all of it; numbers as JavaScript prints them.
    Other {
        /// Where it begins, in bytes.
        start: u32,
        /// And ends.
        end: u32,
    },
}

impl<'t> Cursor<'t> {
    /// A reader of `text` between two places, in which these quotes stand.
    #[must_use]
    pub fn new(text: &'t [u8], start: usize, end: usize, quotes: &'t [Quote]) -> Self {
        Self { text: text.get(..end).unwrap_or_default(), at: start, quotes }
    }

    /// The bytes between two places.
    #[must_use]
    pub fn bytes(&self, start: u32, end: u32) -> &'t [u8] {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// What stands from a place on.
    fn rest(&self, at: usize) -> &'t [u8] {
        self.text.get(at..).unwrap_or_default()
    }

    /// The content of a string as it is written.
    #[must_use]
    pub fn content(&self, text: Text<'t>) -> &'t [u8] {
        self.bytes(text.start(), text.end())
    }

    /// UTF-16 units between two places.
    #[must_use]
    pub fn units(&self, start: u32, end: u32) -> u32 {
        let units = |byte: &u8| u32::from(byte & 0xc0 != 0x80) + u32::from(*byte >= 0xf0);
        self.bytes(start, end).iter().map(units).sum()
    }

    /// The next byte; 0 at the end.
    #[must_use]
    pub fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.at == self.text.len()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek() == byte).then(|| self.at += 1)
    }

    /// A string.
    pub fn string(&mut self) -> Option<Text<'t>> {
        let (quotes, rest) = self.quotes.split_first_chunk()?;
        let text = Text(quotes);
        if text.start() as usize != self.at + 1 {
            return None;
        }
        self.quotes = rest;
        self.at = text.end() as usize + 1;
        Some(text)
    }

    /// A string without escapes: its content is what is written.
    pub fn plain_string(&mut self) -> Option<Text<'t>> {
        self.string().filter(|text| text.escapes() == 0)
    }

    /// An object: `member` is called behind each name and reads the value.
    pub fn object(&mut self, mut member: impl FnMut(&mut Self, Text<'t>) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        if self.take(b'}').is_some() {
            return Some(());
        }
        loop {
            let name = self.string()?;
            self.take(b':')?;
            member(self, name)?;
            if self.take(b',').is_none() {
                return self.take(b'}');
            }
        }
    }

    /// A list: `element` reads each value and is told its index.
    pub fn list(&mut self, mut element: impl FnMut(&mut Self, u32) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        if self.take(b']').is_some() {
            return Some(());
        }
        for index in 0.. {
            element(self, index)?;
            if self.take(b',').is_none() {
                return self.take(b']');
            }
        }
        None
    }

    /// Any value that nobody asks for: JSON, in whatever form, but without blanks.
    pub fn skip(&mut self) -> Option<()> {
        self.skip_at(0)
    }

    fn skip_at(&mut self, depth: u32) -> Option<()> {
        match self.peek() {
            b'"' => self.string().map(drop),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            b'{' if depth < DEEPEST => self.object(|cursor, _| cursor.skip_at(depth + 1)),
            b'[' if depth < DEEPEST => self.list(|cursor, _| cursor.skip_at(depth + 1)),
            _ => self.skip_number(),
        }
    }

    /// Any value, read to its end, in the form in which `JSON.stringify` writes it.
    pub fn value(&mut self) -> Option<Value<'t>> {
        self.value_at(0)
    }

    fn value_at(&mut self, depth: u32) -> Option<Value<'t>> {
        let start = self.at as u32;
        match self.peek() {
            b'"' => return self.string().map(Value::Text),
            b't' => self.word(b"true")?,
            b'f' => self.word(b"false")?,
            b'n' => self.word(b"null")?,
            b'{' if depth < DEEPEST => self.nested_object(depth)?,
            b'[' if depth < DEEPEST => {
                self.list(|cursor, _| cursor.value_at(depth + 1).map(drop))?;
            }
            _ => self.number().map(drop)?,
        }
        Some(Value::Other { start, end: self.at as u32 })
    }

    fn nested_object(&mut self, depth: u32) -> Option<()> {
        let mut names = Names::default();
        self.object(|cursor, name| {
            names.add(cursor, name)?;
            cursor.value_at(depth + 1).map(drop)
        })
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.rest(self.at).starts_with(word).then(|| self.at += word.len())
    }

    /// A number of JSON.
    fn skip_number(&mut self) -> Option<()> {
        if self.natural().is_some() {
            return Some(());
        }
        let byte = |at: usize| self.text.get(at).copied().unwrap_or(0);
        let digits = |begin: usize| {
            let length = self.rest(begin).iter().take_while(|byte| byte.is_ascii_digit()).count();
            (length > 0).then_some(begin + length)
        };
        let mut at = self.at + usize::from(byte(self.at) == b'-');
        at = if byte(at) == b'0' { at + 1 } else { digits(at)? };
        if byte(at) == b'.' {
            at = digits(at + 1)?;
        }
        if matches!(byte(at), b'e' | b'E') {
            at += 1 + usize::from(matches!(byte(at + 1), b'+' | b'-'));
            at = digits(at)?;
        }
        self.at = at;
        Some(())
    }

    /// A number that JavaScript prints as it stands there.
    pub fn number(&mut self) -> Option<f64> {
        self.natural().or_else(|| self.written_number().and_then(printed_so))
    }

    /// A number such as most are, read in one go.
    fn natural(&mut self) -> Option<f64> {
        let (number, length) = natural(self.rest(self.at))?;
        self.at += length;
        Some(number)
    }

    /// What stands there of the bytes that numbers are made of.
    fn written_number(&mut self) -> Option<&'t [u8]> {
        let rest = self.rest(self.at);
        let length = rest.iter().take_while(|byte| is_numeric(**byte)).count();
        self.at += length;
        rest.get(..length)
    }
}

/// The most names of an object that is read here.
const MOST_NAMES: usize = 24;

/// Names of an object: each once, and none that JavaScript would put before the others.
#[derive(Default)]
pub struct Names {
    /// Where each begins, in bytes.
    seen: [u32; MOST_NAMES],
    count: usize,
    /// A bit for each, by its length and its ends; most names have one of their own.
    marks: u64,
}

impl Names {
    /// A further name; `None` for one that makes an object that has to be read in another way.
    #[inline]
    pub fn add(&mut self, cursor: &Cursor<'_>, name: Text<'_>) -> Option<()> {
        let content = cursor.content(name);
        let (&first, &last) = (content.first()?, content.last()?);
        let mark = 1 << ((u32::from(first) + 19 * u32::from(last) + 3 * content.len() as u32) % 64);
        if first.is_ascii_digit() || (self.marks & mark != 0 && self.has(cursor, content)) {
            return None;
        }
        self.marks |= mark;
        *self.seen.get_mut(self.count)? = name.start();
        self.count += 1;
        Some(())
    }

    #[cold]
    fn has(&self, cursor: &Cursor<'_>, name: &[u8]) -> bool {
        let is_name = |&at: &u32| {
            cursor.rest(at as usize).strip_prefix(name).is_some_and(|rest| rest.starts_with(b"\""))
        };
        self.seen.iter().take(self.count).any(is_name)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cursor, Value};
    use crate::session::index::Index;

    /// Whether all of a text is one value in the strict form.
    fn is_strict(text: &str) -> bool {
        let mut index = Index::default();
        index.fill(text.as_bytes());
        let mut cursor = Cursor::new(text.as_bytes(), 0, text.len(), index.quotes());
        cursor.skip().is_some() && cursor.is_done()
    }

    #[test]
    fn what_it_takes_is_json() {
        for text in [r#"{"a":[1,-2.5e+30,true,null,"x\"y"],"b":{}}"#, "[]", "0", r#""""#, "[[[]]]"] {
            assert!(is_strict(text), "{text}");
            assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_or_has_blanks_is_refused() {
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\"}",
            "{\"a\":}",
            "{,}",
            "[1 ]",
            " 1",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "-",
            "tru",
            "nul",
            "NaN",
            "{\"a\":1,}",
            "[1}",
            "\"a",
            "1 2",
            "[1]]",
            "'a'",
        ] {
            assert!(!is_strict(text), "{text}");
        }
        assert!(!is_strict(&format!("{}{}", "[".repeat(65), "]".repeat(65))), "deeper than it goes");
    }

    #[test]
    fn a_string_knows_its_units_in_both_forms() {
        let text = "[\"a\\n\\u001b\u{e9}\u{1f600}\",7]";
        let mut index = Index::default();
        index.fill(text.as_bytes());
        let mut cursor = Cursor::new(text.as_bytes(), 0, text.len(), index.quotes());
        let mut seen = Vec::new();
        let read = cursor.list(|cursor, at| {
            seen.push((at, cursor.value()?));
            Some(())
        });
        assert!(read.is_some() && cursor.is_done());
        let [(0, Value::Text(string)), (1, Value::Other { start, end })] = seen[..] else {
            panic!("{seen:?}")
        };
        assert_eq!((string.units(), string.quoted()), (6, 2 + 1 + 2 + 6 + 1 + 2));
        assert_eq!(cursor.bytes(start, end), b"7");
    }
}
