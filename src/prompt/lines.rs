//! Lines that a checkpoint is framed with, and that are taken off where it is carried on.

/// The text without the lines that `frames` names, and without the blank ones that they leave; the text itself where
/// there are none.
#[must_use]
pub fn without_lines(text: &str, frames: impl Fn(&str) -> bool) -> String {
    if !text.lines().any(|line| frames(line.trim())) {
        return text.to_owned();
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut after_frame = true;
    for line in text.lines() {
        if frames(line.trim()) {
            while kept.last().is_some_and(|last| last.trim().is_empty()) {
                kept.pop();
            }
            after_frame = true;
        } else if !(after_frame && line.trim().is_empty()) {
            if after_frame && !kept.is_empty() {
                kept.push("");
            }
            kept.push(line);
            after_frame = false;
        }
    }
    while kept.last().is_some_and(|last| last.trim().is_empty()) {
        kept.pop();
    }
    kept.join("\n")
}
