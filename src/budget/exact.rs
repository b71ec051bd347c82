//! The guard's verdict by exact tokens: the same texts, counted (requirements A40 to A42, G15, G16).

use std::sync::Arc;

use super::window::{PROMPT_MARGIN, PromptLimit};
use crate::prompt::build::{Prompts, Template};
use crate::tokens::exact::{Count, Encoding};
use crate::transcript::serialize::Dialect;

/// What is to be summarized, by its texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SummaryTexts {
    /// The serialized history.
    pub history: String,
    /// The serialized beginning of a split turn; empty when no turn is split.
    pub prefix: String,
    /// The previous summary.
    pub previous: String,
}

/// One summary request: its texts, and the words around them.
struct Request {
    texts: Vec<String>,
    words: [String; 2],
}

/// The question whether a request of some texts would reach the limit, answered step by step.
pub struct ExactGuard {
    encoding: Arc<Encoding>,
    limit: u64,
    waiting: Vec<Request>,
    /// The request that is being counted, and the tokens with which its texts are too many.
    current: Option<(Count, u64)>,
}

impl ExactGuard {
    /// Asks about some texts.
    #[must_use]
    pub fn new(encoding: Arc<Encoding>, texts: SummaryTexts, prompts: &Prompts, limit: PromptLimit) -> Self {
        let SummaryTexts { history, prefix, previous } = texts;
        let mut waiting = Vec::new();
        if !prefix.is_empty() {
            waiting.push(Request { texts: vec![prefix], words: words(prompts, Template::TurnPrefix, false) });
        }
        let words = words(prompts, Template::history(previous.len()), !previous.is_empty());
        waiting.push(Request { texts: vec![history, previous], words });
        Self { encoding, limit: limit.tokens, waiting, current: None }
    }

    /// Counts some way further. Whether a request would reach the limit; `None` while it is not known.
    pub fn step(&mut self) -> Option<bool> {
        loop {
            let Some((count, enough)) = &mut self.current else {
                let Some(request) = self.waiting.pop() else { return Some(false) };
                self.current = Some(self.begin(request));
                continue;
            };
            match count.reaches(*enough) {
                Some(true) => return Some(true),
                Some(false) => self.current = None,
                None => {
                    count.step();
                    return None;
                }
            }
        }
    }

    /// The margin pays for the words around the text; only what they need beyond it counts (requirements G16).
    fn begin(&self, Request { texts, words }: Request) -> (Count, u64) {
        let around: u64 = words.iter().map(|words| self.encoding.count(words)).sum();
        let enough = self.limit.saturating_sub(around.saturating_sub(PROMPT_MARGIN));
        (Count::new(Arc::clone(&self.encoding), texts), enough)
    }
}

/// System prompt, and the user message without a text.
fn words(prompts: &Prompts, instructions: Template, carries_previous: bool) -> [String; 2] {
    let previous = carries_previous.then_some("");
    let message = prompts.user_message(&[], Dialect::default(), previous, instructions);
    [prompts.text(Template::System).to_owned(), String::from_utf16_lossy(&message)]
}
