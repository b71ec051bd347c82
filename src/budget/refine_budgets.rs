//! The budgets of a refine run (requirements D14 to D24, D38, vectors F2, G6).

use super::guard::Measure;
use super::window::{known, share};
use crate::model::ModelLimits;

/// Tokens of an unknown window.
const UNKNOWN_WINDOW: u64 = 32_000;
/// pi's `compaction.reserveTokens`, unless the host says otherwise.
pub const DEFAULT_RESERVE: u64 = 16_384;
/// Tokens of a window that a chunk leaves for instructions, beside the previous summary (requirements D38).
const INSTRUCTIONS: u64 = 2_500;
/// The least allowance of an answer, where the window has room for it.
const LEAST_OUTPUT: u64 = 2_048;
/// Tokens of a window that neither the largest prompt nor the answer takes.
const SLACK: u64 = 1_000;
/// What a compression aims at, of the size that it begins with or of an answer's allowance (requirements D67, D73).
pub const SHRINK: f64 = 0.6;
/// The shortest summary that a compression aims at (requirements D74).
const LEAST_SUMMARY: u64 = 2_000;

/// What the host sets itself; each beats its own formula (requirements D26, D104).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RefineSettings {
    /// The most of one whole prompt.
    pub max_prompt_tokens: Option<u64>,
    /// Allowed for an answer.
    pub max_output_tokens: Option<u64>,
    /// Of the running summary, beyond which it is compressed.
    pub summary_ceiling_tokens: Option<u64>,
}

/// What the budgets follow from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefineWindow {
    /// Window of the conversation's own model.
    pub main: Option<u64>,
    /// The model that summarizes.
    pub model: ModelLimits,
    /// pi's reserve.
    pub reserve: u64,
    /// What the host sets itself.
    pub settings: RefineSettings,
}

/// Every budget of a refine run, in tokens but for the ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefineBudgets {
    /// Windows of the summary model that the main model's window takes: the fewest chunks.
    pub ratio: u64,
    /// What a chunk may take of a large window.
    pub safety: u64,
    /// The most of one whole prompt.
    pub max_prompt: u64,
    /// What the window leaves for an answer beside the largest prompt.
    pub hard_ceiling: u64,
    /// Allowed for an answer.
    pub max_output: u64,
    /// Of the running summary, beyond which it is compressed.
    pub summary_ceiling: u64,
    /// The most of one chunk; 0 where nothing is left for it.
    pub chunk: u64,
}

impl RefineWindow {
    /// The budgets beside a previous summary of some tokens. The cap of the prompt wins over every floor, and a full
    /// chunk fits beside a full running summary (requirements D32, G6).
    #[must_use]
    pub fn budgets(&self, previous_summary: u64, measure: &Measure) -> RefineBudgets {
        let window = self.window();
        let safety = share(window.saturating_sub(self.reserve), 0.75).clamp(8_000, 50_000);
        let max_prompt = self.max_prompt(window, safety);
        let hard_ceiling = window.saturating_sub(max_prompt.saturating_add(SLACK)).max(512);
        let max_output = self.settings.max_output_tokens.unwrap_or_else(|| self.output(hard_ceiling));
        let by_formula = share(window, 0.35).min(share(max_prompt, 0.5)).min(share(max_output, SHRINK));
        let summary_ceiling = self.settings.summary_ceiling_tokens.unwrap_or(by_formula);
        let beside_previous = window.saturating_sub(INSTRUCTIONS.saturating_add(previous_summary));
        let wished = safety.min(share(beside_previous, 0.75)).max(4_000);
        let headroom =
            summary_ceiling.saturating_add(measure.chars_per_token.tokens(measure.prompts.chunk_overhead()));
        RefineBudgets {
            ratio: known(self.main).unwrap_or(UNKNOWN_WINDOW).div_ceil(window),
            safety,
            max_prompt,
            hard_ceiling,
            max_output,
            summary_ceiling,
            chunk: wished.min(max_prompt.saturating_sub(headroom)),
        }
    }

    fn window(&self) -> u64 {
        known(self.model.context_window).unwrap_or(UNKNOWN_WINDOW)
    }

    fn max_prompt(&self, window: u64, safety: u64) -> u64 {
        let by_formula = share(window, 0.5).min((safety + 8_192).max(32_000));
        let most = known(self.model.max_input_tokens).unwrap_or(u64::MAX);
        self.settings.max_prompt_tokens.unwrap_or(by_formula.min(most))
    }

    fn output(&self, hard_ceiling: u64) -> u64 {
        let most = known(self.model.max_tokens).unwrap_or(u64::MAX);
        let by_reserve = share(self.reserve, 0.8).max(LEAST_OUTPUT);
        // Below the least allowance the ceiling is smaller than this anyway.
        hard_ceiling.min(by_reserve).min(most)
    }

    /// The same after a prompt of `sent` estimated tokens was too large: `ratio` of what the provider counted, for a
    /// `window` where it names one. The next prompts are smaller in any case.
    #[must_use]
    pub fn learned(&self, sent: u64, window: Option<u64>, ratio: Option<f64>, measure: &Measure) -> Self {
        let output = self.budgets(0, measure).max_output;
        let mut learned = *self;
        learned.model.context_window = Some(self.window().min(window.unwrap_or(u64::MAX)));
        let cap = learned.budgets(0, measure).max_prompt.min(share(learned.window(), 0.5));
        let most = match (window, ratio) {
            (Some(_), Some(_)) => sent.saturating_sub(1),
            (Some(_), None) => share(sent, 0.75),
            (None, _) => share(sent, 0.5),
        };
        learned.settings.max_prompt_tokens = Some(share(cap, ratio.unwrap_or(1.0).min(1.0)).min(most).max(1));
        if self.settings.max_output_tokens.is_none() {
            // A smaller prompt leaves more of the window; of one that was stated too large, nothing is to be had.
            learned.settings.max_output_tokens = Some(learned.budgets(0, measure).max_output.min(output));
        }
        learned
    }
}

impl RefineBudgets {
    /// What a running summary of some tokens is compressed to where it is above its ceiling (requirements D73, D74).
    #[must_use]
    pub fn shrunk(&self, summary: u64) -> u64 {
        share(summary, SHRINK).max(LEAST_SUMMARY.min(self.summary_ceiling))
    }

    /// What it is compressed to where the answer does not fit beside it (requirement D67).
    #[must_use]
    pub fn shrunk_deep(&self) -> u64 {
        share(self.max_output, SHRINK)
    }
}
