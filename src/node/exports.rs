//! The exported functions: read, ask the core, answer. `index.js` alone calls them.

use napi::bindgen_prelude::{External, Object, Utf16String};
use napi_derive::napi;

use super::error::Result;
use super::read::{Fields, dialect};
use crate::budget::guard::SummaryInput;
use crate::budget::window::{ContextBudget, PromptLimit};
use crate::tokens::estimate::ReportedUsage;
use crate::transcript::part::{Message, messages};
use crate::transcript::serialize::{Dialect, conversation, extent};
use crate::transcript::store::{Store, Wanted};

/// What was gathered of an input: words of the history, words of history and turn prefix together, and UTF-16 units
/// of the previous summary.
fn summary_input(records: &[u32], ends: [u32; 2], previous: u32, dialect: Dialect) -> SummaryInput {
    let [history, words] = ends.map(|end| end as usize);
    let records = records.get(..words).unwrap_or_default();
    let (history, prefix) = records.split_at_checked(history).unwrap_or((records, &[]));
    SummaryInput {
        history: extent(history, dialect),
        prefix: extent(prefix, dialect),
        previous: previous as usize,
    }
}

/// The unit at which tool results are probed in a dialect; 0 for never.
#[napi(catch_unwind)]
pub fn probed_cap(name: String) -> u32 {
    dialect(&name).and_then(Dialect::probed_cap).unwrap_or(0) as u32
}

/// The guard's verdict.
#[napi(catch_unwind)]
pub fn exceeds_budget(
    records: &[u32],
    history: u32,
    words: u32,
    previous: u32,
    budget: Object,
    model: Object,
    options: Object,
) -> Result<bool> {
    let options = Fields::of(&options, "options");
    let limit =
        PromptLimit::of(Fields::of(&budget, "budget").budget()?, Fields::of(&model, "summaryModel").model()?);
    let input = summary_input(records, [history, words], previous, options.sizing()?.dialect);
    Ok(options.measure()?.exceeds(&input, limit))
}

/// Tokens of the larger summary request, without template and instructions.
#[napi(catch_unwind)]
pub fn prompt_tokens(
    records: &[u32],
    history: u32,
    words: u32,
    previous: u32,
    options: Object,
) -> Result<f64> {
    let options = Fields::of(&options, "options");
    let input = summary_input(records, [history, words], previous, options.sizing()?.dialect);
    Ok(options.measure()?.prompt_tokens(&input) as f64)
}

/// The raw estimate of each message.
#[napi(catch_unwind)]
pub fn message_tokens(records: &[u32], words: u32, options: Object) -> Result<Vec<f64>> {
    let sizing = Fields::of(&options, "options").sizing()?;
    let records = records.get(..words as usize).unwrap_or_default();
    Ok(messages(records).map(|message| sizing.message_tokens(&message) as f64).collect())
}

/// The context size that an assistant message reports; `None` where it reports none.
#[napi(catch_unwind)]
pub fn reported_tokens(
    stop_reason: String,
    total: f64,
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
) -> Option<f64> {
    ReportedUsage { total, input, output, cache_read, cache_write }.context_tokens(&stop_reason)
}

/// A store for texts, which `read` then fills: tool results to some units beyond their cap, else everything whole.
#[napi(catch_unwind)]
pub fn store(records: &[u32], words: u32, beyond_cap: Option<u32>) -> External<Store> {
    let records = records.get(..words as usize).unwrap_or_default();
    External::new(Store::new(
        records.to_vec(),
        beyond_cap.map_or(Wanted::Whole, |units| Wanted::Printed(units as usize)),
    ))
}

/// The conversation text of a store.
#[napi(catch_unwind)]
pub fn conversation_text(store: &External<Store>, options: Object) -> Result<Utf16String> {
    let range: Vec<Message<'_>> = store.messages().collect();
    Ok(conversation(&range, Fields::of(&options, "options").sizing()?.dialect).into())
}

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

/// The budgets of a model.
#[napi(catch_unwind)]
pub fn context_budget(model: Object) -> Result<Budgets> {
    let budget = ContextBudget::of(Fields::of(&model, "model").model()?);
    Ok(Budgets {
        hard_limit: budget.limits.hard_limit as f64,
        request_headroom: budget.limits.request_headroom as f64,
        keep_recent_tokens: budget.keep_recent_tokens as f64,
        summary_output: budget.summary_output as f64,
        summary_input_limit: budget.summary_input_limit as f64,
        fallback_tail_tokens: budget.fallback_tail_tokens as f64,
        fallback_summary_chars: budget.fallback_summary_chars as f64,
    })
}
