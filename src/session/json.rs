//! JSON objects as borrowed pieces of text.
//!
//! serde's strings refuse what `JSON.parse` accepts: escapes of lone surrogates, and with derived structs duplicate
//! members, of which the last counts. So members stay text, and a string is decoded only where its content decides.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

/// Why a text is no object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoObject {
    /// The text ends inside a value.
    CutOff,
    /// The text breaks JSON's grammar.
    NoJson,
    /// JSON, but a list, a string, a number, a boolean or null.
    OtherValue,
}

/// The members of an object in file order, names and values as they were written.
#[derive(Debug, Clone)]
pub struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Parses the text of an object of any depth.
    ///
    /// # Errors
    /// When the text is not one JSON object.
    pub fn parse(text: &'a str) -> Result<Self, NoObject> {
        serde_json::from_str(text).map_err(|error| match error.classify() {
            Category::Eof => NoObject::CutOff,
            // Refused at its first byte: whether the rest is JSON has to be looked at.
            Category::Data => match serde_json::from_str::<IgnoredAny>(text) {
                Ok(_) => NoObject::OtherValue,
                Err(error) if error.classify() == Category::Eof => NoObject::CutOff,
                Err(_) => NoObject::NoJson,
            },
            Category::Syntax | Category::Io => NoObject::NoJson,
        })
    }

    /// The value that JavaScript would see: the last member of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a str> {
        let named = |(key, _): &&(&RawValue, &RawValue)| is_text(key.get(), name);
        self.0.iter().rev().find(named).map(|(_, value)| value.get())
    }

    /// Like [`Members::get`], but null counts as absent.
    #[must_use]
    pub fn present(&self, name: &str) -> Option<&'a str> {
        self.get(name).filter(|value| *value != "null")
    }

    /// Whether a member is the given string.
    #[must_use]
    pub fn is(&self, name: &str, expected: &str) -> bool {
        self.get(name).is_some_and(|value| is_text(value, expected))
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Members(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

/// The content of a JSON string as bytes: UTF-8, where a lone surrogate stands as its own three bytes, so that
/// contents are equal when JavaScript's strings are. `None` for any other value.
#[must_use]
pub fn text(value: &str) -> Option<Cow<'_, [u8]>> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner.as_bytes()));
    }
    serde_json::from_str::<Bytes>(value).ok().map(|Bytes(bytes)| Cow::Owned(bytes))
}

/// Whether a JSON value is the given string.
#[must_use]
pub fn is_text(value: &str, expected: &str) -> bool {
    text(value).is_some_and(|content| *content == *expected.as_bytes())
}

/// A JSON number as JavaScript reads it; `None` for any other value and beyond the range of doubles.
#[must_use]
pub fn number(value: &str) -> Option<f64> {
    serde_json::from_str(value).ok()
}

struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Content;
        impl Visitor<'_> for Content {
            type Value = Bytes;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_duplicate_members_counts() {
        let members = Members::parse(r#" {"a":1,"\u0061":{"b":[]} , "c":null} "#).unwrap();
        assert_eq!(members.get("a"), Some(r#"{"b":[]}"#));
        assert_eq!(members.get("c"), Some("null"));
        assert_eq!(members.present("c"), None);
    }

    #[test]
    fn lone_surrogates_depth_and_huge_numbers_are_json() {
        let deep =
            format!(r#"{{"\ud83d":"\udc00","n":1e999,"d":{}{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
        let members = Members::parse(&deep).unwrap();
        assert_eq!(members.get("n"), Some("1e999"));
        assert_eq!(members.get("d").map(str::len), Some(10_000));
    }

    #[test]
    fn strings_are_equal_when_javascripts_are() {
        assert_eq!(text(r#""\ud83d\ude00""#), text("\"\u{1f600}\""));
        assert_ne!(text(r#""\ud83d""#), text(r#""\ud83e""#));
        assert!(text(r#""\ud83d""#).is_some());
        assert_eq!(text("12"), None);
    }

    #[test]
    fn faults_are_told_apart() {
        let fault = |text| Members::parse(text).unwrap_err();
        assert_eq!(fault(r#"{"a":"b"#), NoObject::CutOff);
        assert_eq!(fault(r#"{"a":1"#), NoObject::CutOff);
        assert_eq!(fault(""), NoObject::CutOff);
        assert_eq!(fault("{a:1}"), NoObject::NoJson);
        assert_eq!(fault(r#"{"a":1}{"#), NoObject::NoJson);
        assert_eq!(fault("{\"a\":\"\u{1}\"}"), NoObject::NoJson);
        assert_eq!(fault("[1]"), NoObject::OtherValue);
        assert_eq!(fault("null"), NoObject::OtherValue);
        assert_eq!(fault("\"text\""), NoObject::OtherValue);
    }
}
