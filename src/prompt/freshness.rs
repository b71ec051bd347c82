//! How old a summary is, around it (requirements D86, D87).

use super::lines::without_lines;

const OPEN: &str = "[Checkpoint";
const SCOPE: &str = ". It covers only the compacted beginning of this session; whatever follows is newer.]";
const CLOSE: &str = "[End of the checkpoint.]";

/// The summary between two lines that say when it was written, where that is known, and what it covers.
#[must_use]
pub fn stamped(summary: &str, written_at: Option<&str>) -> String {
    let of = written_at.map(|time| format!(" of {time}")).unwrap_or_default();
    format!("{OPEN}{of}{SCOPE}\n\n{summary}\n\n{CLOSE}")
}

/// The summary without these lines.
#[must_use]
pub fn unstamped(summary: &str) -> String {
    without_lines(summary, |line| line == CLOSE || (line.starts_with(OPEN) && line.ends_with(SCOPE)))
}
