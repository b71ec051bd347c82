//! A session file becomes a context.

use std::path::Path;
use std::sync::Arc;

use super::entry::{Id, Kind};
use super::file::{Identity, Session, fault, is_gathered};
use super::projection::{Item, Projection, Shows};
use super::scan::Scanned;
use super::skipped::SkippedLines;
use super::tree::{Branch, Gap};
use crate::error::Result;
use crate::transcript::resident::{Elsewhere, Resident};

/// The context of a branch, and what is known of it.
pub struct Opened {
    /// Its messages, by their places.
    pub session: Arc<Session>,
    /// The transcript of them, without those that are odd.
    pub resident: Resident,
    /// Those that have to be built of their lines in another way.
    pub odd: Vec<u32>,
    /// The one that is the summary of the latest compaction.
    pub summary: Option<u32>,
    /// Messages at the start whose usage reports speak of another context.
    pub stale: u32,
    /// Whether the branch ends in a compaction.
    pub ends_in_compaction: bool,
    /// Whether entries have no ids.
    pub linear: bool,
    /// Whether extension messages still have the role `hookMessage`.
    pub hook_role: bool,
    /// Where the branch begins too late.
    pub gap: Option<Gap>,
    /// Lines that could not be used.
    pub skipped: SkippedLines,
}

impl Opened {
    /// The context of a leaf, else of the newest entry.
    ///
    /// # Errors
    /// `session_file` for a file that is no session, and for a leaf that is not in it.
    pub fn of(path: &Path, identity: Identity, mut scanned: Scanned, leaf: Option<Id>) -> Result<Self> {
        refuse_empty(path, &identity, &scanned)?;
        if !identity.still_holds(path) {
            return Err(fault(path, "changed while it was read; open it again"));
        }
        let Some(branch) = Branch::of(&scanned, leaf) else {
            return Err(fault(path, "no entry with the id of leafId; give the id of an entry in the file"));
        };
        let projection = Projection::of(&branch);
        let items = &projection.items;
        let places = (0..).zip(items);
        let gathered = |item: &Item| {
            scanned.entries.get(item.entry as usize).filter(|entry| is_gathered(*item, entry.body))
        };
        let odd = places.clone().filter(|(_, item)| gathered(item).is_none());
        let odd = odd.map(|(place, _)| place).collect();
        let sizes = items.iter().map(|item| gathered(item).map(|entry| entry.sizes).unwrap_or_default());
        let sizes: Vec<_> = sizes.collect();
        let summary = places.clone().find(|(_, item)| item.shows == Shows::Summary).map(|(place, _)| place);
        let (linear, hook_role, gap) = (branch.linear, branch.hook_role, branch.gap);
        let has_header = scanned.entries.iter().any(|entry| entry.kind == Kind::Session);
        let mut skipped = std::mem::take(&mut scanned.skipped);
        let session = Arc::new(Session::new(path.to_owned(), identity, scanned, items));
        let resident = Resident::of(Arc::clone(&session) as Arc<dyn Elsewhere>, &sizes);
        if !has_header {
            skipped.put_first(1, "no session header in the file; read without it");
        }
        Ok(Self {
            session,
            resident,
            odd,
            summary,
            stale: projection.stale as u32,
            ends_in_compaction: projection.ends_in_compaction,
            linear,
            hook_role,
            gap,
            skipped,
        })
    }
}

fn refuse_empty(path: &Path, identity: &Identity, scanned: &Scanned) -> Result<()> {
    let has = |wanted: fn(Kind) -> bool| scanned.entries.iter().any(|entry| wanted(entry.kind));
    let has_header = has(|kind| kind == Kind::Session);
    let has_more = has(|kind| kind != Kind::Session) || scanned.skipped.count() > 0;
    if (has_header && has_more) || has(|kind| !matches!(kind, Kind::Session | Kind::Unknown)) {
        return Ok(());
    }
    Err(fault(
        path,
        if identity.size == 0 {
            "empty; give the path of a session that pi has written to"
        } else if has_header {
            "a session without entries; say something in it first"
        } else {
            "no pi session: none of its lines is an entry of one; give the path of a session's .jsonl file"
        },
    ))
}
