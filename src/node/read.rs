//! Values from JavaScript, checked. A number that is none is an error here and never silently another number.

use napi::bindgen_prelude::{FromNapiValue, JsObjectValue, Object, Unknown};
use napi::{JsString, JsValue, ValueType};

use super::error::{Error, Result, internal};
use crate::budget::guard::Measure;
use crate::budget::window::{BudgetLimits, PromptLimit};
use crate::error::{CompactionError, ErrorCode};
use crate::model::ModelLimits;
use crate::plan::chunks::{ChunkRules, MOST_CHUNKS};
use crate::plan::tail::Retention;
use crate::plan::turns::Grain;
use crate::prompt::build::{PromptSizes, Prompts, Template};
use crate::provider::retry::RetryPolicy;
use crate::summarize::run::Bounds;
use crate::tokens::estimate::CharsPerToken;
use crate::transcript::serialize::Dialect;
use crate::transcript::weigh::Sizing;

const MOST: f64 = 9_007_199_254_740_991.0;

/// A count: a non-negative safe integer.
fn count(value: f64, name: &str) -> Result<u64> {
    if (0.0..=MOST).contains(&value) && value.fract() == 0.0 {
        Ok(value as u64)
    } else {
        Err(CompactionError::invalid(name, "a non-negative safe integer").into())
    }
}

/// An object that is being read, with the name that errors use.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a, 'env> {
    object: Option<&'a Object<'env>>,
    name: &'static str,
}

impl<'a, 'env> Fields<'a, 'env> {
    pub(super) fn of(object: &'a Object<'env>, name: &'static str) -> Self {
        Self { object: Some(object), name }
    }

    /// Options that may be absent as a whole.
    pub(super) fn options(object: Option<&'a Object<'env>>) -> Self {
        Self { object, name: "options" }
    }

    /// Nothing is there, under a name.
    pub(super) fn absent(name: &'static str) -> Self {
        Self { object: None, name }
    }

    pub(super) fn path(&self, key: &str) -> String {
        format!("{}.{key}", self.name)
    }

    /// The value under a key, null included; undefined is nothing.
    fn value(&self, key: &str) -> Result<Option<(Unknown<'env>, ValueType)>> {
        let Some(object) = self.object else { return Ok(None) };
        let value: Unknown = object.get_named_property_unchecked(key).map_err(|e| internal(&e))?;
        let kind = value.get_type().map_err(|e| internal(&e))?;
        Ok((kind != ValueType::Undefined).then_some((value, kind)))
    }

    fn field(&self, key: &str) -> Result<Option<(Unknown<'env>, ValueType)>> {
        Ok(self.value(key)?.filter(|(_, kind)| *kind != ValueType::Null))
    }

    /// The value of one type.
    fn typed<T: FromNapiValue>(&self, key: &str, of: ValueType, expected: &str) -> Result<Option<T>> {
        match self.field(key)? {
            None => Ok(None),
            Some((value, kind)) if kind == of => T::from_unknown(value).map(Some).map_err(|e| internal(&e)),
            Some(_) => Err(CompactionError::invalid(&self.path(key), expected).into()),
        }
    }

    pub(super) fn number(&self, key: &str, expected: &str) -> Result<Option<f64>> {
        self.typed(key, ValueType::Number, expected)
    }

    pub(super) fn count(&self, key: &str) -> Result<Option<u64>> {
        let number = self.number(key, "a non-negative safe integer")?;
        number.map(|value| count(value, &self.path(key))).transpose()
    }

    pub(super) fn required(&self, key: &str) -> Result<u64> {
        let missing = || CompactionError::invalid(&self.path(key), "a non-negative safe integer").into();
        self.count(key)?.ok_or_else(missing)
    }

    fn units(&self, key: &str) -> Result<Option<usize>> {
        let string: Option<JsString<'env>> = self.typed(key, ValueType::String, "a string")?;
        string.map(|text| text.utf16_len().map_err(|e| internal(&e))).transpose()
    }

    pub(super) fn object(&self, key: &str) -> Result<Option<Object<'env>>> {
        self.typed(key, ValueType::Object, "an object")
    }
}

