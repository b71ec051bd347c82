//! The wire formats: which there are, where a request goes, what it says, how its answer is read.

use std::time::Duration;

use serde_json::Value;

use super::draft::Draft;
use super::{Ending, SummaryRequest, anthropic, google, openai_completions, openai_responses};
use crate::model::Prices;
use crate::transcript::quote::write_utf8;

const LAST_PIECE_WITHIN: Duration = Duration::from_secs(5);
const USAGE_WITHIN: Duration = Duration::from_secs(2);
/// The connection then serves again.
const CLOSE_WITHIN: Duration = Duration::from_millis(200);

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// OpenAI's chat completions, and whoever speaks them too.
    OpenAiCompletions,
    /// OpenAI's responses.
    OpenAiResponses,
    /// Anthropic's messages.
    AnthropicMessages,
    /// Google's generative AI.
    GoogleGenerativeAi,
}

impl Api {
    /// Every wire format, by pi-ai's name for it.
    pub const NAMED: [(Self, &'static str); 4] = [
        (Self::OpenAiCompletions, "openai-completions"),
        (Self::OpenAiResponses, "openai-responses"),
        (Self::AnthropicMessages, "anthropic-messages"),
        (Self::GoogleGenerativeAi, "google-generative-ai"),
    ];
}

/// How an answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// As a stream of events.
    Stream,
    /// In one piece.
    Whole,
}

/// Field for the answer's allowance in chat completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowanceField {
    /// `max_tokens`
    MaxTokens,
    /// `max_completion_tokens`
    MaxCompletionTokens,
}

/// Role of the system prompt at OpenAI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instructor {
    /// `system`
    System,
    /// `developer`
    Developer,
}

impl Instructor {
    pub(super) fn role(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
        }
    }
}

/// A model behind a wire format.
#[derive(Debug, Clone, PartialEq)]
pub struct WireModel {
    /// What it speaks.
    pub api: Api,
    /// Its name.
    pub id: String,
    /// How answers are asked for.
    pub delivery: Delivery,
    /// Effort of its reasoning, where it reasons and may be told.
    pub effort: Option<String>,
    /// Field for the answer's allowance.
    pub allowance: AllowanceField,
    /// Role of the system prompt.
    pub instructor: Instructor,
    /// Whether the host would keep a request unless it is told not to.
    pub declines_storage: bool,
    /// Departures from the format.
    pub quirks: Quirks,
    /// What its tokens cost.
    pub prices: Prices,
}

/// Departures from a wire format, as pi-ai's `compat` names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quirks {
    /// A stream does not take the wish for usage.
    pub no_stream_usage: bool,
    /// A stream does not say how it ended; `[DONE]` is its end.
    pub no_finish_reason: bool,
    /// The answer's allowance must not be stated.
    pub no_allowance: bool,
}

impl WireModel {
    /// Path segments below the base URL.
    #[must_use]
    pub fn path(&self) -> Vec<String> {
        let segments = |path: &str| path.split('/').map(str::to_owned).collect();
        match self.api {
            Api::OpenAiCompletions => segments("chat/completions"),
            Api::OpenAiResponses => segments("responses"),
            Api::AnthropicMessages => segments("v1/messages"),
            Api::GoogleGenerativeAi => segments(&google::path(self)),
        }
    }

    /// The query of the address.
    #[must_use]
    pub fn query(&self) -> Option<(&'static str, &'static str)> {
        (self.api == Api::GoogleGenerativeAi && self.delivery == Delivery::Stream).then_some(("alt", "sse"))
    }

    /// The header that carries a key, and the headers that the format wants.
    #[must_use]
    pub fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let mut headers = match self.api {
            Api::AnthropicMessages => vec![("anthropic-version", anthropic::VERSION.to_owned())],
            _ => Vec::new(),
        };
        headers.extend(key.map(|key| match self.api {
            Api::OpenAiCompletions | Api::OpenAiResponses => ("authorization", ["Bearer ", key].concat()),
            Api::AnthropicMessages => ("x-api-key", key.to_owned()),
            Api::GoogleGenerativeAi => ("x-goog-api-key", key.to_owned()),
        }));
        headers
    }

    /// The body of a request.
    #[must_use]
    pub fn body(&self, request: &SummaryRequest) -> Vec<u8> {
        match self.api {
            Api::OpenAiCompletions => openai_completions::body(self, request),
            Api::OpenAiResponses => openai_responses::body(self, request),
            Api::AnthropicMessages => anthropic::body(self, request),
            Api::GoogleGenerativeAi => google::body(request),
        }
    }

    /// Reads an event of a stream, or an answer in one piece.
    pub fn read(&self, draft: &mut Draft, event: &Value) {
        match self.api {
            Api::OpenAiCompletions => openai_completions::read(draft, event),
            Api::OpenAiResponses => openai_responses::read(draft, event),
            Api::AnthropicMessages => anthropic::read(draft, event),
            Api::GoogleGenerativeAi => google::read(draft, event),
        }
    }

    /// Whether an event is the word that ends a stream; gateways send it in every format.
    pub fn read_word(&self, draft: &mut Draft, word: &str) -> bool {
        let ends = word == "[DONE]";
        if ends {
            if self.quirks.no_finish_reason && !draft.has_ended() {
                draft.end(Ending::Complete);
            }
            draft.over();
        }
        ends
    }

    /// How long the end of a stream is awaited when the answer has said how it ended.
    #[must_use]
    pub fn aftermath(&self, draft: &Draft) -> Duration {
        match (self.api, draft.usage) {
            // Some of its streams state an ending in every piece.
            (Api::GoogleGenerativeAi, _) => LAST_PIECE_WITHIN,
            (_, None) => USAGE_WITHIN,
            (_, Some(_)) => CLOSE_WITHIN,
        }
    }

    /// The allowance that a response may not reach if it is to be whole: llama.cpp calls one complete that its
    /// allowance cut off.
    #[must_use]
    pub fn doubtful_length(&self, request: &SummaryRequest) -> Option<u64> {
        match self.api {
            Api::OpenAiResponses => openai_responses::allowance(self, request),
            _ => None,
        }
    }
}

/// A body as bytes. The prompt stands in it last, as an empty string, so that its text can be put there in one pass:
/// most of a body is prompt.
pub(super) fn bytes(body: &impl serde::Serialize, prompt: &[u16]) -> Vec<u8> {
    // Serializing texts and numbers cannot fail.
    let frame = serde_json::to_vec(body).unwrap_or_default();
    let inside = frame.windows(2).rposition(|pair| pair == b"\"\"").map_or(0, |at| at + 1);
    let (head, tail) = frame.split_at_checked(inside).unwrap_or((&frame, &[]));
    let mut bytes = head.to_vec();
    write_utf8(prompt, &mut bytes);
    bytes.extend_from_slice(tail);
    bytes
}

/// Stands for the prompt until its text is put in.
pub(super) const PROMPT: &str = "";
