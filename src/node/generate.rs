//! The exported compaction: read on the main thread, planned and written off it.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{External, Function, Object, PromiseRaw, Utf16String};
use napi_derive::napi;

use super::error::{Result, internal};
use super::host::{HostAnswer, HostCall, NodeHost, RunHandle, Wants};
use super::outcome::OutcomeOut;
use super::read::{Fields, SummarizerKind};
use super::reply::ReplyIn;
use crate::checkpoint::assemble::Checkpoint;
use crate::checkpoint::files::FileOperations;
use crate::compact::generate::{Compaction, DEFAULT_SUMMARY, LEAST_SUMMARY, extract, generate as write};
use crate::error::{CompactionError, ErrorCode};
use crate::prompt::redact::Secrets;
use crate::summarize::run::{Bounds, Ended, Run};
use crate::transcript::store::Store;

/// A new run, before it has begun.
#[napi(catch_unwind)]
pub fn new_run() -> External<Arc<RunHandle>> {
    External::new(Arc::new(RunHandle::default()))
}

/// Gives a run up: whatever it waits for ends, and no further request leaves.
#[napi(catch_unwind)]
pub fn cancel_run(run: &External<Arc<RunHandle>>) {
    run.cancel.cancel();
}

/// The answer to a request.
#[napi(catch_unwind)]
pub fn answer_request(run: &External<Arc<RunHandle>>, id: u32, reply: ReplyIn) {
    run.answer(id, HostAnswer::Reply(reply.into()));
}

/// The host's word on a retry.
#[napi(catch_unwind)]
pub fn answer_retry(run: &External<Arc<RunHandle>>, id: u32, word: Option<bool>) {
    run.answer(id, HostAnswer::Retry(word));
}

/// What was read of a request in JavaScript.
#[napi(object, object_to_js = false)]
pub struct RunInput {
    /// Messages of the history; the rest of the store is the turn prefix.
    pub history: u32,
    /// The previous summary; empty for none.
    pub previous: String,
    /// Paths that were read, as the host knows them.
    pub read: Option<Vec<String>>,
    /// Paths that were changed, as the host knows them.
    pub modified: Option<Vec<String>>,
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
    Host(NodeHost, Bounds),
}

/// Writes a checkpoint. Takes the store's contents.
#[napi(catch_unwind)]
pub fn generate<'env>(
    env: &'env Env,
    run: &External<Arc<RunHandle>>,
    store: &mut External<Store>,
    input: RunInput,
    request: Object,
    host: Function<HostCall, ()>,
) -> Result<PromiseRaw<'env, OutcomeOut>> {
    let handle = Arc::clone(run);
    let request = Fields::of(&request, "request");
    let summarizer = request.part("summarizer")?;
    let chosen = Fields::of(&summarizer, "request.summarizer");
    let writer = match chosen.summarizer_kind()? {
        SummarizerKind::Extractive => {
            Writer::Extractive { most: chosen.summary_chars(LEAST_SUMMARY, DEFAULT_SUMMARY)? }
        }
        SummarizerKind::Callback => {
            let wants = Wants { events: input.hears_events, retries: input.decides_retries };
            let host = NodeHost::new(&host, Arc::clone(&handle), wants, input.random.clone());
            Writer::Host(host.map_err(|e| internal(&e))?, request.bounds()?)
        }
    };
    let compaction = compaction(std::mem::take(&mut **store), input, request, &summarizer)?;
    let outcome = async move { Ok(caught(handle, compaction, writer).await) };
    env.spawn_future_with_callback(outcome, |_, outcome| Ok(OutcomeOut::from(outcome)))
        .map_err(|e| internal(&e))
}

fn compaction(
    mut range: Store,
    input: RunInput,
    request: Fields<'_, '_>,
    summarizer: &Object<'_>,
) -> Result<Compaction> {
    let secrets = Secrets::new(input.secrets.iter().map(|secret| secret.to_vec()));
    range.change_texts(|text| secrets.mask(text));
    let files = match (input.read, input.modified) {
        (Some(read), Some(modified)) => Some(FileOperations::known(&read, &modified)),
        _ => None,
    };
    Ok(Compaction {
        range,
        history: input.history as usize,
        previous: input.previous,
        files,
        limit: request.prompt_limit(summarizer)?,
        prompts: request.prompt_texts()?,
        secrets,
        sizing: request.sizing()?,
    })
}

/// Runs on a task of its own, so that a panic ends the task and not the process.
async fn caught(
    handle: Arc<RunHandle>,
    compaction: Compaction,
    writer: Writer,
) -> std::result::Result<Checkpoint, Ended> {
    let task = tokio::spawn(async move {
        match writer {
            Writer::Extractive { most } => extract(&compaction, most).map_err(Ended::from),
            Writer::Host(host, bounds) => {
                let run = Run::new(&host, &host, bounds, handle.cancel.clone());
                write(&compaction, &run).await
            }
        }
    });
    let panicked = || Ended::Failed(CompactionError::new(ErrorCode::Internal, "panic in generateCompaction"));
    task.await.unwrap_or_else(|_| Err(panicked()))
}
