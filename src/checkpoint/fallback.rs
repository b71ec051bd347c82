//! The text of a checkpoint without a fresh summary (ADR 0049; requirements B17 to B20, C13, G19).

use super::lines::without_lines;
use crate::plan::edit::TAIL_MARKER;
use crate::plan::shorten::cut_text;

/// Says that a summary is missing; other programs look for it.
pub const NOTICE: &str =
    "[automatic context recovery: older context was omitted after summary generation failed]";
/// Stands where there is no earlier summary; other programs look for it.
const PLACEHOLDER: &str = "No previous context checkpoint is available.";
/// Heads a summary of the range that no model wrote.
const EXCERPT: &str = "[picked from the omitted messages without a model]";

/// The earlier summary as a fallback carries it: without what earlier fallbacks added, so that notices never nest.
#[must_use]
pub fn without_notice(summary: &str) -> String {
    let lines: Vec<&str> = summary.split_inclusive('\n').collect();
    let Some(heading) = lines.iter().position(|line| line.trim() == EXCERPT) else {
        return for_a_model(summary);
    };
    for_a_model(lines.get(..heading).unwrap_or_default().concat().trim_end())
}

/// The earlier summary as a model gets to see it: what was picked without a model is all that is left of a range.
#[must_use]
pub fn for_a_model(summary: &str) -> String {
    let unframed = without_lines(summary, |line| [NOTICE, PLACEHOLDER, EXCERPT].contains(&line));
    if unframed.contains(NOTICE) { unframed.replace(NOTICE, "").trim().to_owned() } else { unframed }
}

/// The text of a fallback: the earlier summary in at most `most` UTF-16 units, the notice, and what was picked from
/// the range, if anything was.
#[must_use]
pub fn text(earlier: &str, most: usize, picked: Option<&str>) -> String {
    let carried = without_notice(earlier);
    let units: Vec<u16> = carried.encode_utf16().collect();
    let carried = match units.len() {
        0 => PLACEHOLDER.to_owned(),
        length if length <= most => carried,
        _ => String::from_utf16_lossy(&cut_text(&units, most, TAIL_MARKER)),
    };
    let picked = picked.map(|picked| format!("\n\n{EXCERPT}\n\n{picked}")).unwrap_or_default();
    format!("{carried}\n\n{NOTICE}{picked}")
}
