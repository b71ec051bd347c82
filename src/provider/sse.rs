//! A response as server-sent events, bounded in silence and in size.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use sse_stream::SseByteStream;
use tokio::time::timeout;

use super::trouble::Trouble;

/// The most bytes of an answer: far more than the longest summary with all its events.
const MOST_BYTES: usize = 64 << 20;

/// Why a response cannot be read on.
#[derive(Debug, thiserror::Error)]
#[error("{0:?}")]
struct Broken(Trouble);

/// The bytes of a response. Each read is awaited no longer than `idle`.
pub struct Incoming {
    response: Response,
    idle: Duration,
    read: usize,
    /// What was read to find out what it is.
    ahead: Option<Bytes>,
}

impl Incoming {
    /// The bytes behind the headers of a response.
    #[must_use]
    pub fn new(response: Response, idle: Duration) -> Self {
        Self { response, idle, read: 0, ahead: None }
    }

    /// Whether the headers announce events.
    #[must_use]
    pub fn announces_events(&self) -> bool {
        let kind = self.response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/event-stream"))
    }

    /// The first byte that is no white space and no byte order mark.
    ///
    /// # Errors
    /// What kept it from coming.
    pub async fn first_sign(&mut self) -> Result<Option<u8>, Trouble> {
        let mut read = Vec::new();
        loop {
            let chunk = self.chunk().await?;
            let is_end = chunk.is_none();
            read.extend_from_slice(&chunk.unwrap_or_default());
            let text = read.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&read);
            let sign = text.iter().copied().find(|byte| !byte.is_ascii_whitespace());
            if sign.is_some() || is_end {
                self.ahead = Some(Bytes::copy_from_slice(text));
                return Ok(sign);
            }
        }
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, Trouble> {
        if let Some(ahead) = self.ahead.take() {
            return Ok(Some(ahead));
        }
        let chunk = timeout(self.idle, self.response.chunk()).await.map_err(|_| Trouble::Silence)?;
        let chunk = chunk.map_err(|_| Trouble::Cut)?;
        self.read += chunk.as_ref().map_or(0, Bytes::len);
        if self.read > MOST_BYTES { Err(Trouble::Endless) } else { Ok(chunk) }
    }

    /// The whole, no longer than `most` bytes, and what is there of it when the connection breaks.
    pub async fn whole(&mut self, most: usize) -> (Vec<u8>, Option<Trouble>) {
        let mut all = Vec::new();
        loop {
            match self.chunk().await {
                Ok(Some(chunk)) => all.extend_from_slice(&chunk),
                Ok(None) => return (all, None),
                Err(trouble) => return (all, Some(trouble)),
            }
            if all.len() > most {
                all.truncate(most);
                return (all, Some(Trouble::Endless));
            }
        }
    }

    /// The events, as they come.
    pub fn events(self) -> impl Stream<Item = Result<Event, Trouble>> {
        let chunks = stream::unfold(Some(self), |incoming| async {
            let mut incoming = incoming?;
            match incoming.chunk().await {
                Ok(Some(chunk)) => Some((Ok(chunk), Some(incoming))),
                // The last event may lack the blank line that would end it.
                Ok(None) => Some((Ok(Bytes::from_static(b"\n\n")), None)),
                Err(trouble) => Some((Err(Broken(trouble)), None)),
            }
        });
        SseByteStream::new(Box::pin(chunks)).map(|event| match event {
            Ok(event) => {
                Ok(Event { name: event.event.unwrap_or_default(), data: event.data.unwrap_or_default() })
            }
            Err(sse_stream::Error::Body(error)) => Err(trouble(error.as_ref())),
            Err(_) => Err(Trouble::Garbled),
        })
    }
}

/// One event.
pub struct Event {
    /// Its name; empty for none.
    pub name: String,
    /// Its data; empty for none.
    pub data: String,
}

fn trouble(error: &(dyn Error + 'static)) -> Trouble {
    error.downcast_ref::<Broken>().map_or(Trouble::Cut, |broken| broken.0)
}
