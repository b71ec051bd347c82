//! A model behind HTTP: one request sent, one answer read.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode, Url};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use super::connections::Connections;
use super::draft::Draft;
use super::error_body;
use super::json::parsed;
use super::retry_after::retry_after;
use super::sse::{Event, Incoming};
use super::trouble::Trouble;
use super::wire::WireModel;
use super::{Failure, Provider, Reply, SummaryRequest};
use crate::model::Usage;

/// Silence that a request bears unless the caller says otherwise.
pub const DEFAULT_IDLE: Duration = Duration::from_secs(300);
/// How long the body of an error is awaited.
const ERROR_WITHIN: Duration = Duration::from_secs(10);
/// The most bytes of an error that are read.
const MOST_ERROR: usize = 64 << 10;
/// The most bytes of an answer in one piece.
const MOST_WHOLE: usize = 32 << 20;
/// The shortest part of a header that is taken for a secret where it comes back.
const SHORTEST_SECRET: usize = 8;

/// Where requests go, and with what.
pub struct Endpoint {
    /// The model.
    pub model: WireModel,
    /// The address, with path and query.
    pub url: Url,
    /// Every header; those that are sensitive come back in no error.
    pub headers: HeaderMap,
    /// Silence that a request bears.
    pub idle: Duration,
    /// When the run began, by the clock and by the timers: there is no other clock here.
    pub began: (SystemTime, Instant),
}

impl Endpoint {
    /// Whether a request says who sends it.
    fn authorizes(&self) -> bool {
        let names = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];
        let query = self.url.query().unwrap_or_default();
        let in_url = !self.url.username().is_empty() || query.contains("key=");
        in_url || names.iter().any(|name| self.headers.contains_key(*name))
    }

    /// Whether what a provider gives as its code is a credential, or a piece of one, that came back.
    fn is_secret(&self, code: &str) -> bool {
        let values = self.headers.values().filter(|value| value.is_sensitive());
        let values = values.filter_map(|value| value.to_str().ok());
        let url = &self.url;
        let in_url = [url.username(), url.password().unwrap_or_default(), url.query().unwrap_or_default()];
        let parts = values.chain(in_url).flat_map(|value| value.split([' ', ',', ';', '=', '&']));
        let mut long = parts.filter(|part| part.len() >= SHORTEST_SECRET);
        long.any(|part| code.contains(part) || part.contains(code))
    }
}

/// A request as it is sent.
pub struct Prepared {
    body: Bytes,
    /// Tokens at which an answer is not believed to be whole.
    doubtful_length: Option<u64>,
}

/// Speaks to a model over HTTP.
pub struct HttpProvider {
    connections: Arc<Connections>,
    endpoint: Endpoint,
}

impl Provider for HttpProvider {
    type Prepared = Prepared;

    fn prepare(&self, request: SummaryRequest) -> Prepared {
        let model = &self.endpoint.model;
        Prepared { body: model.body(&request).into(), doubtful_length: model.doubtful_length(&request) }
    }

    async fn complete(&self, request: &Prepared, begins: &(dyn Fn() + Sync)) -> Reply {
        let mut draft = Draft::default();
        let read = self.exchange(request.body.clone(), &mut draft, begins).await;
        if let Some(length) = request.doubtful_length {
            draft.suspect_cut(length);
        }
        // What broke after the answer had ended, or after an error was reported, took nothing of it.
        let outcome = match read {
            Err(failure) if !draft.has_ended() && !draft.has_failed() => Err(failure),
            _ => draft.finish(),
        };
        let outcome = outcome.map_err(|failure| failure.showing(|code| self.endpoint.is_secret(code)));
        let prices = &self.endpoint.model.prices;
        let usage = draft.usage.map(|usage| Usage { cost: prices.cost(&usage), ..usage });
        Reply { outcome, usage }
    }
}

impl HttpProvider {
    /// A provider over the connections of an environment.
    #[must_use]
    pub fn new(connections: Arc<Connections>, endpoint: Endpoint) -> Self {
        Self { connections, endpoint }
    }

