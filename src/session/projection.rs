//! The newest branch as the messages that pi would send.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use super::entry::{Entry, Id, Kind};
use super::json::{Members, number, text};
use super::message::{branch_summary, custom_message, edited, sent};
use super::scan::{Scanned, Skipped, scan_file};
use super::tree::{Branch, Gap};
use crate::error::Result;

/// A message of the context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextMessage {
    /// JSON text of the message.
    pub json: String,
    /// JSON text of the id of the entry it came from; `None` in version 1, which has no ids.
    pub id: Option<String>,
}

/// The checkpoint that a context carries on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Previous {
    /// JSON text of the summary, a string.
    pub summary: Option<String>,
    /// JSON text of its details, an object.
    pub details: Option<String>,
    /// Size of the context that it replaced, in tokens.
    pub tokens_before: Option<f64>,
}

/// What a session's newest branch puts before the model.
#[derive(Debug, Default)]
pub struct SessionContext {
    /// In order: what the latest compaction kept, then what followed it. Its summary is in `previous` instead.
    pub messages: Vec<ContextMessage>,
    /// The latest compaction, unless an edit took it out.
    pub previous: Option<Previous>,
    /// Messages at the start whose usage reports speak of another context: from before the latest compaction or edit.
    pub stale: usize,
    /// Whether the branch ends in a compaction.
    pub ends_in_compaction: bool,
    /// Where the branch begins, when it does so too late.
    pub gap: Option<Gap>,
    /// Lines that could not be used, in file order.
    pub skipped: Vec<Skipped>,
}

impl SessionContext {
    /// Reads a session file.
    ///
    /// # Errors
    /// `session_file` when it cannot be read or holds no entry of a session.
    pub fn read(path: &Path) -> Result<Self> {
        let mut scanned = scan_file(path)?;
        if !scanned.entries.iter().any(|entry| entry.kind == Kind::Session) {
            scanned.skip(1, "no session header in the file; read without it");
            scanned.skipped.sort_by_key(|skipped| skipped.line);
        }
        Ok(Self::of(scanned))
    }

    pub(super) fn of(mut scanned: Scanned) -> Self {
        let skipped = std::mem::take(&mut scanned.skipped);
        let branch = Branch::newest(&scanned);
        let projection = Projection::new(&branch);
        let (messages, stale) = projection.messages();
        Self {
            messages,
            previous: projection.previous(),
            stale,
            ends_in_compaction: branch.path.last().is_some_and(|entry| entry.kind == Kind::Compaction),
            gap: branch.gap,
            skipped,
        }
    }
}

struct Projection<'s> {
    branch: &'s Branch<'s>,
    compaction: Option<&'s Entry>,
    /// Entries of the context in order with their places on the path, the compaction left out.
    context: Vec<(usize, &'s Entry)>,
    /// The latest edit of each entry.
    edits: HashMap<Id, &'s Entry>,
}

impl<'s> Projection<'s> {
    fn new(branch: &'s Branch<'s>) -> Self {
        let at = branch.compaction();
        let compaction = at.and_then(|at| branch.path.get(at).copied());
        let context = at.map_or_else(|| placed(branch).collect(), |at| kept_and_later(branch, at));
        let edits = context.iter().filter(|(_, entry)| entry.kind == Kind::ContextEdit && !branch.linear);
        let target = |entry: &Entry| text(entry.members()?.get("targetId")?).map(|id| Id::from(&*id));
        let edits = edits.filter_map(|(_, entry)| Some((target(entry)?, *entry))).collect();
        Self { branch, compaction, context, edits }
    }

    /// The messages, and how many at the start are stale.
    fn messages(&self) -> (Vec<ContextMessage>, usize) {
        let mut messages = Vec::new();
        messages.extend(self.compaction.and_then(|entry| self.prompt_state(entry)));
        let boundary = |entry: &Entry| matches!(entry.kind, Kind::Compaction | Kind::ContextEdit);
        let last = self.branch.path.iter().rposition(|entry| boundary(entry));
        let mut stale = messages.len();
        for (at, entry) in &self.context {
            messages.extend(self.message(entry).map(|json| ContextMessage { json, id: self.id(entry) }));
            if Some(*at) <= last {
                stale = messages.len();
            }
        }
        (messages, stale)
    }

    fn previous(&self) -> Option<Previous> {
        let entry = self.compaction.filter(|entry| !self.is_omitted(entry))?;
        let members = entry.members()?;
        let given =
            |name, first| members.get(name).filter(|value| value.starts_with(first)).map(str::to_owned);
        Some(Previous {
            summary: given("summary", '"'),
            details: given("details", '{'),
            tokens_before: members.get("tokensBefore").and_then(number),
        })
    }

    /// The system message that a compaction carries: prompt and tools as they were then.
    fn prompt_state(&self, compaction: &Entry) -> Option<ContextMessage> {
        let members = compaction.members().filter(|_| !self.is_omitted(compaction))?;
        let json = members.get("systemMessage").filter(|value| value.starts_with('{'))?;
        Some(ContextMessage { json: json.to_owned(), id: self.id(compaction) })
    }

    /// JSON text of an entry's id as pi would have it after reading the file.
    fn id(&self, entry: &Entry) -> Option<String> {
        let id = entry.id.as_ref().filter(|_| !self.branch.linear)?;
        // Lone surrogates have no UTF-8; such an id stays as it was written.
        let plain = std::str::from_utf8(id).ok().and_then(|id| serde_json::to_string(id).ok());
        plain.or_else(|| entry.members()?.get("id").map(str::to_owned))
    }

