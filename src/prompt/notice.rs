//! What a fallback adds to a summary, and what is left without it (requirements B19, G19).

use super::lines::without_lines;

/// Says that a summary is missing; other programs look for it.
pub const NOTICE: &str =
    "[automatic context recovery: older context was omitted after summary generation failed]";
/// Stands where there is no earlier summary; other programs look for it.
pub const PLACEHOLDER: &str = "No previous context checkpoint is available.";
/// Heads a summary of the range that no model wrote, directly behind the notice.
pub const EXCERPT: &str = "[picked from the omitted messages without a model]";

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
    if !unframed.contains(NOTICE) {
        return unframed;
    }
    let mut words = unframed;
    while words.contains(NOTICE) {
        words = words.replace(NOTICE, "");
    }
    words.trim().to_owned()
}