    async fn exchange(
        &self,
        body: Bytes,
        draft: &mut Draft,
        begins: &(dyn Fn() + Sync),
    ) -> Result<(), Failure> {
        let response = self.send(body).await?;
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        let mut incoming = Incoming::new(response, self.endpoint.idle);
        let kind = if incoming.announces_events() { None } else { incoming.first_sign().await? };
        match kind {
            Some(b'<') => Err(Trouble::WebPage.into()),
            Some(b'{' | b'[') => {
                let (whole, trouble) = incoming.whole(MOST_WHOLE).await;
                let data = String::from_utf8_lossy(&whole).into_owned();
                let event = Event { name: String::new(), data };
                let read = self.read(stream::iter([Ok(event)]), draft, begins).await;
                trouble.map_or(read, |trouble| Err(trouble.into()))
            }
            _ => self.read(incoming.events(), draft, begins).await,
        }
    }

    async fn send(&self, body: Bytes) -> Result<Response, Failure> {
        let Endpoint { url, headers, idle, .. } = &self.endpoint;
        let request = self.connections.client()?.post(url.clone()).headers(headers.clone()).body(body);
        let response = timeout(*idle, request.send()).await.map_err(|_| Trouble::Silence)?;
        response.map_err(|error| transport_trouble(&error).into())
    }

    async fn refusal(&self, response: Response) -> Failure {
        let status = response.status();
        let now = self.endpoint.began.0 + self.endpoint.began.1.elapsed();
        let headers = response.headers().clone();
        let wish = retry_after(|name| headers.get(name)?.to_str().ok(), now);
        let mut incoming = Incoming::new(response, self.endpoint.idle);
        // Status and headers are known: the rest is worth a short wait.
        let body =
            timeout(ERROR_WITHIN, incoming.whole(MOST_ERROR)).await.map_or(Vec::new(), |(body, _)| body);
        let text = String::from_utf8_lossy(&body);
        let mut failure = match parsed(&text) {
            Some(body) => error_body::failure(&body),
            // Plain words serve. A web page says nothing of the request, and JSON that was cut may quote it.
            None if text.trim_start().starts_with(['<', '{', '[']) => Failure::default(),
            None => Failure::of_words(&text),
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
            401 | 403 if self.endpoint.authorizes() => Some(Trouble::KeyRefused),
            401 | 403 => Some(Trouble::KeyMissing),
            404 => Some(Trouble::NotFound),
            407 => Some(Trouble::Proxy),
            _ => None,
        }
    }

    async fn read(
        &self,
        events: impl Stream<Item = Result<Event, Trouble>>,
        draft: &mut Draft,
        begins: &(dyn Fn() + Sync),
    ) -> Result<(), Failure> {
        let mut events = std::pin::pin!(events);
        let mut began = false;
        // When the answer last grew: behind its end, not every event gives more time.
        let mut grown = (Instant::now(), 0);
        while !draft.is_over() {
            if !draft.has_ended() || draft.length() > grown.1 {
                grown = (Instant::now(), draft.length());
            }
            let next = if draft.has_ended() {
                timeout_at(grown.0 + self.endpoint.model.aftermath(draft), events.next()).await
            } else {
                Ok(events.next().await)
            };
            let Ok(Some(event)) = next else { break };
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
            None if event.name == "error" => draft.fail_as(Failure::of_words(data)),
            None => return Err(Trouble::Garbled.into()),
        }
        Ok(())
    }

    fn read_value(&self, value: &Value, draft: &mut Draft) {
        if value.get("error").is_some_and(says_something) {
            draft.fail(value);
        } else {
            self.endpoint.model.read(draft, value);
        }
    }
}

/// Gateways fill the place of an error with nothing.
fn says_something(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(_) => false,
        Value::String(words) => !words.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    }
}

/// What kept a request from being answered.
fn transport_trouble(error: &reqwest::Error) -> Trouble {
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
