//! The text of a checkpoint without a fresh summary (ADR 0049; requirements B17 to B20, C13).

use crate::plan::edit::TAIL_MARKER;
use crate::plan::shorten::cut_text;
use crate::prompt::lists::without_lists;
use crate::prompt::notice::{EXCERPT, NOTICE, PLACEHOLDER};

/// The text of a fallback: what is carried in at most `most` UTF-16 units, the notice, and what was picked from the
/// range, if anything was.
#[must_use]
pub fn text(carried: &str, most: usize, picked: Option<&str>) -> String {
    let carried = if carried.is_empty() { PLACEHOLDER.to_owned() } else { bounded(carried, most) };
    let picked = picked.map(|picked| format!("\n\n{EXCERPT}\n\n{}", harmless(picked))).unwrap_or_default();
    format!("{carried}\n\n{NOTICE}{picked}")
}

/// Lines of a fallback inside what was picked, made other lines of the same length: nothing is joined by that.
fn harmless(picked: &str) -> String {
    [NOTICE, EXCERPT, PLACEHOLDER].iter().fold(picked.to_owned(), |text, line| {
        let rest = line.get(1..).unwrap_or_default();
        text.replace(line, &format!("({rest}"))
    })
}

/// A summary in at most `most` UTF-16 units. Its words are cut, and its file lists stay whole or go: a path that is
/// cut in two names no file.
fn bounded(summary: &str, most: usize) -> String {
    let units = |text: &str| text.encode_utf16().count();
    if units(summary) <= most {
        return summary.to_owned();
    }
    let words = without_lists(summary);
    let lists = summary
        .get(words.trim_end().len()..)
        .filter(|lists| summary.starts_with(words.trim_end()) && units(lists) <= most / 2);
    let lists = lists.unwrap_or_default();
    let words: Vec<u16> = words.encode_utf16().collect();
    let room = most - units(lists);
    if words.len() <= room {
        return String::from_utf16_lossy(&words) + lists;
    }
    String::from_utf16_lossy(&cut_text(&words, room, TAIL_MARKER)) + lists
}
