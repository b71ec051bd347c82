//! The text of a checkpoint without a fresh summary (ADR 0049; requirements B17 to B20, C13, G19).

use super::files::without_lists;
use super::lines::without_lines;
use crate::plan::edit::TAIL_MARKER;
use crate::plan::shorten::cut_text;

/// Says that a summary is missing; other programs look for it.
pub const NOTICE: &str =
    "[automatic context recovery: older context was omitted after summary generation failed]";
/// Stands where there is no earlier summary; other programs look for it.
const PLACEHOLDER: &str = "No previous context checkpoint is available.";
/// Heads a summary of the range that no model wrote, directly behind the notice.
const EXCERPT: &str = "[picked from the omitted messages without a model]";

/// The earlier summary as a fallback carries it: without what earlier fallbacks added, so that notices never nest.
#[must_use]
pub fn without_notice(summary: &str) -> String {
    let summary = match excerpt_heading(summary) {
        Some(heading) => summary.lines().take(heading).collect::<Vec<_>>().join("\n"),
        None => summary.to_owned(),
    };
    without_frame(&summary)
}

/// The earlier summary as a model gets to see it: what was picked without a model is all that is left of a range.
#[must_use]
pub fn for_a_model(summary: &str) -> String {
    let mut summary = summary.to_owned();
    while let Some(heading) = excerpt_heading(&summary) {
        let others = summary.lines().enumerate().filter(|(line, _)| *line != heading).map(|(_, line)| line);
        summary = others.collect::<Vec<_>>().join("\n");
    }
    without_frame(&summary)
}

/// The line that heads an excerpt: behind a notice, blank lines aside. The same words elsewhere are somebody's own.
fn excerpt_heading(summary: &str) -> Option<usize> {
    let shown = summary.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty());
    let mut after_notice = false;
    for (at, line) in shown {
        if after_notice && line == EXCERPT {
            return Some(at);
        }
        after_notice = line == NOTICE;
    }
    None
}

fn without_frame(summary: &str) -> String {
    let unframed = without_lines(summary, |line| [NOTICE, PLACEHOLDER].contains(&line));
    if unframed.contains(NOTICE) { unframed.replace(NOTICE, "").trim().to_owned() } else { unframed }
}

/// The text of a fallback: what is carried in at most `most` UTF-16 units, the notice, and what was picked from the
/// range, if anything was.
#[must_use]
pub fn text(carried: &str, most: usize, picked: Option<&str>) -> String {
    let carried = if carried.is_empty() { PLACEHOLDER.to_owned() } else { bounded(carried, most) };
    // The range may hold an earlier fallback's text.
    let own = |picked: &str| picked.replace(NOTICE, "").replace(EXCERPT, "");
    let picked = picked.map(|picked| format!("\n\n{EXCERPT}\n\n{}", own(picked))).unwrap_or_default();
    format!("{carried}\n\n{NOTICE}{picked}")
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
