//! The files that a session read and changed (requirements D88, C35).

use std::collections::HashSet;

use crate::prompt::lists::{MODIFIED, READ};
use crate::prompt::redact::Secrets;
use crate::transcript::part::{Message, Part, Role, Tag};

/// Paths by what was done to them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileOperations {
    /// Read.
    pub read: HashSet<String>,
    /// Written or edited.
    pub modified: HashSet<String>,
}

impl FileOperations {
    /// The operations as the host knows them.
    #[must_use]
    pub fn known(read: &[String], modified: &[String]) -> Self {
        let paths = |list: &[String]| list.iter().map(|path| one_line(path)).collect();
        Self { read: paths(read), modified: paths(modified) }
    }

    /// The operations of all calls in a range, and those that an earlier checkpoint lists.
    #[must_use]
    pub fn of(range: &[Message<'_>], earlier: &str) -> Self {
        let mut operations = Self { read: listed(earlier, READ), modified: listed(earlier, MODIFIED) };
        for message in range {
            if matches!(message.role(), Role::Assistant | Role::ToolResult) {
                operations.add(message);
            }
        }
        operations
    }

    /// These and others.
    #[must_use]
    pub fn and(mut self, others: &Self) -> Self {
        self.read.extend(others.read.iter().cloned());
        self.modified.extend(others.modified.iter().cloned());
        self
    }

    fn add(&mut self, message: &Message<'_>) {
        let (mut tool, mut key) = (String::new(), String::new());
        for part in message.parts().filter(Part::is_shown) {
            let text = || String::from_utf16_lossy(message.text(&part));
            match part.tag {
                Tag::Call | Tag::NestedCall => tool = text().to_lowercase(),
                Tag::Key => key = text(),
                Tag::Quoted if key == "path" && part.units > "\"\"".len() => self.insert(&tool, &text()),
                _ => {}
            }
        }
    }

    fn insert(&mut self, tool: &str, path: &str) {
        let path = one_line(path);
        match tool {
            "read" => self.read.insert(path),
            "write" | "edit" => self.modified.insert(path),
            _ => false,
        };
    }

    /// Read but not changed, and changed, each in JavaScript's order.
    #[must_use]
    pub fn lists(&self) -> FileLists {
        FileLists {
            read: sorted(self.read.difference(&self.modified)),
            modified: sorted(self.modified.iter()),
        }
    }
}

/// Sorted lists of paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileLists {
    /// Read and not changed.
    pub read: Vec<String>,
    /// Written or edited.
    pub modified: Vec<String>,
}

impl FileLists {
    /// The lists with known secrets masked.
    #[must_use]
    pub fn masked(&self, secrets: &Secrets) -> Self {
        let masked = |paths: &[String]| paths.iter().map(|path| secrets.masked(path)).collect();
        Self { read: masked(&self.read), modified: masked(&self.modified) }
    }

    /// What is appended to a summary; empty when there are no files.
    #[must_use]
    pub fn text(&self) -> String {
        let list = |paths: &[String], (before, after): (&str, &str)| match paths {
            [] => String::new(),
            paths => format!("\n\n{before}{}{after}", paths.join("\n")),
        };
        list(&self.read, READ) + &list(&self.modified, MODIFIED)
    }
}

/// A path that can neither end its line nor close its list.
fn one_line(path: &str) -> String {
    let fenced = path.contains("read-files>") || path.contains("modified-files>");
    path.chars()
        .map(|c| match c {
            _ if c.is_control() => char::REPLACEMENT_CHARACTER,
            '<' if fenced => '\u{2039}',
            _ => c,
        })
        .collect()
}

fn listed(summary: &str, (before, after): (&str, &str)) -> HashSet<String> {
    let list = summary.rsplit_once(before).and_then(|(_, rest)| rest.split_once(after));
    list.map(|(paths, _)| paths.lines().map(str::to_owned).collect()).unwrap_or_default()
}

fn sorted<'p>(paths: impl Iterator<Item = &'p String>) -> Vec<String> {
    let mut sorted: Vec<String> = paths.cloned().collect();
    sorted.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
    sorted
}