    fn edit(&self, entry: &Entry) -> Option<Members<'s>> {
        let id = entry.id.as_ref().filter(|_| !self.branch.linear)?;
        self.edits.get(id)?.members()
    }

    fn is_omitted(&self, entry: &Entry) -> bool {
        self.edit(entry).is_some_and(|edit| edit.get("replacement") == Some("null"))
    }

    fn message(&self, entry: &Entry) -> Option<String> {
        let members = entry.members()?;
        let json = match entry.kind {
            Kind::Message => sent(members.get("message")?, self.branch.hook_role)?,
            Kind::CustomMessage => Cow::Owned(custom_message(&members)),
            Kind::BranchSummary => Cow::Owned(branch_summary(&members)?),
            _ => return None,
        };
        match self.edit(entry).and_then(|edit| edit.get("replacement")) {
            None => Some(json.into_owned()),
            Some("null") => None,
            Some(replacement) => Some(edited(&json, replacement)),
        }
    }
}

fn placed<'s>(branch: &Branch<'s>) -> impl Iterator<Item = (usize, &'s Entry)> {
    branch.path.iter().copied().enumerate()
}

/// What stays of a branch with a compaction: entries from the first kept one, then all after the compaction. System
/// messages do not stay; the compaction carries their sum.
fn kept_and_later<'s>(branch: &Branch<'s>, at: usize) -> Vec<(usize, &'s Entry)> {
    let first = branch.path.get(at).and_then(|compaction| branch.first_kept(compaction)).unwrap_or(at);
    let kept = |(place, entry): &(usize, &Entry)| {
        *place > at || (*place >= first && *place < at && !is_system(entry))
    };
    placed(branch).filter(kept).collect()
}

fn is_system(entry: &Entry) -> bool {
    let system =
        |members: Members<'_>| Members::parse(members.get("message")?).ok().map(|it| it.is("role", "system"));
    entry.kind == Kind::Message && entry.members().and_then(system).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::scan::{LONGEST_LINE, scan};
    use super::*;

    fn context(lines: &[&str]) -> SessionContext {
        SessionContext::of(scan(lines.join("\n").as_bytes(), LONGEST_LINE).unwrap())
    }

    fn messages(context: &SessionContext) -> Vec<&str> {
        context.messages.iter().map(|message| message.json.as_str()).collect()
    }

    #[test]
    fn version_one_counts_lines_with_the_header() {
        let found = context(&[
            r#"{"type":"session","id":"s"}"#,
            r#"{"type":"message","message":{"content":"a"}}"#,
            "not json",
            r#"{"type":"message","message":{"content":"b"}}"#,
            r#"{"type":"compaction","summary":"S\ud83d","firstKeptEntryIndex":2,"tokensBefore":7,"details":{"readFiles":["f"]}}"#,
            r#"{"type":"message","message":{"content":"c"}}"#,
        ]);
        assert_eq!(messages(&found), [r#"{"content":"b"}"#, r#"{"content":"c"}"#]);
        assert_eq!((found.stale, found.ends_in_compaction), (1, false));
        let previous = found.previous.unwrap();
        assert_eq!(previous.summary.as_deref(), Some(r#""S\ud83d""#));
        assert_eq!(previous.details.as_deref(), Some(r#"{"readFiles":["f"]}"#));
        assert_eq!(previous.tokens_before, Some(7.0));
    }

    #[test]
    fn an_edit_can_take_out_a_compaction() {
        let found = context(&[
            r#"{"type":"session","version":3,"id":"s"}"#,
            r#"{"type":"message","id":"a","message":{"role":"user","content":"a"}}"#,
            r#"{"type":"compaction","id":"b","parentId":"a","summary":"S","firstKeptEntryId":"a","systemMessage":{"role":"system"}}"#,
            r#"{"type":"context_edit","id":"c","parentId":"b","targetId":"b","replacement":null}"#,
        ]);
        assert_eq!(messages(&found), [r#"{"role":"user","content":"a"}"#]);
        assert_eq!((found.previous, found.stale), (None, 1));
    }

    proptest! {
        #[test]
        fn no_file_is_too_odd(lines in prop::collection::vec(odd_line(), 0..12)) {
            let bytes = lines.join(&b"\n"[..]);
            let found = SessionContext::of(scan(bytes.as_slice(), 2_000).unwrap());
            for message in &found.messages {
                prop_assert!(Members::parse(&message.json).is_ok());
            }
        }
    }

    fn odd_line() -> impl Strategy<Value = Vec<u8>> {
        let kind = "session|message|compaction|branch_summary|custom_message|context_edit|label";
        let entry = (kind, "[ab]|", "[ab]|", -1..9_i32).prop_map(|(kind, id, parent, number)| {
            let rest = format!(r#""message":{{"role":"user"}},"summary":"S","firstKeptEntryIndex":{number}"#);
            let links = format!(r#""id":"{id}","parentId":"{parent}","targetId":"a","firstKeptEntryId":"b""#);
            let more = format!(r#""version":{number},"replacement":{{"content":[]}},{rest}"#);
            format!(r#"{{"type":"{kind}",{links},{more}}}"#).into_bytes()
        });
        prop_oneof![5 => entry, 1 => prop::collection::vec(any::<u8>(), 0..40)]
    }
}
