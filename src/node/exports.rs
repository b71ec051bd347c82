//! The exported functions: read, ask the core, answer. `index.js` alone calls them.

use napi::Env;
use napi::bindgen_prelude::{External, Object, Unknown, Utf16String};
use napi_derive::napi;

use super::error::Result;
use super::read::{Fields, dialect, misuse, prompt_limit};
use super::source::Source;
use crate::budget::guard::SummaryInput;
use crate::error::CompactionError;
use crate::prompt::neutralize::is_blank as shows_nothing;
use crate::prompt::notice::without_notice;
use crate::tokens::estimate::ReportedUsage;
use crate::transcript::part::Message;
use crate::transcript::passage::Unread;
use crate::transcript::serialize::{Dialect, conversation, range_extent};
use crate::transcript::store::{Filling, Wanted};

/// The version of which the binary is, which has to be that of the JavaScript around it.
#[napi(catch_unwind)]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The unit at which tool results are probed in a dialect; 0 for never.
#[napi(catch_unwind)]
pub fn probed_cap(name: String) -> u32 {
    dialect(&name).and_then(Dialect::probed_cap).unwrap_or(0) as u32
}

/// The printed units of some messages.
#[napi(catch_unwind)]
pub fn printed_units(
    env: Env,
    source: Unknown,
    start: u32,
    end: u32,
    options: Option<Object>,
) -> Result<f64> {
    let dialect = Fields::options(options.as_ref()).sizing()?.dialect;
    Source::with(env, source, (start, end), |source| Ok(source.extent(dialect).units() as f64))
}

fn summary_input(units: [f64; 3]) -> SummaryInput {
    let [history, prefix, previous] = units.map(|units| units as usize);
    SummaryInput { history, prefix, previous }
}

/// The guard's verdict. The numbers: printed units of history, turn prefix and previous summary, then a budget's and
/// a model's.
#[napi(catch_unwind)]
pub fn exceeds_budget(numbers: &[f64], options: Option<Object>) -> Result<bool> {
    let (&[history, prefix, previous], limits) = numbers.split_first_chunk().ok_or_else(misuse)?;
    let measure = Fields::options(options.as_ref()).measure("options.prompts")?;
    Ok(measure.exceeds(&summary_input([history, prefix, previous]), prompt_limit(limits)?))
}

/// Tokens of the larger summary request, without template and instructions.
#[napi(catch_unwind)]
pub fn prompt_tokens(history: f64, prefix: f64, previous: f64, options: Option<Object>) -> Result<f64> {
    let measure = Fields::options(options.as_ref()).measure("options.prompts")?;
    Ok(measure.prompt_tokens(&summary_input([history, prefix, previous])) as f64)
}

/// The raw estimate of each message.
#[napi(catch_unwind)]
pub fn message_tokens(
    env: Env,
    source: Unknown,
    start: u32,
    end: u32,
    options: Option<Object>,
) -> Result<Vec<f64>> {
    let sizing = Fields::options(options.as_ref()).sizing()?;
    Source::with(env, source, (start, end), |source| {
        Ok(source.range().iter().map(|message| sizing.message_tokens(message) as f64).collect())
    })
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
pub fn store(records: &[u32], words: u32, beyond_cap: Option<u32>) -> External<Filling> {
    let records = records.get(..words as usize).unwrap_or_default();
    External::new(Filling::new(
        records.to_vec(),
        beyond_cap.map_or(Wanted::Whole, |units| Wanted::Printed(units as usize)),
    ))
}

/// The longest string of V8, in UTF-16 units.
const LONGEST: usize = (1 << 29) - 24;

/// The conversation text of a passage. Empties it.
#[napi(catch_unwind)]
pub fn conversation_text(passage: &mut External<Unread>, options: Option<Object>) -> Result<Utf16String> {
    let passage = std::mem::take(&mut **passage).read()?;
    let range: Vec<Message<'_>> = passage.messages().collect();
    let dialect = Fields::options(options.as_ref()).sizing()?.dialect;
    if range_extent(&range, dialect).units() > LONGEST {
        let expected = "less text than the longest string of JavaScript; serialize it in parts";
        return Err(CompactionError::invalid("messages", expected).into());
    }
    Ok(conversation(&range, dialect).into())
}

/// Whether a text shows nothing to anybody, as an answer that is no summary.
#[napi(catch_unwind)]
pub fn is_blank(text: String) -> bool {
    shows_nothing(&text)
}

/// A summary without what a fallback added to it.
#[napi(catch_unwind)]
pub fn strip_fallback_notice(summary: String) -> String {
    without_notice(&summary)
}
