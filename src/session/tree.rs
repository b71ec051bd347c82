//! A branch of a session: from one of its entries back to the root.

use hashbrown::HashTable;

use super::entry::{Entry, Facts, Id, Kind};
use super::scan::Scanned;

/// The first version whose entries name themselves and their parents.
const TREE_VERSION: f64 = 2.0;
/// The first version whose extension messages have the role `custom`.
const CUSTOM_ROLE_VERSION: f64 = 3.0;

/// Where a branch begins although its first entry names a parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Line of the first entry, from 1.
    pub line: u32,
    /// Why nothing before it is read.
    pub reason: &'static str,
}

/// The entries from the root to a leaf, by their index in the file.
#[derive(Debug)]
pub struct Branch<'s> {
    /// In order.
    pub path: Vec<u32>,
    /// Where it begins too late.
    pub gap: Option<Gap>,
    /// Whether the file is a line of entries without ids.
    pub linear: bool,
    /// Whether extension messages still have the role `hookMessage`.
    pub hook_role: bool,
    scanned: &'s Scanned,
}

impl<'s> Branch<'s> {
    /// The branch of a leaf, else of the newest entry; `None` where there is no such leaf.
    #[must_use]
    pub fn of(scanned: &'s Scanned, leaf: Option<Id>) -> Option<Self> {
        let version = version(scanned);
        let linear = version < TREE_VERSION;
        let (path, gap) = match (linear, leaf) {
            (true, None) => (members(scanned).map(|(at, _)| at).collect(), None),
            (true, Some(_)) => return None,
            (false, leaf) => climb(scanned, leaf)?,
        };
        Some(Self { path, gap, linear, hook_role: version < CUSTOM_ROLE_VERSION, scanned })
    }

    /// An entry by its index in the file.
    #[must_use]
    pub fn entry(&self, at: u32) -> Option<&'s Entry> {
        self.scanned.entries.get(at as usize)
    }

    /// What is known of an entry that is no plain message.
    #[must_use]
    pub fn facts(&self, at: u32) -> Facts {
        self.scanned.facts.get(&at).copied().unwrap_or_default()
    }

    /// Whether an entry is of a kind.
    #[must_use]
    pub fn is(&self, at: u32, kind: Kind) -> bool {
        self.entry(at).is_some_and(|entry| entry.kind == kind)
    }

    /// Position on the path of the latest compaction.
    #[must_use]
    pub fn compaction(&self) -> Option<usize> {
        self.path.iter().rposition(|&at| self.is(at, Kind::Compaction))
    }

    /// Position on the path of the first entry that a compaction keeps, where it names one.
    #[must_use]
    pub fn first_kept(&self, compaction: u32) -> Option<usize> {
        let facts = self.facts(compaction);
        if self.linear {
            let index = facts.first_kept_line.filter(|index| index.fract() == 0.0 && *index >= 0.0)? as u32;
            return self.path.iter().position(|&at| at == index);
        }
        let kept = facts.first_kept?;
        self.path.iter().position(|&at| self.entry(at).is_some_and(|entry| entry.id == Some(kept)))
    }
}

/// The version that the file states; a file without a header has ids or it has none.
fn version(scanned: &Scanned) -> f64 {
    let header = scanned.entries.iter().position(|entry| entry.kind == Kind::Session);
    let named = || scanned.entries.iter().any(|entry| entry.id.is_some());
    match header {
        Some(at) => scanned.facts.get(&(at as u32)).map_or(1.0, |facts| facts.version),
        None if named() => CUSTOM_ROLE_VERSION,
        None => 1.0,
    }
}

/// All entries but headers, with their indices.
fn members(scanned: &Scanned) -> impl DoubleEndedIterator<Item = (u32, &Entry)> {
    let entries = scanned.entries.iter().enumerate().map(|(at, entry)| (at as u32, entry));
    entries.filter(|(_, entry)| entry.kind != Kind::Session)
}

/// Entries by their ids. Of those with one id, the last is the one that others mean.
struct Named<'s> {
    entries: &'s [Entry],
    table: HashTable<u32>,
}

impl<'s> Named<'s> {
    fn of(scanned: &'s Scanned) -> Self {
        let entries = scanned.entries.as_slice();
        let mut named = Self { entries, table: HashTable::with_capacity(entries.len()) };
        for (at, id) in members(scanned).filter_map(|(at, entry)| Some((at, entry.id?))) {
            if let Some(known) = named.table.find_mut(id.hash(), |known| id_at(entries, *known) == Some(id)) {
                *known = at;
            } else {
                let hash = |known: &u32| id_at(entries, *known).map_or(0, Id::hash);
                named.table.insert_unique(id.hash(), at, hash);
            }
        }
        named
    }

    fn find(&self, id: Id) -> Option<u32> {
        self.table.find(id.hash(), |known| id_at(self.entries, *known) == Some(id)).copied()
    }
}

fn id_at(entries: &[Entry], at: u32) -> Option<Id> {
    entries.get(at as usize)?.id
}

/// Follows parents from a leaf. A parent that is not there ends the branch, as in pi; so does an entry that was there
/// before, where pi would not end.
fn climb(scanned: &Scanned, leaf: Option<Id>) -> Option<(Vec<u32>, Option<Gap>)> {
    let named = Named::of(scanned);
    let mut seen = vec![false; scanned.entries.len()];
    let mut path = Vec::new();
    let mut next = match leaf {
        Some(leaf) => Some(named.find(leaf)?),
        None => members(scanned).next_back().map(|(at, _)| at),
    };
    let mut gap = None;
    while let Some((at, entry)) = next.and_then(|at| Some((at, scanned.entries.get(at as usize)?))) {
        if let Some(mark) = seen.get_mut(at as usize) {
            *mark = true;
        }
        path.push(at);
        next = entry.parent.and_then(|parent| named.find(parent));
        let circle = next.is_some_and(|parent| seen.get(parent as usize) == Some(&true));
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
    Some((path, gap))
}
