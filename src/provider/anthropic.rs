//! Anthropic's messages.

use serde::Serialize;
use serde_json::Value;

use super::draft::{Draft, text, tokens};
use super::wire::{Delivery, PROMPT, WireModel, bytes};
use super::{Ending, SummaryRequest};

/// Value of the header `anthropic-version`.
pub(super) const VERSION: &str = "2023-06-01";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    system: &'a str,
    max_tokens: u64,
    stream: bool,
    messages: [Message<'a>; 1],
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'a str,
    content: &'a str,
}

pub(super) fn body(model: &WireModel, request: &SummaryRequest) -> Vec<u8> {
    let body = Body {
        model: &model.id,
        system: &request.system,
        max_tokens: request.max_tokens,
        stream: model.delivery == Delivery::Stream,
        messages: [Message { role: "user", content: PROMPT }],
    };
    bytes(&body, &request.prompt)
}

/// An event of a stream, or a message in one piece.
pub(super) fn read(draft: &mut Draft, event: &Value) {
    let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
    match text(event, "/type") {
        Some("message_start") => read_usage(draft, event.pointer("/message/usage")),
        Some("content_block_start") => {
            if let Some(block) = event.get("content_block") {
                read_block(draft, index, block);
            }
        }
        Some("content_block_delta") => read_delta(draft, index, event),
        Some("message_delta") => {
            read_usage(draft, event.get("usage"));
            end(draft, event.pointer("/delta/stop_reason"));
        }
        Some("message_stop") => draft.over(),
        Some("message") => read_whole(draft, event),
        Some("error") => draft.fail(event),
        _ => {}
    }
}

fn read_whole(draft: &mut Draft, message: &Value) {
    let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
    for (block, index) in blocks.zip(0..) {
        read_block(draft, index, block);
    }
    read_usage(draft, message.get("usage"));
    end(draft, message.get("stop_reason"));
    draft.over();
}

fn read_block(draft: &mut Draft, index: u64, block: &Value) {
    match text(block, "/type") {
        Some("text") => draft.write_block(index, text(block, "/text").unwrap_or_default()),
        Some("thinking" | "redacted_thinking") => draft.think(),
        Some(kind) if kind.ends_with("tool_use") => draft.call_tool(),
        _ => {}
    }
}

fn read_delta(draft: &mut Draft, index: u64, event: &Value) {
    match text(event, "/delta/type") {
        Some("text_delta") => draft.write_block(index, text(event, "/delta/text").unwrap_or_default()),
        Some("thinking_delta") => draft.think(),
        _ => {}
    }
}

fn end(draft: &mut Draft, reason: Option<&Value>) {
    match reason.and_then(Value::as_str) {
        None => {}
        Some("end_turn" | "stop_sequence") => draft.end(Ending::Complete),
        // The second: prompt and answer together fill the window.
        Some("max_tokens" | "model_context_window_exceeded") => draft.end(Ending::Length),
        Some("tool_use") => draft.end(Ending::ToolCall),
        Some("refusal" | "sensitive") => draft.end(Ending::Refusal),
        Some(_) => draft.end(Ending::Unknown),
    }
}

/// A later report replaces the numbers that it states.
fn read_usage(draft: &mut Draft, report: Option<&Value>) {
    let Some(report) = report.filter(|report| report.is_object()) else { return };
    let of = |path: &str| tokens(report, path);
    let mut usage = draft.usage.unwrap_or_default();
    let fields = [
        (&mut usage.input, "/input_tokens"),
        (&mut usage.output, "/output_tokens"),
        (&mut usage.cache_read, "/cache_read_input_tokens"),
        (&mut usage.cache_write, "/cache_creation_input_tokens"),
    ];
    for (field, path) in fields {
        *field = of(path).unwrap_or(*field);
    }
    usage.cache_write_1h = of("/cache_creation/ephemeral_1h_input_tokens").or(usage.cache_write_1h);
    usage.reasoning = of("/output_tokens_details/thinking_tokens").or(usage.reasoning);
    usage.total_tokens = usage.input + usage.output + usage.cache_read + usage.cache_write;
    draft.usage = Some(usage);
}
