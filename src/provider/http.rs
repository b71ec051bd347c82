//! A model behind HTTP: one request sent, one answer read.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Response, StatusCode, Url};
use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::connections::Connections;
use super::draft::Draft;
use super::error_body::failure;
use super::retry_after::retry_after;
use super::sse::{Event, Incoming, events_of};
use super::trouble::Trouble;
use super::wire::{Api, WireModel};
use super::{Failure, Provider, Reply, SummaryRequest};

/// Silence that a request bears unless the caller says otherwise.
pub const DEFAULT_IDLE: Duration = Duration::from_secs(300);
/// How long usage is awaited after the answer has said how it ended.
const USAGE_WITHIN: Duration = Duration::from_secs(2);
/// How long the end of the stream is awaited when there is nothing else to come: the connection then serves again.
const CLOSE_WITHIN: Duration = Duration::from_millis(200);
/// The most bytes of an error that are read.
const MOST_ERROR: usize = 64 << 10;
/// The most bytes of an answer in one piece.
const MOST_WHOLE: usize = 32 << 20;

/// Where requests go, and with what.
pub struct Endpoint {
    /// The model.
    pub model: WireModel,
    /// The address, with path and query.
    pub url: Url,
    /// Every header but those of the body.
    pub headers: HeaderMap,
    /// Silence that a request bears.
    pub idle: Duration,
    /// When the run began: the core has no clock.
    pub began: (SystemTime, Instant),
}

/// A request as it is sent.
pub struct Prepared {
    body: Bytes,
    /// Tokens allowed for the answer.
    allowed: u64,
}

/// Speaks to a model over HTTP.
pub struct HttpProvider {
    connections: Arc<Connections>,
    endpoint: Endpoint,
}

impl Provider for HttpProvider {
    type Prepared = Prepared;

    fn prepare(&self, request: SummaryRequest) -> Prepared {
        Prepared { body: self.endpoint.model.body(&request).into(), allowed: request.max_tokens }
    }

    async fn complete(&self, request: &Prepared, begins: &(dyn Fn() + Sync)) -> Reply {
        let mut draft = Draft::default();
        let read = self.exchange(request.body.clone(), &mut draft, begins).await;
        if self.endpoint.model.api == Api::OpenAiResponses {
            draft.doubt(request.allowed);
        }
        // What broke after the answer had ended took nothing of it.
        let outcome = match read {
            Err(failure) if !draft.has_ended() => Err(failure),
            _ => draft.finish(),
        };
        let outcome = outcome.map_err(|failure| self.without_credentials(failure));
        let prices = &self.endpoint.model.prices;
        let usage = draft.usage.map(|usage| crate::model::Usage { cost: prices.cost(&usage), ..usage });
        Reply { outcome, usage }
    }
}

impl HttpProvider {
    /// A provider over the connections of an environment.
    #[must_use]
    pub fn new(connections: Arc<Connections>, endpoint: Endpoint) -> Self {
        Self { connections, endpoint }
    }

    /// A provider that echoes a key may do so where a code should stand.
    fn without_credentials(&self, mut failure: Failure) -> Failure {
        let values = self.endpoint.headers.values().filter_map(|value| value.to_str().ok());
        let parts: Vec<&str> = values.flat_map(|value| value.split([' ', ',', ';', '='])).collect();
        let is_part = |code: &String| parts.iter().any(|part| !part.is_empty() && code.contains(part));
        failure.codes.retain(|code| !is_part(code));
        failure
    }

    async fn exchange(
        &self,
        body: Bytes,
        draft: &mut Draft,
        begins: &(dyn Fn() + Sync),
    ) -> Result<(), Failure> {
        let response = self.send(body).await?;
        if !response.status().is_success() {
            return Err(self.failure(response).await);
        }
        let mut incoming = Incoming::new(response, self.endpoint.idle);
        if incoming.is_announced() {
            return self.read(incoming.events(), draft, begins).await;
        }
        let (whole, trouble) = incoming.whole(MOST_WHOLE).await;
        let read = self.read_whole(whole, draft, begins).await;
        trouble.map_or(read, |trouble| Err(trouble.into()))
    }

    async fn send(&self, body: Bytes) -> Result<Response, Failure> {
        let Endpoint { url, headers, idle, .. } = &self.endpoint;
        let request = self.connections.client()?.post(url.clone()).headers(headers.clone());
        let request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json")).body(body);
        let response = timeout(*idle, request.send()).await.map_err(|_| Trouble::Silence)?;
        response.map_err(|error| trouble(&error).into())
    }

    async fn failure(&self, response: Response) -> Failure {
        let status = response.status();
        let now = self.endpoint.began.0 + self.endpoint.began.1.elapsed();
        let headers = response.headers().clone();
        let wish = retry_after(|name| headers.get(name)?.to_str().ok(), now);
        let (body, _) = Incoming::new(response, self.endpoint.idle).whole(MOST_ERROR).await;
        let text = String::from_utf8_lossy(&body);
        let mut failure = match parsed(&text) {
            Some(body) => failure(&body, Some(status.as_u16())),
            // Plain words serve; those of a web page say nothing of the request.
            None if text.trim_start().starts_with('<') => Failure::default(),
            None => Failure { words: text.into_owned(), ..Failure::default() },
        };
        failure.status = Some(status.as_u16());
        failure.retry_after_ms = wish.or(failure.retry_after_ms);
        failure.trouble = self.trouble_of(status);
        failure
    }

