//! Picked lines as the six sections of a checkpoint, within a bound.

use super::extractive::Picked;
use crate::plan::shorten::level;

/// UTF-16 units of one line at most; longer ones end in an ellipsis.
pub(super) const LINE: usize = 300;

/// Which lines stay when not all fit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// The first line and the newest ones.
    FirstAndNewest,
    /// The newest ones.
    Newest,
}

struct Section {
    heading: &'static str,
    keep: Keep,
    lines: Vec<String>,
}

/// The checkpoint's text in at most `most` UTF-16 units, at least its headings.
///
/// `earlier` is the summary that it carries on: lines under headings that it knows join their section ahead of the
/// new ones, the rest is context.
#[must_use]
pub fn render(picked: Picked, earlier: &str, most: usize) -> String {
    let mut sections = sections(picked);
    carry(earlier, &mut sections);
    let headings: usize = sections.iter().map(|section| units(section.heading) + 2).sum();
    let needs: Vec<u64> = sections.iter().map(|section| section.need() as u64).collect();
    let share = level(&needs, most.saturating_sub(headings) as u64);
    let share = usize::try_from(share).unwrap_or(usize::MAX);
    let printed: Vec<String> = sections.iter().map(|section| section.print(share)).collect();
    printed.join("\n").trim_end().to_owned()
}

fn sections(picked: Picked) -> Vec<Section> {
    let section = |heading, keep, lines| Section { heading, keep, lines };
    vec![
        section("## Goal", Keep::FirstAndNewest, picked.goal),
        section("## Constraints", Keep::FirstAndNewest, picked.constraints),
        section("## Progress\n### Done", Keep::Newest, picked.done),
        section("### In progress", Keep::Newest, picked.in_progress),
        section("### Blocked", Keep::Newest, picked.blocked),
        section("## Key Decisions", Keep::Newest, picked.decisions),
        section("## Next Steps", Keep::Newest, picked.next_steps),
        section("## Critical Context", Keep::Newest, picked.context),
    ]
}

/// Sorts the lines of an earlier checkpoint into the sections.
fn carry(earlier: &str, sections: &mut [Section]) {
    const NAMES: [&str; 8] =
        ["goal", "constraint", "done", "in progress", "blocked", "decision", "next", "context"];
    let mut carried: [Vec<String>; 8] = Default::default();
    let mut current = NAMES.len() - 1;
    for line in earlier.lines() {
        if let Some(heading) = line.strip_prefix('#') {
            let heading = heading.to_lowercase();
            current = NAMES.iter().position(|name| heading.contains(name)).unwrap_or(NAMES.len() - 1);
        } else if let Some(lines) = carried.get_mut(current) {
            let line = line.trim().trim_start_matches(['-', '*']).trim();
            if !line.is_empty() && !line.eq_ignore_ascii_case("(none)") {
                lines.push(line.to_owned());
            }
        }
    }
    for (section, mut lines) in sections.iter_mut().zip(carried) {
        lines.retain(|line| !section.lines.contains(line));
        lines.append(&mut section.lines);
        section.lines = lines;
    }
}

impl Section {
    /// Units of all lines.
    fn need(&self) -> usize {
        self.lines.iter().map(|line| units(&bullet(line))).sum::<usize>()
    }

    /// Heading and as many lines as `room` units hold.
    fn print(&self, room: usize) -> String {
        let lines: Vec<String> = self.lines.iter().map(|line| bullet(line)).collect();
        let mut left = room;
        let mut fits = |line: &String| {
            let rest = left.checked_sub(units(line));
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        let first = lines.first().filter(|line| self.keep == Keep::FirstAndNewest && fits(line));
        let newest = lines.get(usize::from(first.is_some())..).unwrap_or_default();
        let mut kept: Vec<&String> = newest.iter().rev().take_while(|line| fits(line)).collect();
        kept.extend(first);
        let body: String = kept.into_iter().rev().map(String::as_str).collect();
        format!("{}\n{body}", self.heading)
    }
}

fn bullet(line: &str) -> String {
    format!("- {}\n", clipped(line, LINE))
}

/// A line of at most `most` units, cut between characters; a cut one ends in an ellipsis.
pub(super) fn clipped(line: &str, most: usize) -> String {
    if units(line) <= most {
        return line.to_owned();
    }
    let Some(mut left) = most.checked_sub(1) else { return String::new() };
    let kept: String = line.chars().take_while(|c| take(&mut left, c.len_utf16())).collect();
    format!("{}…", kept.trim_end())
}

/// Takes units of what is left, where it holds them.
pub(super) fn take(left: &mut usize, units: usize) -> bool {
    let rest = left.checked_sub(units);
    *left = rest.unwrap_or(0);
    rest.is_some()
}

pub(super) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}
