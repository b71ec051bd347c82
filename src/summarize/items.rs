//! A transcript as labelled items: who said or did what, without the bodies of tool results.

use std::collections::HashMap;

use super::extractive::{Item, Kind};
use crate::plan::turns::{answered, calls};
use crate::prompt::frame::words;
use crate::transcript::part::{Message, Part, Role, Tag};

/// Arguments that say best what a call is about, best first.
const TELLING: [&str; 7] = ["command", "path", "file_path", "pattern", "query", "url", "name"];

/// The items of all messages, in order.
#[must_use]
pub fn items(range: &[Message<'_>]) -> Vec<Item> {
    let mut found = Vec::new();
    // Where the call of each id stands among the items, so that its result can be noted there.
    let mut open: HashMap<usize, usize> = HashMap::new();
    for message in range {
        match message.role() {
            Role::User | Role::Custom => found.push(said(Kind::Request, "user", message, Tag::Text)),
            Role::Assistant => assistant(message, &mut found, &mut open),
            Role::ToolResult => result(message, &mut found, &open),
            Role::Bash if !message.is_excluded() => found.push(bash(message)),
            Role::BranchSummary | Role::CompactionSummary => {
                let summary = said(Kind::Summary, "summary", message, Tag::Summary);
                found.push(Item { text: words(&summary.text), ..summary });
            }
            Role::Bash | Role::System | Role::Unknown => {}
        }
    }
    found
}

fn said(kind: Kind, label: &str, message: &Message<'_>, tag: Tag) -> Item {
    let parts = message.parts_of(tag).filter(Part::is_shown);
    let text = parts.map(|part| text(message, &part)).collect::<Vec<_>>().join("\n");
    Item { kind, label: label.to_owned(), text }
}

fn text(message: &Message<'_>, part: &Part) -> String {
    String::from_utf16_lossy(message.text(part))
}

fn assistant(message: &Message<'_>, found: &mut Vec<Item>, open: &mut HashMap<usize, usize>) {
    let spoken = said(Kind::Answer, "assistant", message, Tag::Text);
    if !spoken.text.trim().is_empty() {
        found.push(spoken);
    }
    let first = found.len();
    found.extend(call_items(message, Tag::Call));
    open.extend(calls(message).zip(first..));
}

/// The calls of one kind in a message: name, and the argument that says most.
fn call_items(message: &Message<'_>, tag: Tag) -> Vec<Item> {
    let mut found: Vec<(Item, usize)> = Vec::new();
    let mut key = String::new();
    for part in message.parts().filter(Part::is_shown) {
        match part.tag {
            _ if part.tag == tag => {
                let label = text(message, &part);
                found.push((Item { kind: Kind::Call, label, text: String::new() }, usize::MAX));
            }
            Tag::Key => key = text(message, &part),
            Tag::Quoted => {
                let rank = TELLING.iter().position(|telling| *telling == key).unwrap_or(TELLING.len());
                if let Some((call, best)) = found.last_mut().filter(|(_, best)| rank < *best) {
                    (call.text, *best) = (text(message, &part), rank);
                }
            }
            _ => {}
        }
    }
    found.into_iter().map(|(item, _)| item).collect()
}

/// A result says how its call ended, never what it printed (requirements E63).
fn result(message: &Message<'_>, found: &mut Vec<Item>, open: &HashMap<usize, usize>) {
    found.extend(call_items(message, Tag::NestedCall));
    let call = answered(message).and_then(|id| open.get(&id)).and_then(|&at| found.get(at));
    let label = call.map_or_else(|| "tool".to_owned(), Item::title);
    if message.is_error() {
        let printed = said(Kind::Failure, &label, message, Tag::Text);
        found.push(Item { text: outcome(&printed.text), ..printed });
    } else {
        found.push(Item { kind: Kind::Success, label, text: String::new() });
    }
}

fn bash(message: &Message<'_>) -> Item {
    let command = said(Kind::Call, "", message, Tag::Command).text;
    let label = format!("bash `{command}`");
    let code = message.parts_of(Tag::ExitCode).next();
    match code {
        _ if message.is_cancelled() => Item { kind: Kind::Failure, label, text: "cancelled".to_owned() },
        Some(code) => {
            Item { kind: Kind::Failure, label, text: format!("exit code {}", text(message, &code)) }
        }
        None => Item { kind: Kind::Success, label, text: String::new() },
    }
}

/// How a failed call ended, from the line that pi's tools close with.
fn outcome(printed: &str) -> String {
    let last = printed.trim_end().lines().next_back().unwrap_or_default();
    match last.strip_prefix("Command ") {
        Some(ending) if ending == "aborted" || ending.starts_with("exited with code ") => ending.to_owned(),
        Some(ending) if ending.starts_with("timed out") => "timed out".to_owned(),
        _ => "failed".to_owned(),
    }
}