    /// What a status says that needs no words.
    fn trouble_of(&self, status: StatusCode) -> Option<Trouble> {
        match status.as_u16() {
            300..=399 => Some(Trouble::Redirect),
            401 | 403 if self.authorizes() => Some(Trouble::KeyRefused),
            401 | 403 => Some(Trouble::KeyMissing),
            404 => Some(Trouble::NotFound),
            407 => Some(Trouble::Proxy),
            _ => None,
        }
    }

    fn authorizes(&self) -> bool {
        let headers = &self.endpoint.headers;
        ["authorization", "x-api-key", "x-goog-api-key", "api-key"]
            .iter()
            .any(|name| headers.contains_key(*name))
    }

    async fn read(
        &self,
        events: impl Stream<Item = Result<Event, Trouble>>,
        draft: &mut Draft,
        begins: &(dyn Fn() + Sync),
    ) -> Result<(), Failure> {
        let mut events = std::pin::pin!(events);
        let mut began = false;
        while !draft.is_over() {
            let patience = match (draft.has_ended(), draft.usage) {
                (false, _) => Duration::MAX,
                (true, None) => USAGE_WITHIN,
                (true, Some(_)) => CLOSE_WITHIN,
            };
            let Ok(Some(event)) = timeout(patience, events.next()).await else { break };
            self.read_event(&event?, draft)?;
            if !began && draft.has_begun() {
                began = true;
                begins();
            }
        }
        Ok(())
    }

    fn read_event(&self, event: &Event, draft: &mut Draft) -> Result<(), Failure> {
        let data = event.data.trim();
        if data.is_empty() || self.endpoint.model.read_word(draft, data) {
            return Ok(());
        }
        match parsed(data) {
            Some(Value::Array(pieces)) => pieces.iter().for_each(|piece| self.read_value(piece, draft)),
            Some(value) => self.read_value(&value, draft),
            None if event.name == "error" => {
                return Err(Failure { words: data.to_owned(), ..Failure::default() });
            }
            None => return Err(Trouble::Garbled.into()),
        }
        Ok(())
    }

    fn read_value(&self, value: &Value, draft: &mut Draft) {
        if value.get("error").is_some_and(|error| !error.is_null()) {
            draft.fail(value);
        } else {
            self.endpoint.model.read(draft, value);
        }
    }

    /// A body that announced no events, for what it is.
    async fn read_whole(
        &self,
        body: Vec<u8>,
        draft: &mut Draft,
        begins: &(dyn Fn() + Sync),
    ) -> Result<(), Failure> {
        let text = String::from_utf8_lossy(&body);
        match text.trim_start().chars().next() {
            None => Err(Trouble::Cut.into()),
            Some('<') => Err(Trouble::WebPage.into()),
            Some('{' | '[') => {
                let event = Event { name: String::new(), data: text.into_owned() };
                self.read(stream::iter([Ok(event)]), draft, begins).await
            }
            Some(_) => self.read(events_of(body), draft, begins).await,
        }
    }
}

/// JSON, also where a stream tore a surrogate pair apart and each half came by itself.
fn parsed(text: &str) -> Option<Value> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_lone_halves(text))).ok()
}

/// Escapes of lone surrogates, which serde refuses, as the escape of U+FFFD.
fn without_lone_halves(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let half = |from: usize| escape.get(from..from + 6).filter(|part| part.starts_with("\\u"));
        let kind = |part: Option<&str>| part.and_then(|part| part.get(2..4)).map(str::to_ascii_lowercase);
        let is =
            |part: Option<&str>, kinds: [&str; 4]| kind(part).is_some_and(|kind| kinds.contains(&&*kind));
        let high = is(half(0), ["d8", "d9", "da", "db"]);
        let low = |from| is(half(from), ["dc", "dd", "de", "df"]);
        let (written, length) = match () {
            () if high && low(6) => (escape.get(..12), 12),
            () if high || low(0) => (Some("\\ufffd"), 6),
            () => (escape.get(..2), 2),
        };
        let Some(written) = written else { break };
        mended.push_str(written);
        rest = escape.get(length..).unwrap_or_default();
    }
    mended + rest
}

/// What kept a request from being answered.
fn trouble(error: &reqwest::Error) -> Trouble {
    let mut at: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(cause) = at {
        if let Some(trouble) = known(cause) {
            return trouble;
        }
        // An error of the system may wrap another one that is no source of it.
        let wrapped = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        at = wrapped.map(|wrapped| wrapped as &(dyn std::error::Error + 'static)).or_else(|| cause.source());
    }
    if error.is_connect() || error.is_timeout() { Trouble::Unreachable } else { Trouble::Cut }
}

fn known(cause: &(dyn std::error::Error + 'static)) -> Option<Trouble> {
    if let Some(rustls::Error::InvalidCertificate(_)) = cause.downcast_ref() {
        return Some(Trouble::Certificate);
    }
    // The tunnel's own error type is private; these are its words.
    let words = cause.to_string();
    let refusals = ["tunnel error: proxy authorization required", "tunnel error: unsuccessful"];
    refusals.contains(&words.as_str()).then_some(Trouble::Proxy)
}
