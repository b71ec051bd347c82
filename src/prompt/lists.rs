//! The lists of files at the end of a checkpoint.

/// Around the paths of files that were read.
pub const READ: (&str, &str) = ("<read-files>\n", "\n</read-files>");
/// Around the paths of files that were changed.
pub const MODIFIED: (&str, &str) = ("<modified-files>\n", "\n</modified-files>");

/// The summary without the lists that end it. What stands between two such tags elsewhere is somebody's words.
#[must_use]
pub fn without_lists(summary: &str) -> &str {
    let mut words = summary;
    while let Some(shorter) = [READ, MODIFIED].iter().find_map(|tags| without_last(words, *tags)) {
        words = shorter;
    }
    words
}

fn without_last<'t>(text: &'t str, (before, after): (&str, &str)) -> Option<&'t str> {
    let listed = text.trim_end().strip_suffix(after.trim_start())?;
    let start = listed.rfind(before.trim_end())?;
    text.get(..start).map(str::trim_end)
}
