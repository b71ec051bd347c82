//! What a host's client answered, as `js/host.js` reports it.

use napi_derive::napi;

use crate::model::{Cost, Usage};
use crate::provider::{Answer, Ending, Failure, Reply};

/// The facts of an answer or a failure. The rules for them are in `provider`.
#[napi(object, object_to_js = false)]
pub struct ReplyIn {
    /// The text blocks, a line each.
    pub text: String,
    /// Whether there is a tool call.
    pub calls_tool: bool,
    /// Whether there is thinking.
    pub thinks: bool,
    /// `stop`, `length`, `toolUse`, `aborted`, `refusal`, `error`; anything else is no answer.
    pub ending: String,
    /// The words of a failure.
    pub words: String,
    /// Its structured code.
    pub code: Option<String>,
    /// Its HTTP status.
    pub status: Option<f64>,
    /// How long it asks to wait.
    pub retry_after_ms: Option<f64>,
    /// What was billed: input, output, cache read, cache write, total, then the cost of each.
    pub usage: Option<Vec<f64>>,
    /// Part of the cache writes that stays for an hour.
    #[napi(js_name = "cacheWrite1h")]
    pub cache_write_1h: Option<f64>,
    /// Part of the output that is thinking.
    pub reasoning: Option<f64>,
}

impl From<ReplyIn> for Reply {
    fn from(reply: ReplyIn) -> Self {
        let usage = reply.usage.as_deref().and_then(|numbers| usage(numbers, &reply));
        let outcome = match ending(&reply.ending) {
            Some(ending) => {
                Ok(Answer { text: reply.text, calls_tool: reply.calls_tool, thinks: reply.thinks, ending })
            }
            None => Err(Failure {
                codes: reply.code.into_iter().filter(|code| code != "error").collect(),
                status: reply
                    .status
                    .filter(|status| (100.0..600.0).contains(status))
                    .map(|status| status as u16),
                retry_after_ms: reply.retry_after_ms,
                ..Failure::of_words(&reply.words)
            }
            .showing(|_| false)),
        };
        Self { outcome, usage }
    }
}

fn ending(name: &str) -> Option<Ending> {
    match name {
        "stop" => Some(Ending::Complete),
        "length" => Some(Ending::Length),
        "toolUse" => Some(Ending::ToolCall),
        "aborted" => Some(Ending::Aborted),
        "refusal" | "content_filter" | "sensitive" => Some(Ending::Refusal),
        "error" => None,
        _ => Some(Ending::Foreign),
    }
}

fn usage(numbers: &[f64], reply: &ReplyIn) -> Option<Usage> {
    let &[input, output, cache_read, cache_write, total_tokens, ref cost @ ..] = numbers else { return None };
    let &[cost_input, cost_output, cost_read, cost_write, cost_total] = cost else { return None };
    Some(Usage {
        input,
        output,
        cache_read,
        cache_write,
        cache_write_1h: reply.cache_write_1h,
        reasoning: reply.reasoning,
        total_tokens,
        cost: Cost {
            input: cost_input,
            output: cost_output,
            cache_read: cost_read,
            cache_write: cost_write,
            total: cost_total,
        },
    })
}
