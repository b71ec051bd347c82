//! One run: its requests, counted and repeated, until it is done or given up.

use std::future::Future;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::events::Event;
use super::tally::Log;
use crate::error::{CompactionError, ErrorCode, FailedRequest};
use crate::provider::answer::BadAnswer;
use crate::provider::classify::{Class, classify};
use crate::provider::overflow::Overflow;
use crate::provider::retry::RetryPolicy;
use crate::provider::trouble::Trouble;
use crate::provider::{Ending, Failure, Provider, Reply, SummaryRequest};

/// Why a run ended without a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The host gave it up.
    Aborted,
    /// It failed.
    Failed(CompactionError),
    /// A prompt was too large.
    Overflowed(Box<Overflowed>),
}

impl Ended {
    /// Why it failed; nothing for a run that was given up.
    #[must_use]
    pub fn error(&self) -> Option<&CompactionError> {
        match self {
            Self::Aborted => None,
            Self::Failed(error) => Some(error),
            Self::Overflowed(overflow) => Some(&overflow.error),
        }
    }
}

/// A prompt that was too large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overflowed {
    /// Why the run ends, unless the rest is planned again.
    pub error: CompactionError,
    /// Its size by our own measure.
    pub sent: Sent,
    /// What the provider said of sizes.
    pub said: Overflow,
}

impl From<CompactionError> for Ended {
    fn from(error: CompactionError) -> Self {
        Self::Failed(error)
    }
}

/// What a run tells its host, and asks it.
pub trait Host: Sync {
    /// Hears of a step.
    fn hear(&self, event: Event);
    /// The host's own word on whether a failed request is sent again; `None` leaves it to the classifier.
    fn would_retry(&self, error: &CompactionError) -> impl Future<Output = Option<bool>> + Send;
    /// A random number in `[0, 1)` for the jitter of a delay.
    fn random(&self) -> f64;
}

/// Bounds of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// How a request is repeated.
    pub retry: RetryPolicy,
    /// The most requests, first tries and retries alike.
    pub max_requests: u32,
}

impl Bounds {
    /// Those of a chain (requirements A16, G1; design: Rules of the house 7).
    pub const CHAIN: Self = Self { retry: RetryPolicy::SUMMARY, max_requests: 64 };
    /// Those of a refine run.
    pub const REFINE: Self = Self { retry: RetryPolicy::REFINE, max_requests: 256 };
}

/// A run under way.
pub struct Run<'a, P, H> {
    provider: &'a P,
    log: &'a Log<'a, H>,
    bounds: Bounds,
    cancel: CancellationToken,
}

/// Where a request stands in its run.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Which one, from 1.
    pub index: u32,
    /// Of how many.
    pub of: u32,
    /// Its size.
    pub sent: Sent,
}

/// The size of a request, in estimated tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// Of the text that is summarized or carried along: what a plan measures.
    pub text: u64,
    /// Of the user message.
    pub prompt: u64,
    /// Of everything.
    pub whole: u64,
}

impl<'a, P: Provider, H: Host> Run<'a, P, H> {
    /// A run that has not sent anything.
    pub fn new(provider: &'a P, log: &'a Log<'a, H>, bounds: Bounds, cancel: CancellationToken) -> Self {
        Self { provider, log, bounds, cancel }
    }

    /// Requests sent so far.
    #[must_use]
    pub fn sent(&self) -> u32 {
        self.log.requests()
    }

    /// The most requests.
    #[must_use]
    pub fn max_requests(&self) -> u32 {
        self.bounds.max_requests
    }

    /// Who hears of it, and what it has done.
    #[must_use]
    pub fn log(&self) -> &'a Log<'a, H> {
        self.log
    }

    /// Tells the host.
    pub fn tell(&self, event: Event) {
        self.log.tell(event);
    }

    /// The summary that a request brings, after as many tries as the policy allows.
    ///
    /// # Errors
    /// [`Ended::Aborted`] as soon as the run is given up; else why the last try failed.
    pub async fn ask(&self, request: SummaryRequest, place: Place) -> Result<String, Ended> {
        let request = self.provider.prepare(request);
        for attempt in 1.. {
            let reply = self.send(&request, place, attempt).await?;
            let fault = match self.judge(reply) {
                Ok(summary) => return Ok(summary),
                Err(fault) => fault,
            };
            let error = fault.error(attempt, &self.bounds.retry);
            if let Some(said) = fault.overflow {
                return Err(Ended::Overflowed(Box::new(Overflowed { error, sent: place.sent, said })));
            }
            let delay = self.unless_aborted(self.delay(&fault, &error, attempt)).await?;
            let delay = delay.ok_or(Ended::Failed(error))?;
            self.refuse_beyond_limit()?;
            let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
            self.tell(Event::Retry { index: place.index, attempt, delay_ms, code: fault.code });
            self.unless_aborted(tokio::time::sleep(delay)).await?;
        }
        Err(Ended::Aborted)
    }

    async fn send(&self, request: &P::Prepared, place: Place, attempt: u32) -> Result<Reply, Ended> {
        if self.cancel.is_cancelled() {
            return Err(Ended::Aborted);
        }
        self.refuse_beyond_limit()?;
        self.log.count(|tally| tally.requests += 1);
        let Place { index, of, sent } = place;
        self.tell(Event::Request { index, of, attempt, prompt_tokens: sent.prompt });
        let begins = || self.tell(Event::FirstToken { index, attempt });
        self.unless_aborted(self.provider.complete(request, &begins)).await
    }

