//! Google's generative AI.

use serde::Serialize;
use serde_json::Value;

use super::draft::{Draft, text, tokens};
use super::wire::{Delivery, PROMPT, WireModel, bytes};
use super::{Ending, SummaryRequest};
use crate::model::Usage;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    system_instruction: Content<'a>,
    generation_config: GenerationConfig,
    contents: [Content<'a>; 1],
}

#[derive(Serialize)]
struct Content<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'a str>,
    parts: [Part<'a>; 1],
}

#[derive(Serialize)]
struct Part<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig {
    max_output_tokens: u64,
}

pub(super) fn body(request: &SummaryRequest) -> Vec<u8> {
    let content = |role, text| Content { role, parts: [Part { text }] };
    let body = Body {
        system_instruction: content(None, &request.system),
        generation_config: GenerationConfig { max_output_tokens: request.max_tokens },
        contents: [content(Some("user"), PROMPT)],
    };
    bytes(&body, &request.prompt)
}

/// Collections that a name may begin with.
const COLLECTIONS: [&str; 2] = ["models/", "tunedModels/"];

/// The address below the base URL.
pub(super) fn path(model: &WireModel) -> String {
    let method = match model.delivery {
        Delivery::Stream => "streamGenerateContent",
        Delivery::Whole => "generateContent",
    };
    let named = COLLECTIONS.iter().any(|collection| model.id.starts_with(collection));
    let collection = if named { "" } else { "models/" };
    [collection, &model.id, ":", method].concat()
}

/// A piece of a stream has the form of the whole.
pub(super) fn read(draft: &mut Draft, piece: &Value) {
    if let Some(usage) = piece.get("usageMetadata").filter(|usage| usage.is_object()) {
        draft.usage = Some(usage_of(usage));
    }
    let parts = piece.pointer("/candidates/0/content/parts").and_then(Value::as_array);
    for part in parts.into_iter().flatten() {
        read_part(draft, part);
    }
    if text(piece, "/promptFeedback/blockReason").is_some() {
        draft.end(Ending::Refusal);
    }
    match text(piece, "/candidates/0/finishReason") {
        None | Some("FINISH_REASON_UNSPECIFIED") => {}
        Some("STOP") => draft.end(Ending::Complete),
        Some("MAX_TOKENS") => draft.end(Ending::Length),
        Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS") => {
            draft.end(Ending::ToolCall);
        }
        // Safety, recitation, a blocklist, a language that is not spoken.
        Some(_) => draft.end(Ending::Refusal),
    }
}

fn read_part(draft: &mut Draft, part: &Value) {
    if part.get("functionCall").is_some() {
        draft.call_tool();
    } else if part.get("thought").and_then(Value::as_bool) == Some(true) {
        draft.think();
    } else {
        draft.write(text(part, "/text").unwrap_or_default());
    }
}

fn usage_of(usage: &Value) -> Usage {
    let of = |path: &str| tokens(usage, path);
    let cache_read = of("/cachedContentTokenCount").unwrap_or(0.0);
    let thoughts = of("/thoughtsTokenCount");
    Usage {
        input: (of("/promptTokenCount").unwrap_or(0.0) - cache_read).max(0.0),
        output: of("/candidatesTokenCount").unwrap_or(0.0) + thoughts.unwrap_or(0.0),
        cache_read,
        reasoning: thoughts,
        total_tokens: of("/totalTokenCount").unwrap_or(0.0),
        ..Usage::default()
    }
}
