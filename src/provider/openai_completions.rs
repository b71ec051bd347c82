//! OpenAI's chat completions.

use serde::Serialize;
use serde_json::Value;

use super::draft::{Draft, text, tokens};
use super::trouble::Trouble;
use super::wire::{AllowanceField, Delivery, PROMPT, WireModel, bytes};
use super::{Ending, Failure, SummaryRequest};
use crate::model::Usage;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<bool>,
    messages: [Message<'a>; 2],
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'a str,
    content: &'a str,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

pub(super) fn body(model: &WireModel, request: &SummaryRequest) -> Vec<u8> {
    let streams = model.delivery == Delivery::Stream;
    let allowed = |field| (model.allowance == field).then_some(request.max_tokens);
    let body = Body {
        model: &model.id,
        stream: streams,
        stream_options: (streams && !model.quirks.no_stream_usage)
            .then_some(StreamOptions { include_usage: true }),
        max_tokens: allowed(AllowanceField::MaxTokens),
        max_completion_tokens: allowed(AllowanceField::MaxCompletionTokens),
        reasoning_effort: model.effort.as_deref(),
        store: model.declines_storage.then_some(false),
        messages: [
            Message { role: model.instructor.role(), content: &request.system },
            Message { role: "user", content: PROMPT },
        ],
    };
    bytes(&body, &request.prompt)
}

/// A chunk of a stream holds a `delta`, an answer in one piece a `message`; the rest is alike.
pub(super) fn read(draft: &mut Draft, chunk: &Value) {
    let usage = chunk.get("usage").filter(|usage| usage.is_object());
    // Moonshot reports usage inside the choice.
    if let Some(usage) = usage.or_else(|| chunk.pointer("/choices/0/usage")).filter(|usage| usage.is_object())
    {
        draft.usage = Some(usage_of(usage));
    }
    let Some(choice) = chunk.pointer("/choices/0") else { return };
    let part = |field: &str| choice.get(field).filter(|part| part.is_object());
    if let Some(said) = part("delta").or_else(|| part("message")) {
        read_message(draft, said);
    }
    if part("error").is_some() {
        return draft.fail(choice);
    }
    match text(choice, "/finish_reason") {
        None | Some("") => {}
        Some("stop" | "end" | "eos" | "eos_token" | "stop_sequence") => draft.end(Ending::Complete),
        Some("length" | "max_tokens") => draft.end(Ending::Length),
        Some("tool_calls" | "function_call") => draft.end(Ending::ToolCall),
        Some("content_filter" | "refusal" | "sensitive") => draft.end(Ending::Refusal),
        // z.ai says so of a prompt.
        Some(reason @ "model_context_window_exceeded") => {
            draft.fail_as(Failure { codes: vec![reason.to_owned()], ..Failure::default() });
        }
        // Gateways say so of a model behind them.
        Some("network_error" | "error") => draft.fail_as(Trouble::Cut.into()),
        Some(_) => draft.end(Ending::Unknown),
    }
}

fn read_message(draft: &mut Draft, said: &Value) {
    match said.get("content") {
        Some(Value::String(content)) => draft.write(content),
        // Mistral answers in parts.
        Some(Value::Array(parts)) => parts.iter().for_each(|part| read_part(draft, part)),
        _ => {}
    }
    let some = |field: &str| match said.get(field) {
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Object(_)) => true,
        _ => false,
    };
    if ["reasoning_content", "reasoning", "reasoning_text", "reasoning_details"]
        .iter()
        .any(|field| some(field))
    {
        draft.think();
    }
    if some("tool_calls") || some("function_call") {
        draft.call_tool();
    }
    if some("refusal") {
        draft.refuse();
    }
}

fn read_part(draft: &mut Draft, part: &Value) {
    match text(part, "/type") {
        Some("thinking") => draft.think(),
        _ => draft.write(text(part, "/text").unwrap_or_default()),
    }
}

fn usage_of(usage: &Value) -> Usage {
    let of = |path: &str| tokens(usage, path);
    let cached = of("/prompt_tokens_details/cached_tokens")
        .or_else(|| of("/prompt_cache_hit_tokens"))
        .or_else(|| of("/cached_tokens"));
    let cache_read = cached.unwrap_or(0.0);
    let cache_write = of("/prompt_tokens_details/cache_write_tokens").unwrap_or(0.0);
    let input = (of("/prompt_tokens").unwrap_or(0.0) - cache_read - cache_write).max(0.0);
    let output = of("/completion_tokens").unwrap_or(0.0);
    Usage {
        input,
        output,
        cache_read,
        cache_write,
        reasoning: of("/completion_tokens_details/reasoning_tokens"),
        total_tokens: input + output + cache_read + cache_write,
        ..Usage::default()
    }
}
