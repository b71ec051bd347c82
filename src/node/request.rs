//! A request for a compaction, as JavaScript has read it, on its way to the core.

use std::sync::Arc;

use napi::bindgen_prelude::{External, Utf16String};
use napi_derive::napi;

use super::error::Result;
use super::http::http_provider;
use super::read::{Fields, SummarizerKind, budget_limits, known_limit, misuse, model_limits, prompt_limit};
use crate::budget::refine_budgets::{DEFAULT_RESERVE, RefineSettings, RefineWindow};
use crate::checkpoint::files::FileOperations;
use crate::compact::compaction::{Compaction, Method};
use crate::compact::generate::{DEFAULT_SUMMARY, LEAST_SUMMARY};
use crate::compact::recovery::{OnFailure, Recovery};
use crate::prompt::notice::for_a_model;
use crate::prompt::redact::Secrets;
use crate::provider::connections::Connections;
use crate::provider::http::HttpProvider;
use crate::summarize::cache::{Cache, Shelf};
use crate::summarize::run::Bounds;
use crate::tokens::estimate::CharsPerToken;
use crate::transcript::passage::Passage;
use crate::transcript::weigh::Sizing;

/// What was read of a request in JavaScript.
#[napi(object, object_to_js = false)]
pub struct RunInput {
    /// Messages of the history; the rest of the passage is the turn prefix.
    pub history: u32,
    /// The previous summary as it is stored; empty for none.
    pub previous: String,
    /// Paths that were read, as the host knows them.
    pub read: Option<Vec<String>>,
    /// Paths that were changed, as the host knows them.
    pub modified: Option<Vec<String>>,
    /// Paths that the earlier checkpoint names as read.
    pub earlier_read: Vec<String>,
    /// And as changed.
    pub earlier_modified: Vec<String>,
    /// Numbers of the budget, then of the summarizer's model or else of the main model.
    pub limits: Vec<f64>,
    /// Exact strings that must not leave.
    pub secrets: Vec<Utf16String>,
    /// Numbers in `[0, 1)` for jitter.
    pub random: Vec<f64>,
    /// Whether the host listens to events.
    pub hears_events: bool,
    /// Whether the host has a word on retries.
    pub decides_retries: bool,
    /// The refine strategy, where it is chosen.
    pub refine: Option<RefineIn>,
    /// Name of the session, where finished requests are to be kept.
    pub session: Option<String>,
    /// `provider/id` of the summarizer's model.
    pub model: Option<String>,
    /// What is to be done with a failure, where that is asked for.
    pub recovery: Option<RecoveryIn>,
}

/// What a refine run needs beside the numbers of its model.
#[napi(object, object_to_js = false)]
pub struct RefineIn {
    /// Main window, reserve, `maxPromptTokens`, `maxOutputTokens`, `summaryCeilingTokens`; negative where absent.
    pub numbers: Vec<f64>,
    /// UTF-16 units of a token; negative for the default.
    pub chars_per_token: f64,
    /// When it is written, as a person reads it.
    pub written_at: Option<String>,
}

/// What a recovery needs beside the numbers of the budget.
#[napi(object, object_to_js = false)]
pub struct RecoveryIn {
    /// Recent context that the host keeps; negative where it does not say.
    pub keep_recent: f64,
    /// Tokens of what every request holds, and of the messages about to be sent.
    pub beside: f64,
    /// Tokens of the tail behind a summary.
    pub tail: f64,
    /// `fail`, `notice` or `excerpt`.
    pub on_failure: String,
}

/// Who writes.
pub(super) enum Writer {
    Extractive { most: usize },
    Host(Bounds),
    Http(Bounds, Box<HttpProvider>),
}

impl Writer {
    pub(super) fn of(
        request: Fields<'_, '_>,
        preset: Bounds,
        connections: Option<&External<Arc<Connections>>>,
    ) -> Result<Self> {
        let bounds = request.bounds(preset)?;
        let summarizer = request.part("summarizer")?;
        let summarizer = Fields::of(&summarizer, "request.summarizer");
        Ok(match (summarizer.summarizer_kind()?, connections) {
            (SummarizerKind::Extractive, _) => {
                Self::Extractive { most: summarizer.summary_chars(LEAST_SUMMARY, DEFAULT_SUMMARY)? }
            }
            (SummarizerKind::Callback, _) => Self::Host(bounds),
            (SummarizerKind::Http, Some(connections)) => {
                Self::Http(bounds, Box::new(http_provider(summarizer, connections)?))
            }
            (SummarizerKind::Http, None) => return Err(misuse()),
        })
    }
}

