//! Events on their way to JavaScript.

use napi_derive::napi;

use crate::summarize::events::Event;

/// One step of a compaction; the fields that its type has are there.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct EventOut {
    /// `plan`, `request`, `retry`, `chunk`, `warning` or `done`.
    #[napi(js_name = "type")]
    pub kind: &'static str,
    /// `requests`
    pub requests: Option<u32>,
    /// `shape`
    pub shape: Option<&'static str>,
    /// `reduced`
    pub reduced: Option<bool>,
    /// `index`
    pub index: Option<u32>,
    /// `of`
    pub of: Option<u32>,
    /// `attempt`
    pub attempt: Option<u32>,
    /// `promptTokens`
    pub prompt_tokens: Option<f64>,
    /// `summaryTokens`
    pub summary_tokens: Option<f64>,
    /// `delayMs`
    pub delay_ms: Option<f64>,
    /// `code`
    pub code: Option<&'static str>,
    /// `message`
    pub message: Option<&'static str>,
    /// `tokensBefore`
    pub tokens_before: Option<f64>,
    /// `tokensAfter`
    pub tokens_after: Option<f64>,
}

impl From<Event> for EventOut {
    fn from(event: Event) -> Self {
        let of_kind = |kind| Self { kind, ..Self::default() };
        match event {
            Event::Plan { requests, shape, reduced } => Self {
                requests: Some(requests),
                shape: Some(shape.name()),
                reduced: Some(reduced),
                ..of_kind("plan")
            },
            Event::Request { index, of, attempt, prompt_tokens } => Self {
                index: Some(index),
                of: Some(of),
                attempt: Some(attempt),
                prompt_tokens: Some(prompt_tokens as f64),
                ..of_kind("request")
            },
            Event::Retry { index, attempt, delay_ms, code } => Self {
                index: Some(index),
                attempt: Some(attempt),
                delay_ms: Some(delay_ms as f64),
                code: Some(code.as_str()),
                ..of_kind("retry")
            },
            Event::Chunk { index, of, summary_tokens } => Self {
                index: Some(index),
                of: Some(of),
                summary_tokens: Some(summary_tokens as f64),
                ..of_kind("chunk")
            },
            Event::Warning(message) => Self { message: Some(message), ..of_kind("warning") },
            Event::Done { tokens_before, tokens_after, requests } => Self {
                tokens_before: Some(tokens_before as f64),
                tokens_after: Some(tokens_after as f64),
                requests: Some(requests),
                ..of_kind("done")
            },
        }
    }
}
