//! The budgets of a refine run (requirements D14 to D24, D38, vectors F2, G6).

use super::guard::Measure;
use super::window::{Learned, known, share};
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
/// UTF-16 units of a running summary that there is always room for: of a shorter one, a cut would leave nothing.
pub const LEAST_CARRIED: usize = 256;
/// Tokens of the smallest chunk: in a smaller one, messages would be cut to a few words.
const LEAST_CHUNK: u64 = 100;
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
        let (window, safety) = (self.window(), self.safety());
        let (max_prompt, max_output) = (self.max_prompt(), self.max_output());
        // D23.
        let by_formula = share(window, 0.35).min(share(max_prompt, 0.5)).min(share(max_output, SHRINK));
        let summary_ceiling = self.settings.summary_ceiling_tokens.unwrap_or(by_formula);
        let beside_previous = window.saturating_sub(INSTRUCTIONS.saturating_add(previous_summary));
        let wished = safety.min(share(beside_previous, 0.75)).max(4_000);
        let carried = summary_ceiling.max(measure.chars_per_token.tokens(LEAST_CARRIED));
        let headroom =
            carried.saturating_add(measure.chars_per_token.tokens(measure.prompts.chunk_overhead()));
        RefineBudgets {
            ratio: known(self.main).unwrap_or(UNKNOWN_WINDOW).div_ceil(window),
            safety,
            max_prompt,
            hard_ceiling: self.hard_ceiling(),
            max_output,
            summary_ceiling,
            chunk: wished.min(max_prompt.saturating_sub(headroom)),
        }
    }

    fn window(&self) -> u64 {
        known(self.model.context_window).unwrap_or(UNKNOWN_WINDOW)
    }

    /// D17.
    fn safety(&self) -> u64 {
        share(self.window().saturating_sub(self.reserve), 0.75).clamp(8_000, 50_000)
    }

    /// D18 and D19 in one: half of a small window is less than the 32,000 of a large one.
    fn max_prompt(&self) -> u64 {
        let by_formula = share(self.window(), 0.5).min((self.safety() + 8_192).max(32_000));
        let most = known(self.model.max_input_tokens).unwrap_or(u64::MAX);
        self.settings.max_prompt_tokens.unwrap_or(by_formula.min(most))
    }

    /// D21.
    fn hard_ceiling(&self) -> u64 {
        self.window().saturating_sub(self.max_prompt().saturating_add(SLACK)).max(512)
    }

    /// D22, and no more than the model writes.
    fn max_output(&self) -> u64 {
        let most = known(self.model.max_tokens).unwrap_or(u64::MAX);
        let by_reserve = share(self.reserve, 0.8).max(LEAST_OUTPUT);
        // Below the least allowance the ceiling is smaller than this anyway.
        let by_formula = self.hard_ceiling().min(by_reserve).min(most);
        self.settings.max_output_tokens.unwrap_or(by_formula)
    }

    /// The same after a prompt of `sent` estimated tokens was too large. The next prompts are smaller in any case.
    #[must_use]
    pub fn learned(&self, sent: u64, learned: Learned) -> Self {
        let window = self.window().min(learned.window.unwrap_or(u64::MAX));
        let model = ModelLimits { context_window: Some(window), ..self.model };
        let smaller = Self { model, ..*self };
        let within = smaller.max_prompt().min(share(window, 0.5));
        let settings = RefineSettings {
            max_prompt_tokens: Some(learned.next(sent, within)),
            // A smaller prompt leaves more of the window; of one that was stated too large, nothing is to be had.
            max_output_tokens: Some(smaller.max_output().min(self.max_output())),
            ..self.settings
        };
        Self { settings, ..smaller }
    }
}

impl RefineBudgets {
    /// Whether a chunk holds anything worth a summary, and an answer may say something.
    #[must_use]
    pub fn leave_room(&self) -> bool {
        self.chunk >= LEAST_CHUNK && self.max_output > 0
    }

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