impl RunInput {
    /// The compaction of a range that is still to be read, within what the request says.
    pub(super) fn compaction(&self, request: Fields<'_, '_>, cache: &Arc<Cache>) -> Result<Compaction> {
        let files = match (&self.read, &self.modified) {
            (Some(read), Some(modified)) => Some(FileOperations::known(read, modified)),
            _ => None,
        };
        let sizing = request.sizing()?;
        let (method, sizing) = match &self.refine {
            None => (Method::Chain(prompt_limit(&self.limits)?), sizing),
            Some(refine) => {
                let chars_per_token = refine_ratio(refine.chars_per_token)?;
                let mut window = refine_window(&self.limits, &refine.numbers)?;
                window.main = window.main.or_else(|| budget_window(&self.limits));
                let method = Method::Refine { window, written_at: refine.written_at.clone() };
                (method, Sizing { chars_per_token, ..sizing })
            }
        };
        let mut compaction = Compaction {
            range: Passage::default(),
            history: self.history as usize,
            previous: for_a_model(&self.previous),
            files,
            earlier_files: FileOperations::known(&self.earlier_read, &self.earlier_modified),
            method,
            prompts: request.prompt_texts()?,
            secrets: Secrets::new(self.secrets.iter().map(|secret| secret.to_vec())),
            sizing,
            shelf: None,
        };
        compaction.shelf = self.shelf(&compaction, cache);
        Ok(compaction)
    }

    fn shelf(&self, compaction: &Compaction, cache: &Arc<Cache>) -> Option<Shelf> {
        let (session, model) = (self.session.as_deref()?, self.model.as_deref()?);
        Some(Shelf::new(Arc::clone(cache), session, model, &compaction.budget_names()))
    }

    /// What is to be done with a failure, where that is asked for.
    pub(super) fn recovery(&self, request: Fields<'_, '_>) -> Result<Option<Recovery>> {
        let Some(recovery) = &self.recovery else { return Ok(None) };
        let [hard_limit, request_headroom, ..] = self.limits.as_slice() else { return Err(misuse()) };
        let limits = budget_limits([*hard_limit, *request_headroom]);
        Ok(Some(Recovery {
            limits,
            keep_recent: known_limit(recovery.keep_recent).unwrap_or(limits.keep_recent()),
            beside: recovery.beside as u64,
            tail: recovery.tail as u64,
            previous: self.previous.clone(),
            on_failure: match recovery.on_failure.as_str() {
                "notice" => OnFailure::Notice,
                "excerpt" => OnFailure::Excerpt,
                "fail" => OnFailure::Fail,
                _ => return Err(misuse()),
            },
            chars_per_token: request.sizing()?.chars_per_token,
        }))
    }
}

/// The window that a budget is a part of.
fn budget_window(limits: &[f64]) -> Option<u64> {
    let (hard_limit, headroom) = (limits.first()?, limits.get(1)?);
    Some(*hard_limit as u64 + *headroom as u64)
}

/// UTF-16 units of a token in a refine run; negative for its own default.
pub(super) fn refine_ratio(stated: f64) -> Result<CharsPerToken> {
    if stated < 0.0 { Ok(CharsPerToken::REFINE) } else { Ok(CharsPerToken::new(stated)?) }
}

/// Premises of refine budgets, by their numbers.
pub(super) fn refine_window(limits: &[f64], numbers: &[f64]) -> Result<RefineWindow> {
    let (&[_, _, window, output, input], &[main, reserve, prompt, answer, ceiling]) = (limits, numbers)
    else {
        return Err(misuse());
    };
    Ok(RefineWindow {
        main: known_limit(main),
        model: model_limits([window, output, input]),
        reserve: known_limit(reserve).unwrap_or(DEFAULT_RESERVE),
        settings: RefineSettings {
            max_prompt_tokens: known_limit(prompt),
            max_output_tokens: known_limit(answer),
            summary_ceiling_tokens: known_limit(ceiling),
        },
    })
}
