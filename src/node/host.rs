//! The host of a run: its client, its ear and its word on retries, all behind one callback.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use napi::Status;
use napi::bindgen_prelude::{Function, Utf16String};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::events::EventOut;
use super::outcome::{Finished, OutcomeOut};
use crate::error::CompactionError;
use crate::provider::{Failure, Provider, Reply, SummaryRequest};
use crate::summarize::events::Event;
use crate::summarize::run::Host;
use crate::transcript::units::mend;

/// Events that may wait for the main thread; further ones are not heard.
const MOST_EVENTS: usize = 256;
/// Calls that may wait: a run waits for each answer, so that beside the events there is one, and at last its end.
const QUEUE: usize = MOST_EVENTS + 8;

/// What the callback in `js/host.js` is called with.
#[napi(object, object_from_js = false)]
pub struct HostCall {
    /// `complete`, `retry`, `event` or `end`.
    pub kind: &'static str,
    /// To be given back with the answer; 0 for an event.
    pub id: u32,
    /// System prompt.
    pub system: Option<String>,
    /// The one user message.
    pub prompt: Option<Utf16String>,
    /// Tokens allowed for the answer.
    pub max_tokens: Option<f64>,
    /// The failure that may be retried.
    pub failure: Option<FailureOut>,
    /// What happened.
    pub event: Option<EventOut>,
    /// How the run ended.
    pub outcome: Option<OutcomeOut>,
}

/// A failure, as `isRetryable` gets to see it.
#[napi(object, object_from_js = false)]
pub struct FailureOut {
    /// `code`
    pub code: &'static str,
    /// `message`
    pub message: String,
    /// `status`
    pub status: Option<u32>,
    /// `retryable`
    pub retryable: Option<bool>,
    /// `attempts`
    pub attempts: Option<u32>,
    /// `providerCode`
    pub provider_code: Option<String>,
}

impl From<&CompactionError> for FailureOut {
    fn from(error: &CompactionError) -> Self {
        let request = error.request.as_ref();
        Self {
            code: error.code.as_str(),
            message: error.message.clone(),
            status: request.and_then(|request| request.status).map(u32::from),
            retryable: request.map(|request| request.retryable),
            attempts: request.map(|request| request.attempts),
            provider_code: request.and_then(|request| request.provider_code.clone()),
        }
    }
}

/// What the host answers.
pub(super) enum HostAnswer {
    Reply(Box<Reply>),
    /// Its word on a retry, where it has one.
    Retry(Option<bool>),
}

/// A run as JavaScript holds it: what it may cancel, and the questions that it has not answered yet.
#[derive(Default)]
pub struct RunHandle {
    pub(super) cancel: CancellationToken,
    open: Mutex<HashMap<u32, oneshot::Sender<HostAnswer>>>,
    next: AtomicU32,
}

/// A run in the hands of JavaScript. Whatever ends the environment, a worker's end above all, gives the run up.
pub struct OwnedRun(pub(super) Arc<RunHandle>);

impl Drop for OwnedRun {
    fn drop(&mut self) {
        self.0.cancel.cancel();
    }
}

impl RunHandle {
    fn ask(&self) -> (u32, oneshot::Receiver<HostAnswer>) {
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, receiver) = oneshot::channel();
        if let Ok(mut open) = self.open.lock() {
            open.insert(id, sender);
        }
        (id, receiver)
    }

    /// Hands an answer to whoever waits for it. A second answer, or one that nobody waits for, is nothing.
    pub(super) fn answer(&self, id: u32, answer: HostAnswer) {
        let waiting = self.open.lock().ok().and_then(|mut open| open.remove(&id));
        if let Some(sender) = waiting {
            let _ = sender.send(answer);
        }
    }
}

/// Keeps Node alive until the run has ended, as a pending promise of network work would.
type Callback = ThreadsafeFunction<HostCall, (), HostCall, Status, false, false, QUEUE>;

/// The host's side of a run.
pub(super) struct NodeHost {
    callback: Callback,
    waiting_events: Arc<AtomicUsize>,
    handle: Arc<RunHandle>,
    wants: Wants,
    /// Numbers for jitter, drawn when the run began.
    random: Vec<f64>,
    drawn: AtomicUsize,
}