    fn refuse_beyond_limit(&self) -> Result<(), Ended> {
        let most = self.bounds.max_requests;
        if self.sent() < most {
            return Ok(());
        }
        let message =
            format!("the limit of {most} requests is reached; raise maxRequests or allow larger chunks");
        Err(CompactionError::budget(message).into())
    }

    /// Runs the future until it is done or the run is given up; the abort comes first when both are there.
    async fn unless_aborted<T>(&self, future: impl Future<Output = T>) -> Result<T, Ended> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Ended::Aborted),
            done = future => Ok(done),
        }
    }

    fn judge(&self, reply: Reply) -> Result<String, Fault> {
        if let Some(usage) = reply.usage {
            self.log.count(|tally| tally.usage = Some(tally.usage.map_or(usage, |sum| sum.and(usage))));
        }
        let answer = reply.outcome.map_err(|failure| Fault::of(&failure))?;
        if answer.ending == Ending::Aborted {
            // Nobody here aborted: whatever cut the answer off may pass (requirements D61, G3).
            return Err(Fault::provider(Class::Transient));
        }
        answer.summary().map(str::to_owned).map_err(Fault::bad)
    }

    async fn delay(&self, fault: &Fault, error: &CompactionError, attempt: u32) -> Option<Duration> {
        let retry = &self.bounds.retry;
        let passes = fault.class == Class::Transient
            || (fault.code == ErrorCode::SummaryEmpty && retry.repeats_empty_answers);
        let again = self.log.host().would_retry(error).await.unwrap_or(passes);
        again.then(|| retry.delay(attempt, fault.wish, self.log.host().random())).flatten()
    }
}

/// What a status says more exactly than the class.
fn by_status(class: Class, failure: &Failure) -> Option<&'static str> {
    match (class, failure.status) {
        (Class::Transient, Some(429)) => Some(
            "the provider limits the rate of requests; try again later, or allow a longer retry.maxAgentDelayMs",
        ),
        (Class::Permanent, Some(400 | 405 | 415 | 422)) => Some(
            "the provider refused the request as it was put; check the model's api, id and compat (maxTokensField \
             above all), and its limits",
        ),
        (Class::Permanent, None) if failure.codes.is_empty() => Some(
            "the request failed, and nothing says that it would pass the next time; the cause, where there is one, \
             is what the host's own client threw",
        ),
        _ => None,
    }
}

/// Why one try brought no summary.
#[derive(Debug, Clone)]
struct Fault {
    code: ErrorCode,
    class: Class,
    message: &'static str,
    status: Option<u16>,
    provider_code: Option<String>,
    /// Milliseconds that the provider asks to wait.
    wish: Option<f64>,
    /// What was said of sizes, where the prompt was too large: it would be so again, whatever the host thinks.
    overflow: Option<Overflow>,
}

impl Fault {
    fn of(failure: &Failure) -> Self {
        let class = classify(failure);
        let fault = Self::provider(class);
        let known = failure.trouble.filter(|trouble| trouble.class() == class);
        Self {
            message: known
                .map(Trouble::message)
                .or_else(|| by_status(class, failure))
                .unwrap_or(fault.message),
            status: failure.status,
            provider_code: failure.shown_code.clone(),
            wish: failure.retry_after_ms,
            overflow: (class == Class::Overflow).then(|| Overflow::of(&failure.words)),
            ..fault
        }
    }

    fn provider(class: Class) -> Self {
        let (code, message) = match class {
            Class::Transient => (
                ErrorCode::SummaryProvider,
                "the provider was overloaded, unreachable or cut the answer off; try again later",
            ),
            Class::Permanent => (
                ErrorCode::SummaryProvider,
                "the provider refused the request; check the key, the account's quota and the model's name",
            ),
            Class::Overflow => (
                ErrorCode::ContextOverflow,
                "the provider says that the prompt is larger than its model takes; state the model's real \
                 contextWindow or maxInputTokens",
            ),
        };
        let (status, provider_code, wish, overflow) = (None, None, None, None);
        Self { code, class, message, status, provider_code, wish, overflow }
    }

    fn bad(answer: BadAnswer) -> Self {
        Self { code: answer.code, message: answer.message, ..Self::provider(Class::Permanent) }
    }

    fn error(&self, attempts: u32, retry: &RetryPolicy) -> CompactionError {
        let tries = if attempts == 1 { "once".to_owned() } else { format!("{attempts} times") };
        let wish = match self.wish {
            Some(ms) if ms > retry.max_delay_ms => {
                format!("; it asks to wait {:.0} s, longer than the longest delay allowed", ms / 1_000.0)
            }
            _ => String::new(),
        };
        let retryable = self.class == Class::Transient;
        let provider_code = self.provider_code.clone();
        let request = Some(FailedRequest { status: self.status, retryable, attempts, provider_code });
        let message = format!("{} (tried {tries}{wish})", self.message);
        CompactionError { request, ..CompactionError::new(self.code, message) }
    }
}
