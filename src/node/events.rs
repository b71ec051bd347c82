//! Events on their way to JavaScript.

use napi_derive::napi;

use crate::summarize::events::Event;

/// One step of a compaction; the fields that its type has are there.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct EventOut {
    /// `plan`, `request`, `first_token`, `replan`, `retry`, `chunk`, `split`, `compress`, `warning` or `done`.
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
    /// `promptLimit`
    pub prompt_limit: Option<f64>,
    /// `summaryTokens`
    pub summary_tokens: Option<f64>,
    /// `cached`
    pub cached: Option<bool>,
    /// `cause`
    pub cause: Option<&'static str>,
    /// `depth`
    pub depth: Option<u32>,
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

impl EventOut {
    fn of_kind(kind: &'static str) -> Self {
        Self { kind, ..Self::default() }
    }

    /// A step of the whole run.
    fn of_run(requests: u32, kind: &'static str) -> Self {
        Self { requests: Some(requests), ..Self::of_kind(kind) }
    }

    /// A step of one request.
    fn of_request(index: u32, kind: &'static str) -> Self {
        Self { index: Some(index), ..Self::of_kind(kind) }
    }
}

impl From<Event> for EventOut {
    #[expect(clippy::too_many_lines, reason = "an arm for each event, and nothing else")]
    fn from(event: Event) -> Self {
        let tokens = |tokens: u64| Some(tokens as f64);
        match event {
            Event::Plan { requests, shape, reduced } => {
                Self { shape: Some(shape.name()), reduced: Some(reduced), ..Self::of_run(requests, "plan") }
            }
            Event::Request { index, of, attempt, prompt_tokens } => Self {
                of: Some(of),
                attempt: Some(attempt),
                prompt_tokens: tokens(prompt_tokens),
                ..Self::of_request(index, "request")
            },
            Event::FirstToken { index, attempt } => {
                Self { attempt: Some(attempt), ..Self::of_request(index, "first_token") }
            }
            Event::Replan { requests, shape, prompt_limit } => Self {
                shape: Some(shape.name()),
                prompt_limit: tokens(prompt_limit),
                ..Self::of_run(requests, "replan")
            },
            Event::Retry { index, attempt, delay_ms, code } => Self {
                attempt: Some(attempt),
                delay_ms: tokens(delay_ms),
                code: Some(code.as_str()),
                ..Self::of_request(index, "retry")
            },
            Event::Chunk { index, of, summary_tokens, cached } => Self {
                of: Some(of),
                summary_tokens: tokens(summary_tokens),
                cached: Some(cached),
                ..Self::of_request(index, "chunk")
            },
            Event::Split { index, of, cause, depth } => Self {
                of: Some(of),
                cause: Some(cause.name()),
                depth: Some(depth),
                ..Self::of_request(index, "split")
            },
            Event::Compress { tokens_before, tokens_after } => Self {
                tokens_before: tokens(tokens_before),
                tokens_after: tokens(tokens_after),
                ..Self::of_kind("compress")
            },
            Event::Warning(message) => Self { message: Some(message), ..Self::of_kind("warning") },
            Event::Done { tokens_before, tokens_after, requests } => Self {
                tokens_before: tokens(tokens_before),
                tokens_after: tokens(tokens_after),
                ..Self::of_run(requests, "done")
            },
        }
    }
}