/// What the host wants to hear and be asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wants {
    pub(super) events: bool,
    pub(super) retries: bool,
}

impl NodeHost {
    pub(super) fn new(
        callback: &Function<'_, HostCall, ()>,
        handle: Arc<RunHandle>,
        wants: Wants,
        random: Vec<f64>,
    ) -> napi::Result<Self> {
        let builder = callback.build_threadsafe_function::<HostCall>().max_queue_size::<QUEUE>();
        let waiting_events = Arc::new(AtomicUsize::new(0));
        let waiting = Arc::clone(&waiting_events);
        let callback = builder.build_callback(move |context| {
            if context.value.event.is_some() {
                waiting.fetch_sub(1, Ordering::Relaxed);
            }
            Ok(context.value)
        })?;
        Ok(Self { callback, waiting_events, handle, wants, random, drawn: AtomicUsize::new(0) })
    }

    /// Fires when the run is given up.
    pub(super) fn cancelled(&self) -> CancellationToken {
        self.handle.cancel.clone()
    }

    /// Tells how the run ended: the last call. Waits where events fill the queue.
    pub(super) fn end(&self, finished: Finished) {
        let call = HostCall { outcome: Some(finished.into()), ..call("end", 0) };
        self.callback.call(call, ThreadsafeFunctionCallMode::Blocking);
    }

    fn call(&self, call: HostCall) -> bool {
        let status = self.callback.call(call, ThreadsafeFunctionCallMode::NonBlocking);
        if status == Status::Closing {
            // The environment goes away, and the run with it.
            self.handle.cancel.cancel();
        }
        status == Status::Ok
    }

    /// The host's answer; `None` when it cannot be asked, because its environment is going away.
    async fn ask(&self, make: impl FnOnce(u32) -> HostCall) -> Option<HostAnswer> {
        let (id, answer) = self.handle.ask();
        if !self.call(make(id)) {
            return None;
        }
        answer.await.ok()
    }
}

fn call(kind: &'static str, id: u32) -> HostCall {
    HostCall {
        kind,
        id,
        system: None,
        prompt: None,
        max_tokens: None,
        failure: None,
        event: None,
        outcome: None,
    }
}

impl Provider for NodeHost {
    type Prepared = SummaryRequest;

    fn prepare(&self, mut request: SummaryRequest) -> SummaryRequest {
        mend(&mut request.prompt);
        request
    }

    async fn complete(&self, request: &SummaryRequest, _begins: &(dyn Fn() + Sync)) -> Reply {
        let answer = self.ask(|id| HostCall {
            system: Some(request.system.clone()),
            prompt: Some(request.prompt.clone().into()),
            max_tokens: Some(request.max_tokens as f64),
            ..call("complete", id)
        });
        match answer.await {
            Some(HostAnswer::Reply(reply)) => *reply,
            _ => Reply {
                outcome: Err(Failure { words: "terminated".to_owned(), ..Failure::default() }),
                usage: None,
            },
        }
    }
}

impl Host for NodeHost {
    fn hear(&self, event: Event) {
        if !self.wants.events || self.waiting_events.load(Ordering::Relaxed) >= MOST_EVENTS {
            return;
        }
        self.waiting_events.fetch_add(1, Ordering::Relaxed);
        if !self.call(HostCall { event: Some(event.into()), ..call("event", 0) }) {
            self.waiting_events.fetch_sub(1, Ordering::Relaxed);
        }
    }

    async fn would_retry(&self, error: &CompactionError) -> Option<bool> {
        if !self.wants.retries {
            return None;
        }
        match self.ask(|id| HostCall { failure: Some(error.into()), ..call("retry", id) }).await {
            Some(HostAnswer::Retry(word)) => word,
            _ => None,
        }
    }

    fn random(&self) -> f64 {
        let drawn = self.drawn.fetch_add(1, Ordering::Relaxed);
        self.random.get(drawn).copied().unwrap_or(0.5)
    }
}
