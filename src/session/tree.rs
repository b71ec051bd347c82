//! The newest branch of a session: from its last entry back to the root.

use std::collections::HashMap;

use super::entry::{Entry, Kind};
use super::json::number;
use super::scan::Scanned;

/// The first version whose entries name themselves and their parents.
const TREE_VERSION: f64 = 2.0;
/// The first version whose extension messages have the role `custom`.
const CUSTOM_ROLE_VERSION: f64 = 3.0;

/// Where a branch begins although its first entry names a parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Line of the first entry, from 1.
    pub line: u64,
    /// Why nothing before it is read.
    pub reason: &'static str,
}

/// The entries from the root to the newest.
#[derive(Debug)]
pub(super) struct Branch<'s> {
    pub(super) path: Vec<&'s Entry>,
    pub(super) gap: Option<Gap>,
    /// Whether the file is a line of entries without ids.
    pub(super) linear: bool,
    /// Whether extension messages still have the role `hookMessage`.
    pub(super) hook_role: bool,
    entries: &'s [Entry],
}

impl<'s> Branch<'s> {
    pub(super) fn newest(scanned: &'s Scanned) -> Self {
        let entries = scanned.entries.as_slice();
        let version = version(entries);
        let linear = version < TREE_VERSION;
        let (path, gap) = if linear { (line(entries), None) } else { climb(entries) };
        Self { path, gap, linear, hook_role: version < CUSTOM_ROLE_VERSION, entries }
    }

    /// Position on the path of the latest compaction.
    pub(super) fn compaction(&self) -> Option<usize> {
        self.path.iter().rposition(|entry| entry.kind == Kind::Compaction)
    }

    /// Position on the path of the first entry that a compaction keeps, where it names one.
    pub(super) fn first_kept(&self, compaction: &Entry) -> Option<usize> {
        let members = compaction.members()?;
        if self.linear {
            let index = number(members.get("firstKeptEntryIndex")?)?;
            let whole = index.fract() == 0.0 && index >= 0.0;
            let kept = whole.then(|| self.entries.get(index as usize))??;
            return self.path.iter().position(|entry| entry.line == kept.line);
        }
        let id = super::json::text(members.get("firstKeptEntryId")?)?;
        self.path.iter().position(|entry| entry.id.as_deref() == Some(&*id))
    }
}

/// The version that the file states; a file without a header has ids or it has none.
fn version(entries: &[Entry]) -> f64 {
    let header = entries.iter().find(|entry| entry.kind == Kind::Session);
    let named = || entries.iter().any(|entry| entry.id.is_some());
    header.map_or_else(|| if named() { CUSTOM_ROLE_VERSION } else { 1.0 }, Entry::version)
}

fn line(entries: &[Entry]) -> Vec<&Entry> {
    entries.iter().filter(|entry| entry.kind != Kind::Session).collect()
}

/// Follows parents from the last entry. A parent that is not there ends the branch, as in pi; so does an entry that
/// was there before, where pi would not end.
fn climb(entries: &[Entry]) -> (Vec<&Entry>, Option<Gap>) {
    let members = || entries.iter().enumerate().filter(|(_, entry)| entry.kind != Kind::Session);
    // Of entries with one id, the last is the one that others mean.
    let named: HashMap<_, _> = members().filter_map(|(at, entry)| Some((entry.id.as_deref()?, at))).collect();
    let mut seen = vec![false; entries.len()];
    let (mut path, mut next) = (Vec::new(), members().next_back().map(|(at, _)| at));
    let mut gap = None;
    while let Some((at, entry)) = next.and_then(|at| Some((at, entries.get(at)?))) {
        if let Some(mark) = seen.get_mut(at) {
            *mark = true;
        }
        path.push(entry);
        next = entry.parent.as_deref().and_then(|parent| named.get(parent).copied());
        let circle = next.is_some_and(|parent| seen.get(parent) == Some(&true));
        if circle {
            next = None;
        }
        if next.is_none() && entry.parent.is_some() {
            let reason =
                if circle { "its parents lead back to itself" } else { "its parent is not in the file" };
            gap = Some(Gap { line: entry.line, reason });
        }
    }
    path.reverse();
    (path, gap)
}

#[cfg(test)]
mod tests {
    use super::super::scan::{LONGEST_LINE, scan};
    use super::*;

    fn lines(text: &str) -> (Vec<u64>, Option<Gap>) {
        let scanned = scan(text.as_bytes(), LONGEST_LINE).unwrap();
        let branch = Branch::newest(&scanned);
        (branch.path.iter().map(|entry| entry.line).collect(), branch.gap)
    }

    fn entry(id: &str, parent: &str) -> String {
        format!("{{\"type\":\"label\",\"id\":\"{id}\",\"parentId\":{parent}}}\n")
    }

    const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n";

    #[test]
    fn the_newest_leaf_leads() {
        let text = [HEADER, &entry("a", "null"), &entry("b", "\"a\""), &entry("c", "\"a\"")].concat();
        assert_eq!(lines(&text), (vec![2, 4], None));
        let first = entry("a", "\"\"");
        assert_eq!(lines(&[HEADER, &first, &entry("b", "\"a\""), &first].concat()), (vec![4], None));
    }

    #[test]
    fn broken_trees_end() {
        let orphan = [HEADER, &entry("a", "null"), &entry("b", "\"gone\""), &entry("c", "\"b\"")].concat();
        let reason = "its parent is not in the file";
        assert_eq!(lines(&orphan), (vec![3, 4], Some(Gap { line: 3, reason })));
        let circle = [HEADER, &entry("a", "\"b\""), &entry("b", "\"a\""), &entry("c", "\"b\"")].concat();
        let reason = "its parents lead back to itself";
        assert_eq!(lines(&circle), (vec![2, 3, 4], Some(Gap { line: 2, reason })));
        let own = [HEADER, &entry("a", "\"a\"")].concat();
        assert_eq!(lines(&own), (vec![2], Some(Gap { line: 2, reason })));
    }

    #[test]
    fn version_one_is_a_line() {
        let text = "{\"type\":\"session\"}\n{\"type\":\"label\",\"id\":\"x\",\"parentId\":\"gone\"}\n{\"type\":\"usage\"}\n";
        assert_eq!(lines(text), (vec![2, 3], None));
        assert_eq!(lines("{\"type\":\"label\"}\n{\"type\":\"usage\"}\n"), (vec![1, 2], None));
        assert_eq!(lines(&[entry("a", "null"), entry("b", "null")].concat()), (vec![2], None));
    }
}
