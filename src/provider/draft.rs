//! An answer as far as it has come.

use serde_json::Value;

use super::error_body::failure;
use super::trouble::Trouble;
use super::{Answer, Ending, Failure};
use crate::model::Usage;

/// What has been read of an answer.
#[derive(Default)]
pub struct Draft {
    text: String,
    /// The text block that was read last, where blocks are numbered.
    block: Option<u64>,
    thinks: bool,
    calls_tool: bool,
    /// How an answer that ends normally is taken all the same.
    instead: Option<Ending>,
    ending: Option<Ending>,
    failure: Option<Failure>,
    is_over: bool,
    /// What was billed, as far as it was reported.
    pub usage: Option<Usage>,
}

impl Draft {
    /// More text of the only block.
    pub fn write(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// More text of a numbered block; each begins a line of its own.
    pub fn write_block(&mut self, block: u64, text: &str) {
        if self.block.is_some_and(|last| last != block) && !self.text.is_empty() && !text.is_empty() {
            self.text.push('\n');
        }
        if !text.is_empty() {
            self.block = Some(block);
        }
        self.text.push_str(text);
    }

    /// Thinking was seen.
    pub fn think(&mut self) {
        self.thinks = true;
    }

    /// A tool call was seen.
    pub fn call_tool(&mut self) {
        self.calls_tool = true;
    }

    /// Words of a refusal were seen.
    pub fn refuse(&mut self) {
        self.instead = Some(Ending::Refusal);
    }

    /// The answer says how it ended; more may follow, usage above all. What it says first counts, but that an answer
    /// is complete may be taken back.
    pub fn end(&mut self, ending: Ending) {
        if matches!(self.ending, None | Some(Ending::Complete)) {
            self.ending = Some(ending);
        }
    }

    /// Nothing follows.
    pub fn over(&mut self) {
        self.is_over = true;
    }

    /// An answer of all the tokens it was allowed was cut off, whatever it says.
    pub fn suspect_cut(&mut self, allowed: u64) {
        let is_full =
            self.usage.is_some_and(|usage| (allowed..=allowed + 1).contains(&(usage.output as u64)));
        if is_full && self.ending == Some(Ending::Complete) {
            self.ending = Some(Ending::Length);
        }
    }

    /// The provider reports an error in place of an answer.
    pub fn fail(&mut self, event: &Value) {
        self.fail_as(failure(event));
    }

    /// Why there is no answer, by itself.
    pub fn fail_as(&mut self, failure: Failure) {
        self.failure = Some(failure);
        self.is_over = true;
    }

    /// Whether text or thinking has come.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.thinks || !self.text.is_empty()
    }

    /// Whether the answer has said how it ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ending.is_some()
    }

    /// Bytes of text that have come.
    #[must_use]
    pub fn length(&self) -> usize {
        self.text.len()
    }

    /// Whether the provider has reported an error.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Whether nothing follows that matters.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The answer, or why there is none: an error that was reported, else an end before its time.
    ///
    /// # Errors
    /// See above.
    pub fn finish(&mut self) -> Result<Answer, Failure> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let ending = match self.ending.ok_or(Trouble::Cut)? {
            Ending::Complete => self.instead.unwrap_or(Ending::Complete),
            ending => ending,
        };
        let text = std::mem::take(&mut self.text);
        Ok(Answer { text, calls_tool: self.calls_tool, thinks: self.thinks, ending })
    }
}

/// A number of tokens in a report of usage.
pub(super) fn tokens(value: &Value, path: &str) -> Option<f64> {
    value.pointer(path).and_then(Value::as_f64).filter(|tokens| *tokens >= 0.0)
}

/// The text under a path.
pub(super) fn text<'v>(value: &'v Value, path: &str) -> Option<&'v str> {
    value.pointer(path).and_then(Value::as_str)
}
