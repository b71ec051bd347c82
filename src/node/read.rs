//! Values from JavaScript, checked. A number that is none is an error here and never silently another number.

use napi::bindgen_prelude::{FromNapiValue, JsObjectValue, Object, Unknown};
use napi::{JsString, ValueType};

use super::error::{Result, internal};
use crate::budget::guard::Measure;
use crate::budget::window::BudgetLimits;
use crate::error::CompactionError;
use crate::model::ModelLimits;
use crate::prompt::build::{PromptSizes, Template};
use crate::tokens::estimate::CharsPerToken;
use crate::transcript::serialize::Dialect;
use crate::transcript::weigh::Sizing;

const MOST: f64 = 9_007_199_254_740_991.0;

/// A count: a non-negative safe integer.
pub(super) fn count(value: f64, name: &str) -> Result<u64> {
    if value >= 0.0 && value <= MOST && value.fract() == 0.0 {
        Ok(value as u64)
    } else {
        Err(CompactionError::invalid(name, "a non-negative safe integer").into())
    }
}

/// An object that is being read, with the name that errors use.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a, 'env> {
    object: &'a Object<'env>,
    name: &'static str,
}

impl<'a, 'env> Fields<'a, 'env> {
    pub(super) fn of(object: &'a Object<'env>, name: &'static str) -> Self {
        Self { object, name }
    }

    fn path(&self, key: &str) -> String {
        format!("{}.{key}", self.name)
    }

    fn field(&self, key: &str) -> Result<Option<(Unknown<'env>, ValueType)>> {
        let value: Unknown = self.object.get_named_property_unchecked(key).map_err(|e| internal(&e))?;
        let kind = value.get_type().map_err(|e| internal(&e))?;
        Ok((!matches!(kind, ValueType::Undefined | ValueType::Null)).then_some((value, kind)))
    }

    pub(super) fn number(&self, key: &str, expected: &str) -> Result<Option<f64>> {
        match self.field(key)? {
            None => Ok(None),
            Some((value, ValueType::Number)) => {
                f64::from_unknown(value).map(Some).map_err(|e| internal(&e))
            }
            Some(_) => Err(CompactionError::invalid(&self.path(key), expected).into()),
        }
    }

    pub(super) fn count(&self, key: &str) -> Result<Option<u64>> {
        let number = self.number(key, "a non-negative safe integer")?;
        number.map(|value| count(value, &self.path(key))).transpose()
    }

    pub(super) fn required(&self, key: &str) -> Result<u64> {
        let missing = || CompactionError::invalid(&self.path(key), "a non-negative safe integer").into();
        self.count(key)?.ok_or_else(missing)
    }

    fn string(&self, key: &str) -> Result<Option<JsString<'env>>> {
        match self.field(key)? {
            None => Ok(None),
            Some((value, ValueType::String)) => JsString::from_unknown(value).map(Some).map_err(|e| internal(&e)),
            Some(_) => Err(CompactionError::invalid(&self.path(key), "a string").into()),
        }
    }

    fn units(&self, key: &str) -> Result<Option<usize>> {
        let string = self.string(key)?;
        string.map(|text| text.utf16_len().map_err(|e| internal(&e))).transpose()
    }

    fn object(&self, key: &str) -> Result<Option<Object<'env>>> {
        match self.field(key)? {
            None => Ok(None),
            Some((value, ValueType::Object)) => Object::from_unknown(value).map(Some).map_err(|e| internal(&e)),
            Some(_) => Err(CompactionError::invalid(&self.path(key), "an object").into()),
        }
    }
}

impl Fields<'_, '_> {
    /// `budget`: what the host keeps its context below.
    pub(super) fn budget(&self) -> Result<BudgetLimits> {
        let (hard_limit, request_headroom) = (self.required("hardLimit")?, self.required("requestHeadroom")?);
        self.count("keepRecentTokens")?;
        Ok(BudgetLimits { hard_limit, request_headroom })
    }

    /// The limits of a model.
    pub(super) fn model(&self) -> Result<ModelLimits> {
        Ok(ModelLimits {
            context_window: self.count("contextWindow")?,
            max_tokens: self.count("maxTokens")?,
            max_input_tokens: self.count("maxInputTokens")?,
        })
    }

    /// `dialect` and `charsPerToken`.
    pub(super) fn sizing(&self) -> Result<Sizing> {
        let ratio = self.number("charsPerToken", "a finite number above 0")?;
        let chars_per_token = ratio.map_or(Ok(CharsPerToken::PI), CharsPerToken::new)?;
        Ok(Sizing { dialect: self.dialect()?, chars_per_token })
    }

    fn dialect(&self) -> Result<Dialect> {
        match self.string("dialect")? {
            None => Ok(Dialect::default()),
            Some(text) => dialect(text.into_utf8().and_then(|text| text.into_owned()).map_err(|e| internal(&e))?),
        }
    }

    /// Sizes of the words around the text: `customInstructions` and `prompts`.
    pub(super) fn measure(&self) -> Result<Measure> {
        let custom = self.units("customInstructions")?.unwrap_or(0);
        let mut prompts = PromptSizes::default();
        prompts.custom = custom;
        if let Some(object) = self.object("prompts")? {
            let given = Fields::of(&object, "options.prompts");
            for (template, name) in Template::NAMED {
                given.units(name)?.into_iter().for_each(|units| prompts.set(template, units));
            }
        }
        Ok(Measure { chars_per_token: self.sizing()?.chars_per_token, prompts })
    }
}

/// A dialect by its public name.
pub(super) fn dialect(name: String) -> Result<Dialect> {
    match name.as_str() {
        "pi-0.87" => Ok(Dialect::Pi087),
        "pi-1.6" => Ok(Dialect::Pi16),
        _ => Err(CompactionError::invalid("options.dialect", "\"pi-0.87\" or \"pi-1.6\"").into()),
    }
}
