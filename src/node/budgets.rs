//! The exported budgets.

use napi::bindgen_prelude::Object;
use napi_derive::napi;

use super::error::Result;
use super::read::{Fields, known_limit, model_limits};
use super::request::{refine_ratio, refine_window};
use crate::budget::guard::Measure;
use crate::budget::refine_budgets::RefineBudgets;
use crate::budget::window::ContextBudget;

/// Every budget of a model, in tokens but for the characters.
#[napi(object, object_from_js = false)]
pub struct Budgets {
    /// `hardLimit`
    pub hard_limit: f64,
    /// `requestHeadroom`
    pub request_headroom: f64,
    /// `keepRecentTokens`
    pub keep_recent_tokens: f64,
    /// `summaryOutput`
    pub summary_output: f64,
    /// `summaryInputLimit`
    pub summary_input_limit: f64,
    /// `fallbackTailTokens`
    pub fallback_tail_tokens: f64,
    /// `fallbackSummaryChars`
    pub fallback_summary_chars: f64,
}

/// The budgets of a model, by its numbers.
#[napi(catch_unwind)]
pub fn context_budget(window: f64, output: f64, input: f64) -> Budgets {
    let budget = ContextBudget::of(model_limits([window, output, input]));
    Budgets {
        hard_limit: budget.limits.hard_limit as f64,
        request_headroom: budget.limits.request_headroom as f64,
        keep_recent_tokens: budget.keep_recent_tokens as f64,
        summary_output: budget.summary_output as f64,
        summary_input_limit: budget.summary_input_limit as f64,
        fallback_tail_tokens: budget.fallback_tail_tokens as f64,
        fallback_summary_chars: budget.fallback_summary_chars as f64,
    }
}

/// Every budget of a refine run, in tokens but for the ratio.
#[napi(object, object_from_js = false)]
pub struct RefineBudgetsOut {
    /// `ratio`
    pub ratio: f64,
    /// `safetyBudget`
    pub safety_budget: f64,
    /// `maxPromptTokens`
    pub max_prompt_tokens: f64,
    /// `hardCeiling`
    pub hard_ceiling: f64,
    /// `maxOutputTokens`
    pub max_output_tokens: f64,
    /// `summaryCeilingTokens`
    pub summary_ceiling_tokens: f64,
    /// `chunkBudget`
    pub chunk_budget: f64,
}

impl From<RefineBudgets> for RefineBudgetsOut {
    fn from(budgets: RefineBudgets) -> Self {
        Self {
            ratio: budgets.ratio as f64,
            safety_budget: budgets.safety as f64,
            max_prompt_tokens: budgets.max_prompt as f64,
            hard_ceiling: budgets.hard_ceiling as f64,
            max_output_tokens: budgets.max_output as f64,
            summary_ceiling_tokens: budgets.summary_ceiling as f64,
            chunk_budget: budgets.chunk as f64,
        }
    }
}

/// The budgets of a refine run: numbers of the model, then those of the run (`RefineIn`).
#[napi(catch_unwind)]
pub fn refine_budgets(
    limits: Vec<f64>,
    numbers: Vec<f64>,
    previous_tokens: f64,
    chars_per_token: f64,
    options: Object,
) -> Result<RefineBudgetsOut> {
    let measure = Fields::of(&options, "input").measure("input.prompts")?;
    let measure = Measure { chars_per_token: refine_ratio(chars_per_token)?, ..measure };
    let previous = known_limit(previous_tokens).unwrap_or(0);
    Ok(refine_window(&limits, &numbers)?.budgets(previous, &measure).into())
}
