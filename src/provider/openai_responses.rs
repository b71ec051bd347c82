//! OpenAI's responses.

use serde::Serialize;
use serde_json::Value;

use super::draft::{Draft, text, tokens};
use super::wire::{Delivery, PROMPT, WireModel, bytes};
use super::{Ending, SummaryRequest};
use crate::model::Usage;

/// The API refuses a smaller allowance.
const LEAST_OUTPUT: u64 = 16;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    /// A summary of somebody's work is not to be kept by the provider.
    store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning<'a>>,
    input: (System<'a>, User<'a>),
}

#[derive(Serialize)]
struct System<'a> {
    role: &'a str,
    content: &'a str,
}

#[derive(Serialize)]
struct User<'a> {
    role: &'a str,
    content: [Part<'a>; 1],
}

#[derive(Serialize)]
struct Part<'a> {
    r#type: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct Reasoning<'a> {
    effort: &'a str,
}

pub(super) fn body(model: &WireModel, request: &SummaryRequest) -> Vec<u8> {
    let body = Body {
        model: &model.id,
        stream: model.delivery == Delivery::Stream,
        store: false,
        max_output_tokens: allowance(model, request),
        reasoning: model.effort.as_deref().map(|effort| Reasoning { effort }),
        input: (
            System { role: model.instructor.role(), content: &request.system },
            User { role: "user", content: [Part { r#type: "input_text", text: PROMPT }] },
        ),
    };
    bytes(&body, &request.prompt)
}

/// Tokens that the answer is allowed, where that may be said.
pub(super) fn allowance(model: &WireModel, request: &SummaryRequest) -> Option<u64> {
    (!model.quirks.no_allowance).then_some(request.max_tokens.max(LEAST_OUTPUT))
}

/// An event of a stream, or a response in one piece.
pub(super) fn read(draft: &mut Draft, event: &Value) {
    let Some(kind) = text(event, "/type") else { return close(draft, event) };
    match kind {
        "response.output_text.delta" => {
            let index = |field: &str| event.get(field).and_then(Value::as_u64).unwrap_or(0);
            let block = block(index("output_index"), index("content_index"));
            draft.write_block(block, text(event, "/delta").unwrap_or_default());
        }
        "response.refusal.delta" => draft.refuse(),
        "response.output_item.added" | "response.output_item.done" => {
            read_kind(draft, text(event, "/item/type").unwrap_or_default());
        }
        "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
            close(draft, event.get("response").unwrap_or(event));
        }
        "error" => draft.fail(event),
        kind if kind.starts_with("response.reasoning") => draft.think(),
        _ => {}
    }
}

/// A message may have several parts and a response several messages; each is a block.
fn block(output: u64, content: u64) -> u64 {
    output.saturating_mul(1 << 16).saturating_add(content)
}

fn read_kind(draft: &mut Draft, kind: &str) {
    match kind {
        "reasoning" => draft.think(),
        kind if kind.ends_with("_call") => draft.call_tool(),
        _ => {}
    }
}

/// A finished response: how it ended, what it cost, and its text where none was streamed.
fn close(draft: &mut Draft, response: &Value) {
    if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
        draft.usage = Some(usage_of(usage));
    }
    let streamed = draft.length() > 0;
    for (item, number) in response.get("output").and_then(Value::as_array).into_iter().flatten().zip(0..) {
        read_kind(draft, text(item, "/type").unwrap_or_default());
        let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
        for (part, index) in parts.zip(0..) {
            match text(part, "/type") {
                Some("refusal") => draft.refuse(),
                Some("output_text") if !streamed => {
                    draft.write_block(block(number, index), text(part, "/text").unwrap_or_default());
                }
                _ => {}
            }
        }
    }
    end(draft, response);
}

fn end(draft: &mut Draft, response: &Value) {
    match (text(response, "/status"), text(response, "/incomplete_details/reason")) {
        (Some("completed"), _) => draft.end(Ending::Complete),
        (Some("incomplete"), Some("content_filter")) => draft.end(Ending::Refusal),
        (Some("incomplete"), _) => draft.end(Ending::Length),
        (Some("failed" | "cancelled"), _) => draft.fail(response),
        _ => return,
    }
    draft.over();
}

fn usage_of(usage: &Value) -> Usage {
    let of = |path: &str| tokens(usage, path);
    let cache_read = of("/input_tokens_details/cached_tokens").unwrap_or(0.0);
    let cache_write = of("/input_tokens_details/cache_write_tokens").unwrap_or(0.0);
    Usage {
        input: (of("/input_tokens").unwrap_or(0.0) - cache_read - cache_write).max(0.0),
        output: of("/output_tokens").unwrap_or(0.0),
        cache_read,
        cache_write,
        reasoning: of("/output_tokens_details/reasoning_tokens"),
        total_tokens: of("/total_tokens").unwrap_or(0.0),
        ..Usage::default()
    }
}
