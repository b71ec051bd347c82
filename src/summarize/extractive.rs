//! A summary without a model: picked from labelled items by rule. The same items give the same text.
//!
//! It knows items, not messages, and sections, not how they are printed: [`super::sections`] is one rendering.

use std::collections::{HashMap, HashSet};

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A person's words.
    Request,
    /// A model's words.
    Answer,
    /// A tool call; the text is the argument that says most.
    Call,
    /// A call that worked; the label names it.
    Success,
    /// A call that failed; the text is the reason in a line.
    Failure,
    /// An earlier summary.
    Summary,
}

/// One thing that was said or done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// Who or what: a role, or the name of a tool.
    pub label: String,
    /// The words.
    pub text: String,
}

impl Item {
    /// A call in one line: the tool, and what it was called for.
    #[must_use]
    pub fn title(&self) -> String {
        let about = self.text.lines().next().unwrap_or_default().trim();
        if about.is_empty() { self.label.clone() } else { format!("{} `{about}`", self.label) }
    }
}

/// What was picked, line by line, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Picked {
    /// What the person wants.
    pub goal: Vec<String>,
    /// What the person demands or forbids.
    pub constraints: Vec<String>,
    /// Calls that worked and changed something or proved something.
    pub done: Vec<String>,
    /// What the model said last.
    pub in_progress: Vec<String>,
    /// Calls that failed and did not work later.
    pub blocked: Vec<String>,
    /// Sentences of the model that give reasons.
    pub decisions: Vec<String>,
    /// Sentences of the model about what comes next, and a request that is still open.
    pub next_steps: Vec<String>,
    /// Earlier summaries, and what was looked at.
    pub context: Vec<String>,
}

const DEMANDS: [&str; 12] = [
    "must",
    "never",
    "always",
    "don't",
    "do not",
    "should",
    "only ",
    "without",
    "avoid",
    "prefer",
    "make sure",
    "please keep",
];
const REASONS: [&str; 9] = [
    "because",
    "instead of",
    "decided",
    "rather than",
    "the reason",
    "so that",
    "going with",
    "chose ",
    "root cause",
];
const PLANS: [&str; 8] =
    ["next", "remaining", "todo", "still need", "then i'll", "follow-up", "left to do", "let me"];
/// Tools and commands that only look: what they saw is no progress, and the files are listed anyway.
const LOOKING: [&str; 16] = [
    "read", "grep", "find", "ls", "glob", "search", "cat", "head", "tail", "rg", "wc", "pwd", "which",
    "echo", "tree", "sed",
];
/// Words below which a request says too little to be a goal, where others say more.
const FEW_WORDS: usize = 3;

/// Picks from the items, in their order.
#[must_use]
pub fn pick(items: &[Item]) -> Picked {
    let mut picked = Picked::default();
    // Where the last failure of each call stands among the blocked.
    let mut failed: HashMap<&str, usize> = HashMap::new();
    for item in items {
        match item.kind {
            Kind::Request => request(item, &mut picked),
            Kind::Answer => answer(item, &mut picked),
            Kind::Success => {
                // What works now is blocked no longer; an empty line is dropped at the end.
                if let Some(line) =
                    failed.remove(item.label.as_str()).and_then(|at| picked.blocked.get_mut(at))
                {
                    line.clear();
                }
                success(item, &mut picked);
            }
            Kind::Failure => {
                failed.insert(&item.label, picked.blocked.len());
                picked.blocked.push(format!("{}: {}", item.label, item.text));
            }
            Kind::Summary => picked.context.extend(item.text.lines().map(str::to_owned)),
            Kind::Call => {}
        }
    }
    let telling =
        |line: &String| line.split_whitespace().count() >= FEW_WORDS || line.chars().any(|c| c > '\u{2e7f}');
    if picked.goal.iter().any(telling) {
        picked.goal.retain(telling);
    }
    let last = items.iter().rev().find(|item| matches!(item.kind, Kind::Request | Kind::Answer));
    if let Some(open) = last.filter(|item| item.kind == Kind::Request) {
        picked.next_steps.push(format!("Answer the open request: {}", opening(&open.text)));
    }
    picked.without_repeats()
}

fn request(item: &Item, picked: &mut Picked) {
    picked.goal.push(opening(&item.text));
    picked
        .constraints
        .extend(sentences(&item.text).filter(|sentence| mentions(sentence, &DEMANDS)).map(str::to_owned));
}

fn answer(item: &Item, picked: &mut Picked) {
    picked.in_progress = vec![opening(&item.text)];
    picked
        .decisions
        .extend(sentences(&item.text).filter(|sentence| mentions(sentence, &REASONS)).map(str::to_owned));
    let plans: Vec<String> =
        sentences(&item.text).filter(|s| mentions(s, &PLANS)).map(str::to_owned).collect();
    if !plans.is_empty() {
        picked.next_steps = plans;
    }
}

fn success(item: &Item, picked: &mut Picked) {
    if !only_looks(&item.label) {
        picked.done.push(item.label.clone());
    }
}

/// Whether a call only looks, by its tool or by the command that a shell was called for.
fn only_looks(label: &str) -> bool {
    let (tool, about) = label.split_once(' ').unwrap_or((label, ""));
    let command = about.trim_matches('`');
    // What a shell does first is often to go somewhere.
    let command = command
        .split_once("&& ")
        .filter(|(first, _)| first.starts_with("cd "))
        .map_or(command, |(_, rest)| rest);
    let verb = if tool.eq_ignore_ascii_case("bash") { command } else { tool };
    let verb = verb.split_whitespace().next().unwrap_or_default().to_lowercase();
    LOOKING.contains(&verb.as_str())
}

/// The first paragraph, in one line.
fn opening(text: &str) -> String {
    let lines =
        text.lines().map(str::trim).skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

/// Sentences and lines, without list signs.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| line.split_inclusive(". "))
        .map(|sentence| sentence.trim().trim_start_matches(['-', '*', '#', '>']).trim())
        .filter(|sentence| sentence.len() > 3)
}

fn mentions(sentence: &str, words: &[&str]) -> bool {
    let lower = sentence.to_lowercase();
    words.iter().any(|word| lower.contains(word))
}

impl Picked {
    /// Every line once, where it stood last.
    fn without_repeats(mut self) -> Self {
        for list in self.lists_mut() {
            let mut seen = HashSet::new();
            let mut kept: Vec<String> =
                list.drain(..).rev().filter(|line| !line.is_empty() && seen.insert(line.clone())).collect();
            kept.reverse();
            *list = kept;
        }
        self
    }

    fn lists_mut(&mut self) -> [&mut Vec<String>; 8] {
        [
            &mut self.goal,
            &mut self.constraints,
            &mut self.done,
            &mut self.in_progress,
            &mut self.blocked,
            &mut self.decisions,
            &mut self.next_steps,
            &mut self.context,
        ]
    }
}