impl Fields<'_, '_> {
    /// The object under `key`, which has to be there.
    pub(super) fn part(&self, key: &str) -> Result<Object<'_>> {
        self.object(key)?.ok_or_else(|| CompactionError::invalid(&self.path(key), "an object").into())
    }

    /// `kind` of a summarizer.
    pub(super) fn summarizer_kind(&self) -> Result<SummarizerKind> {
        let expected = "\"http\", \"callback\" or \"extractive\"";
        let kind = self.choice("kind", expected, |name| match name {
            "http" => Some(SummarizerKind::Http),
            "callback" => Some(SummarizerKind::Callback),
            "extractive" => Some(SummarizerKind::Extractive),
            _ => None,
        })?;
        kind.ok_or_else(|| CompactionError::invalid(&self.path("kind"), expected).into())
    }

    /// `customInstructions` and `prompts`, as texts.
    pub(super) fn prompt_texts(&self) -> Result<Prompts> {
        let mut prompts = Prompts::with_custom(self.text("customInstructions")?.unwrap_or_default());
        if let Some(object) = self.object("prompts")? {
            let name = if self.name == "options" { "options.prompts" } else { "request.prompts" };
            let given = Fields::of(&object, name);
            for (template, name) in Template::NAMED {
                if let Some(text) = given.text(name)? {
                    prompts.set(template, &text);
                }
            }
        }
        Ok(prompts)
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<String>> {
        self.typed(key, ValueType::String, "a string")
    }

    /// `retry` and `maxRequests`.
    pub(super) fn bounds(&self, preset: Bounds) -> Result<Bounds> {
        let max_requests = self.count("maxRequests")?;
        let max_requests =
            max_requests.map_or(preset.max_requests, |most| u32::try_from(most).unwrap_or(u32::MAX));
        let retry = match self.object("retry")? {
            Some(retry) => Fields::of(&retry, "request.retry").retry_policy(preset.retry)?,
            None => preset.retry,
        };
        Ok(Bounds { retry, max_requests })
    }

    fn retry_policy(&self, preset: RetryPolicy) -> Result<RetryPolicy> {
        let enabled = self.flag("enabled")?.unwrap_or(true);
        let retries =
            self.count("maxRetries")?.map_or(preset.max_retries, |n| u32::try_from(n).unwrap_or(u32::MAX));
        Ok(RetryPolicy {
            max_retries: if enabled { retries } else { 0 },
            base_delay_ms: self
                .within("baseDelayMs", f64::MAX, "a number from 0")?
                .unwrap_or(preset.base_delay_ms),
            max_delay_ms: self
                .within("maxAgentDelayMs", f64::MAX, "a number from 0")?
                .unwrap_or(preset.max_delay_ms),
            jitter: self.within("jitter", 1.0, "a number from 0 to 1")?.unwrap_or(preset.jitter),
            ..preset
        })
    }

    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>> {
        self.typed(key, ValueType::Boolean, "a boolean")
    }

    /// Whether the field is there and null.
    pub(super) fn is_null(&self, key: &str) -> Result<bool> {
        Ok(matches!(self.value(key)?, Some((_, ValueType::Null))))
    }

    /// A price; 0 where there is none.
    pub(super) fn price(&self, key: &str) -> Result<f64> {
        self.within(key, f64::MAX, "a number from 0").map(Option::unwrap_or_default)
    }

    /// The own fields of an object of texts: a text, or null, which is `None`. Undefined ones are left out.
    pub(super) fn entries(&self, key: &str) -> Result<Vec<(String, Option<String>)>> {
        let Some(object) = self.object(key)? else { return Ok(Vec::new()) };
        let fields = Fields::of(&object, self.name);
        let expected = "a plain object of strings and nulls";
        let is_other = object.is_array().map_err(|e| internal(&e))? || fields_of_map(&object)?;
        if is_other {
            return Err(CompactionError::invalid(&self.path(key), expected).into());
        }
        let names = Object::keys(&object).map_err(|e| internal(&e))?;
        let entry = |name: String| match fields.value(&name)? {
            None => Ok(None),
            Some((_, ValueType::Null)) => Ok(Some((name, None))),
            Some((value, ValueType::String)) => {
                String::from_unknown(value).map(|value| Some((name, Some(value)))).map_err(|e| internal(&e))
            }
            Some(_) => Err(CompactionError::invalid(&self.path(key), expected).into()),
        };
        names.into_iter().map(entry).filter_map(Result::transpose).collect()
    }

    /// A number from 0 to `most`.
    fn within(&self, key: &str, most: f64, expected: &str) -> Result<Option<f64>> {
        match self.number(key, expected)? {
            Some(number) if !(0.0..=most).contains(&number) => {
                Err(CompactionError::invalid(&self.path(key), expected).into())
            }
            number => Ok(number),
        }
    }

    /// `maxSummaryChars`.
    pub(super) fn summary_chars(&self, least: u64, default: u64) -> Result<usize> {
        let most = self.count("maxSummaryChars")?.unwrap_or(default);
        if most < least {
            let expected = format!("an integer of at least {least}");
            return Err(CompactionError::invalid(&self.path("maxSummaryChars"), &expected).into());
        }
        Ok(usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// `retentionMode`.
    pub(super) fn retention(&self) -> Result<Retention> {
        let expected = "\"active_turn\" or \"completed_turn\"";
        self.choice("retentionMode", expected, |name| match name {
            "active_turn" => Some(Retention::ActiveTurn),
            "completed_turn" => Some(Retention::CompletedTurn),
            _ => None,
        })
        .map(Option::unwrap_or_default)
    }

    /// `maxChunks`, `minChunks` and `boundary`.
    pub(super) fn chunk_rules(&self) -> Result<ChunkRules> {
        let boundary = self.choice("boundary", "\"turn\" or \"message\"", |name| match name {
            "turn" => Some(Grain::Turn),
            "message" => Some(Grain::Message),
            _ => None,
        })?;
        let chunks =
            |key, default: usize| Ok::<_, Error>(self.count(key)?.map_or(default, |count| count as usize));
        Ok(ChunkRules {
            grain: boundary.unwrap_or(Grain::Turn),
            most: chunks("maxChunks", MOST_CHUNKS)?,
            fewest: chunks("minChunks", 1)?.max(1),
        })
    }

    /// `dialect` and `charsPerToken`.
    pub(super) fn sizing(&self) -> Result<Sizing> {
        let ratio = self.number("charsPerToken", "a finite number above 0")?;
        let chars_per_token = ratio.map_or(Ok(CharsPerToken::PI), CharsPerToken::new)?;
        Ok(Sizing { dialect: self.dialect()?, chars_per_token })
    }

    fn dialect(&self) -> Result<Dialect> {
        self.choice("dialect", "\"pi-0.87\" or \"pi-1.6\"", dialect).map(Option::unwrap_or_default)
    }

    /// One of a closed set of names.
    pub(super) fn choice<T>(
        &self,
        key: &str,
        expected: &str,
        of: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some((value, kind)) = self.field(key)? else { return Ok(None) };
        let name = match kind {
            ValueType::String => String::from_unknown(value).map_err(|e| internal(&e))?,
            _ => String::new(),
        };
        of(&name).map(Some).ok_or_else(|| CompactionError::invalid(&self.path(key), expected).into())
    }

    /// Sizes of the words around the text: `customInstructions` and `prompts`, which errors call `prompts_name`.
    pub(super) fn measure(&self, prompts_name: &'static str) -> Result<Measure> {
        let custom = self.units("customInstructions")?.unwrap_or(0);
        let mut prompts = PromptSizes::default();
        prompts.custom = custom;
        if let Some(object) = self.object("prompts")? {
            let given = Fields::of(&object, prompts_name);
            for (template, name) in Template::NAMED {
                given.units(name)?.into_iter().for_each(|units| prompts.set(template, units));
            }
        }
        Ok(Measure { chars_per_token: self.sizing()?.chars_per_token, prompts })
    }
}

/// Whether it keeps its fields elsewhere, as a `Map` or `Headers` does: they would be lost without a word.
fn fields_of_map(object: &Object<'_>) -> Result<bool> {
    let get: Unknown = object.get_named_property_unchecked("get").map_err(|e| internal(&e))?;
    get.get_type().map(|kind| kind == ValueType::Function).map_err(|e| internal(&e))
}

/// Counts that `js/arguments.js` has checked, in its order: hard limit and headroom of a budget.
pub(super) fn budget_limits(numbers: [f64; 2]) -> BudgetLimits {
    let [hard_limit, request_headroom] = numbers.map(|number| number as u64);
    BudgetLimits { hard_limit, request_headroom }
}

/// The same for a model: window, output, input; negative where unknown.
pub(super) fn model_limits(numbers: [f64; 3]) -> ModelLimits {
    let [context_window, max_tokens, max_input_tokens] = numbers.map(known_limit);
    ModelLimits { context_window, max_tokens, max_input_tokens }
}

/// A count that may be absent.
pub(super) fn known_limit(number: f64) -> Option<u64> {
    (number >= 0.0).then_some(number as u64)
}

/// The limit of a prompt, from a budget's numbers and a model's.
pub(super) fn prompt_limit(numbers: &[f64]) -> Result<PromptLimit> {
    let &[hard, headroom, window, output, input] = numbers else { return Err(misuse()) };
    Ok(PromptLimit::of(budget_limits([hard, headroom]), model_limits([window, output, input])))
}

/// Numbers that do not fit the call: a fault of `js`.
pub(super) fn misuse() -> Error {
    CompactionError::new(ErrorCode::Internal, "numbers that do not fit the call").into()
}

/// Who writes a summary, by its public name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SummarizerKind {
    Http,
    Callback,
    Extractive,
}

/// A dialect by its public name.
pub(super) fn dialect(name: &str) -> Option<Dialect> {
    match name {
        "pi-0.87" => Some(Dialect::Pi087),
        "pi-1.6" => Some(Dialect::Pi16),
        _ => None,
    }
}
