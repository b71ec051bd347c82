//! The exported compaction: read on the main thread, planned and written off it.

use std::sync::Arc;

use napi::bindgen_prelude::{External, Function, Object, Utf16String};
use napi_derive::napi;

use super::error::{Result, internal};
use super::host::{HostAnswer, HostCall, NodeHost, OwnedRun, RunHandle, Wants};
use super::http::http_provider;
use super::read::{Fields, SummarizerKind, misuse, prompt_limit};
use super::reply::ReplyIn;
use super::runtime::runtime;
use crate::checkpoint::files::FileOperations;
use crate::compact::generate::{Compaction, DEFAULT_SUMMARY, LEAST_SUMMARY, extract, generate as write};
use crate::error::{CompactionError, ErrorCode};
use crate::prompt::redact::Secrets;
use crate::provider::connections::Connections;
use crate::provider::http::HttpProvider;
use crate::provider::retry::RetryPolicy;
use crate::summarize::run::{Bounds, Ended, Run};
use crate::transcript::resident::Passage;

/// A new run, before it has begun.
#[napi(catch_unwind)]
pub fn new_run() -> External<OwnedRun> {
    External::new(OwnedRun(Arc::new(RunHandle::default())))
}

/// Gives a run up: whatever it waits for ends, and no further request leaves.
#[napi(catch_unwind)]
pub fn cancel_run(run: &External<OwnedRun>) {
    run.0.cancel.cancel();
}

/// The answer to a request.
#[napi(catch_unwind)]
pub fn answer_request(run: &External<OwnedRun>, id: u32, reply: ReplyIn) {
    run.0.answer(id, HostAnswer::Reply(Box::new(reply.into())));
}

/// The host's word on a retry.
#[napi(catch_unwind)]
pub fn answer_retry(run: &External<OwnedRun>, id: u32, word: Option<bool>) {
    run.0.answer(id, HostAnswer::Retry(word));
}

/// A retry policy, as pi's settings state one.
#[napi(object, object_from_js = false)]
pub struct PolicyOut {
    /// `enabled`
    pub enabled: bool,
    /// `maxRetries`
    pub max_retries: u32,
    /// `baseDelayMs`
    pub base_delay_ms: f64,
}

/// The policy of a chain when none is given.
#[napi(catch_unwind)]
pub fn summary_retry_policy() -> PolicyOut {
    let RetryPolicy { max_retries, base_delay_ms, .. } = RetryPolicy::SUMMARY;
    PolicyOut { enabled: true, max_retries, base_delay_ms }
}

/// What was read of a request in JavaScript.
#[napi(object, object_to_js = false)]
pub struct RunInput {
    /// Messages of the history; the rest of the passage is the turn prefix.
    pub history: u32,
    /// The previous summary; empty for none.
    pub previous: String,
    /// Paths that were read, as the host knows them.
    pub read: Option<Vec<String>>,
    /// Paths that were changed, as the host knows them.
    pub modified: Option<Vec<String>>,
    /// Numbers of the budget, then of the summarizer's model or else of the main model.
    pub limits: Vec<f64>,
    /// Exact strings that must not leave.
    pub secrets: Vec<Utf16String>,
    /// Numbers in `[0, 1)` for jitter.
    pub random: Vec<f64>,
    /// Whether the host listens to events.
    pub hears_events: bool,
    /// Whether the host has a word on retries.
    pub decides_retries: bool,
}

/// Who writes.
enum Writer {
    Extractive { most: usize },
    Host(Bounds),
    Http(Bounds, Box<HttpProvider>),
}

/// Begins to write a checkpoint; the host's callback hears of the end. Empties the passage.
#[napi(catch_unwind)]
pub fn generate(
    run: &External<OwnedRun>,
    passage: &mut External<Passage>,
    input: RunInput,
    request: Object,
    connections: Option<&External<Arc<Connections>>>,
    host: Function<HostCall, ()>,
) -> Result<()> {
    let request = Fields::of(&request, "request");
    let writer = writer(request, connections)?;
    let wants = Wants { events: input.hears_events, retries: input.decides_retries };
    let host =
        NodeHost::new(&host, Arc::clone(&run.0), wants, input.random.clone()).map_err(|e| internal(&e))?;
    let compaction = compaction(std::mem::take(&mut **passage), input, request)?;
    begin(host, compaction, writer).map_err(Into::into)
}

fn writer(request: Fields<'_, '_>, connections: Option<&External<Arc<Connections>>>) -> Result<Writer> {
    let bounds = request.bounds()?;
    let summarizer = request.part("summarizer")?;
    let summarizer = Fields::of(&summarizer, "request.summarizer");
    Ok(match (summarizer.summarizer_kind()?, connections) {
        (SummarizerKind::Extractive, _) => {
            Writer::Extractive { most: summarizer.summary_chars(LEAST_SUMMARY, DEFAULT_SUMMARY)? }
        }
        (SummarizerKind::Callback, _) => Writer::Host(bounds),
        (SummarizerKind::Http, Some(connections)) => {
            Writer::Http(bounds, Box::new(http_provider(summarizer, connections)?))
        }
        (SummarizerKind::Http, None) => return Err(misuse()),
    })
}

fn compaction(range: Passage, input: RunInput, request: Fields<'_, '_>) -> Result<Compaction> {
    let secrets = Secrets::new(input.secrets.iter().map(|secret| secret.to_vec()));
    let files = match (input.read, input.modified) {
        (Some(read), Some(modified)) => Some(FileOperations::known(&read, &modified)),
        _ => None,
    };
    Ok(Compaction {
        range,
        history: input.history as usize,
        previous: input.previous,
        files,
        limit: prompt_limit(&input.limits)?,
        prompts: request.prompt_texts()?,
        secrets,
        sizing: request.sizing()?,
    })
}

/// Writes on a task of its own, so that a panic ends the task and not the process.
fn begin(host: NodeHost, compaction: Compaction, writer: Writer) -> crate::error::Result<()> {
    let runtime = runtime()?;
    let host = Arc::new(host);
    let writing = Arc::clone(&host);
    let task = runtime.spawn(async move {
        match writer {
            Writer::Extractive { most } => extract(&compaction, most, &*writing).map_err(Ended::from),
            Writer::Host(bounds) => {
                let run = Run::new(&*writing, &*writing, bounds, writing.cancelled());
                write(&compaction, &run).await
            }
            Writer::Http(bounds, provider) => {
                let run = Run::new(&*provider, &*writing, bounds, writing.cancelled());
                write(&compaction, &run).await
            }
        }
    });
    runtime.spawn(async move {
        let panicked =
            || Ended::Failed(CompactionError::new(ErrorCode::Internal, "panic in generateCompaction"));
        host.end(task.await.unwrap_or_else(|_| Err(panicked())));
    });
    Ok(())
}
