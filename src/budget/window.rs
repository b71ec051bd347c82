//! The context budget of a model and the limit of a summary prompt (requirements A39, A40, C13, vectors F1).

use crate::model::ModelLimits;

const UNKNOWN_WINDOW: u64 = 128_000;
const UNKNOWN_OUTPUT: u64 = 8_192;
/// Share of a learned window that an answer may take: what is left of a range is to fit into as many requests as any
/// other, and a summary that is carried takes as much again of each.
const LEARNED_OUTPUT: f64 = 0.25;
/// Share of a prompt that a summary may take which is carried along whole. A longer one is cut to what is held back
/// anyway: beside it nothing would be summarized.
const MOST_CARRIED: f64 = 0.75;
/// Tokens held back in each prompt for the template, its tags and the estimate's error (requirements A40, G16).
pub const PROMPT_MARGIN: u64 = 2_048;

/// What the host keeps its context below, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetLimits {
    /// The most that a request's context may hold.
    pub hard_limit: u64,
    /// What the window holds beyond that.
    pub request_headroom: u64,
}

impl BudgetLimits {
    /// Tokens of recent context that a compaction keeps.
    #[must_use]
    pub fn keep_recent(self) -> u64 {
        let hard = self.hard_limit;
        share(hard, 0.2).clamp(8_000, 64_000).min(share(hard, 0.5).max(1))
    }

    /// The most tokens that a fallback's tail may take.
    #[must_use]
    pub fn fallback_tail(self) -> u64 {
        share(self.hard_limit, 0.25)
    }

    /// The most UTF-16 units that a fallback carries of an earlier summary.
    #[must_use]
    pub fn fallback_summary_chars(self) -> u64 {
        share(self.hard_limit, 0.75).clamp(256, 12_000)
    }
}

/// Every budget that follows from a model's limits, in tokens but for the characters at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextBudget {
    /// The most that a request's context may hold.
    pub limits: BudgetLimits,
    /// Recent context that a compaction keeps.
    pub keep_recent_tokens: u64,
    /// The most that a summary may take.
    pub summary_output: u64,
    /// The most that a summary prompt may hold; reaching it is too much.
    pub summary_input_limit: u64,
    /// The most that a fallback's tail may take of the hard limit.
    pub fallback_tail_tokens: u64,
    /// The most UTF-16 units that a fallback carries of an earlier summary.
    pub fallback_summary_chars: u64,
}

impl ContextBudget {
    /// The budget of a model; an unknown window is 128,000, an unknown output 8,192 tokens.
    #[must_use]
    pub fn of(model: ModelLimits) -> Self {
        let window = known(model.context_window).unwrap_or(UNKNOWN_WINDOW);
        let headroom = headroom(window, known(model.max_tokens).unwrap_or(UNKNOWN_OUTPUT));
        let capped = (window - headroom).min(known(model.max_input_tokens).unwrap_or(u64::MAX));
        let limits = BudgetLimits { hard_limit: capped.max(1), request_headroom: headroom };
        let prompt = PromptLimit::of(limits, ModelLimits { context_window: Some(window), ..model });
        Self {
            limits,
            keep_recent_tokens: limits.keep_recent(),
            summary_output: prompt.output,
            summary_input_limit: prompt.tokens,
            fallback_tail_tokens: limits.fallback_tail(),
            fallback_summary_chars: limits.fallback_summary_chars(),
        }
    }
}

/// What a prompt that was too large has taught.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learned {
    /// The window that the provider names.
    pub window: Option<u64>,
    /// Our count of the prompt by the provider's, where it names one.
    pub ratio: Option<f64>,
}

impl Learned {
    /// Tokens of the next prompt, `within` what it could have: fewer than the `sent` of the one that was too large,
    /// far fewer where the provider names no numbers.
    pub(super) fn next(self, sent: u64, within: u64) -> u64 {
        let most = match (self.window, self.ratio) {
            (Some(_), Some(_)) => sent.saturating_sub(1),
            (Some(_), None) => share(sent, 0.75),
            (None, _) => share(sent, 0.5),
        };
        // Where the estimate was too low, it will be so again.
        share(within, self.ratio.unwrap_or(1.0).min(1.0)).min(most).max(1)
    }
}

/// The limit of one summary prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptLimit {
    /// Tokens that a prompt must stay below; at least 1.
    pub tokens: u64,
    /// Tokens allowed for the answer.
    pub output: u64,
}

impl PromptLimit {
    /// A40: window − answer − margin. The window is the summary model's, else the budget's own (requirements G15).
    ///
    /// The answer's allowance comes from the budget's headroom; of a window that is not the budget's it takes no
    /// more than half, so that a small summary model beside a large main model leaves room for a prompt.
    #[must_use]
    pub fn of(budget: BudgetLimits, model: ModelLimits) -> Self {
        let budget_window = budget.hard_limit.saturating_add(budget.request_headroom);
        let window = known(model.context_window).unwrap_or(budget_window);
        let most = known(model.max_tokens).unwrap_or(UNKNOWN_OUTPUT);
        let half = if window == budget_window { u64::MAX } else { window / 2 };
        let output = share(budget.request_headroom, 0.8).min(most).min(half);
        let input = window.saturating_sub(output).min(known(model.max_input_tokens).unwrap_or(u64::MAX));
        Self { tokens: input.saturating_sub(PROMPT_MARGIN).max(1), output }
    }

    /// The limit after a prompt with `text` estimated tokens of text was too large. Lower than that in any case.
    #[must_use]
    pub fn learned(self, text: u64, learned: Learned) -> Self {
        let Learned { window, .. } = learned;
        let output = self.output.min(window.map_or(u64::MAX, |window| share(window, LEARNED_OUTPUT)));
        let within = window.map_or(self.tokens, |window| window.saturating_sub(output + PROMPT_MARGIN));
        Self { tokens: learned.next(text, within), output }
    }

    /// Tokens that a plan holds back in each chunk for the summary that is carried along (requirements C39, G15).
    #[must_use]
    pub fn reserve(self, previous_summary: u64) -> u64 {
        let usual = self.output.min(self.tokens.div_ceil(2));
        if previous_summary <= share(self.tokens, MOST_CARRIED) {
            previous_summary.max(usual)
        } else {
            usual.max(1)
        }
    }
}

/// Part of a window that is not context: the answer, and a margin that grows with the window.
fn headroom(window: u64, max_output: u64) -> u64 {
    let output = max_output.min(share(window, 0.25).max(1));
    let floor = share(window, 0.5).clamp(1, 16_384);
    let twentieth = (window as f64 * 0.05).ceil() as u64;
    floor.max(output).max(twentieth).min(window.saturating_sub(1))
}

pub(super) fn share(tokens: u64, ratio: f64) -> u64 {
    (tokens as f64 * ratio).floor() as u64
}

pub(super) fn known(limit: Option<u64>) -> Option<u64> {
    limit.filter(|&tokens| tokens > 0)
}
