//! Patterns in what providers say.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex_lite::{Captures, Regex};

/// A pattern, compiled at first use. One that does not compile matches nothing, which the tests would see.
pub(super) struct Pattern {
    source: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(super) const fn new(source: &'static str) -> Self {
        Self { source, compiled: OnceLock::new() }
    }

    fn get(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| Regex::new(self.source).ok()).as_ref()
    }

    #[cfg(test)]
    pub(super) fn compiles(&self) -> bool {
        self.get().is_some()
    }

    pub(super) fn is_match(&self, words: &str) -> bool {
        self.get().is_some_and(|pattern| pattern.is_match(words))
    }

    pub(super) fn captures<'w>(&self, words: &'w str) -> Option<Captures<'w>> {
        self.get()?.captures(words)
    }

    pub(super) fn replace_all<'w>(&self, words: &'w str, with: &str) -> Cow<'w, str> {
        self.get().map_or(Cow::Borrowed(words), |pattern| pattern.replace_all(words, with))
    }
}
