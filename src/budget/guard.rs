//! The one measure of a summary request: guard, planner and request builder all ask here (requirements G15, G16).

use super::window::{PROMPT_MARGIN, PromptLimit};
use crate::prompt::build::{PromptSizes, Template};
use crate::tokens::estimate::CharsPerToken;

/// What is to be summarized, by size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SummaryInput {
    /// UTF-16 units of the serialized history.
    pub history: usize,
    /// UTF-16 units of the serialized beginning of a split turn; 0 when no turn is split (requirements A42).
    pub prefix: usize,
    /// UTF-16 units of the previous summary.
    pub previous: usize,
}

/// How requests are measured.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    /// The ratio of units to tokens.
    pub chars_per_token: CharsPerToken,
    /// Sizes of the words around the text.
    pub prompts: PromptSizes,
}

impl Measure {
    /// Tokens of the larger of the two requests (requirements A38, A41), without template and instructions.
    #[must_use]
    pub fn prompt_tokens(&self, input: &SummaryInput) -> u64 {
        let history = input.history + input.previous;
        self.chars_per_token.tokens(history.max(input.prefix))
    }

    /// Whether a request of this input would reach the limit (requirements A41, G15).
    #[must_use]
    pub fn exceeds(&self, input: &SummaryInput, limit: PromptLimit) -> bool {
        let history = self.chars_per_token.tokens(input.history + input.previous);
        let prefix = self.chars_per_token.tokens(input.prefix);
        let over = |tokens: u64, excess: u64| tokens.saturating_add(excess) >= limit.tokens;
        over(history, self.excess(Template::history(input.previous), input.previous > 0))
            || (prefix > 0 && over(prefix, self.excess(Template::TurnPrefix, false)))
    }

    /// Tokens that the words around the text need beyond the margin that is held back for them.
    #[must_use]
    pub fn excess(&self, instructions: Template, carries_previous: bool) -> u64 {
        let overhead = self.prompts.overhead(instructions, carries_previous);
        self.chars_per_token.tokens(overhead).saturating_sub(PROMPT_MARGIN)
    }
}

impl Template {
    /// The instructions for a history: an update wherever a summary is carried on (requirements G7).
    #[must_use]
    pub fn history(previous: usize) -> Self {
        if previous > 0 { Self::Update } else { Self::Initial }
    }
}
