//! The exported compaction: read on the main thread, planned and written off it.

use std::sync::Arc;

use napi::bindgen_prelude::{External, Function, Object};
use napi_derive::napi;

use super::error::{Result, internal};
use super::host::{HostAnswer, HostCall, NodeHost, OwnedRun, RunHandle, Wants};
use super::outcome::Finished;
use super::read::Fields;
use super::reply::ReplyIn;
use super::request::{RunInput, Writer};
use super::runtime::runtime;
use crate::checkpoint::assemble::Checkpoint;
use crate::compact::compaction::Compaction;
use crate::compact::generate::{extract, generate as write};
use crate::compact::recovery::{Recovered, Recovery};
use crate::error::{CompactionError, ErrorCode};
use crate::provider::connections::Connections;
use crate::provider::retry::RetryPolicy;
use crate::summarize::cache::Cache;
use crate::summarize::events::Event;
use crate::summarize::run::{Bounds, Ended, Run};
use crate::summarize::tally::{Log, Stage, Tally};
use crate::transcript::passage::Unread;

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

/// Begins to write a checkpoint; the host's callback hears of the end. Empties the passage.
#[napi(catch_unwind)]
pub fn generate(
    run: &External<OwnedRun>,
    passage: &mut External<Unread>,
    input: RunInput,
    request: Object,
    cache: &External<Arc<Cache>>,
    connections: Option<&External<Arc<Connections>>>,
    host: Function<HostCall, ()>,
) -> Result<()> {
    let request = Fields::of(&request, "request");
    let preset = if input.refine.is_some() { Bounds::REFINE } else { Bounds::CHAIN };
    let writer = Writer::of(request, preset, connections)?;
    let wants = Wants { events: input.hears_events, retries: input.decides_retries };
    let host =
        NodeHost::new(&host, Arc::clone(&run.0), wants, input.random.clone()).map_err(|e| internal(&e))?;
    let compaction = input.compaction(request, cache)?;
    let recovery = input.recovery(request)?;
    let range = std::mem::take(&mut **passage);
    begin(host, Task { range, compaction, recovery, writer }).map_err(Into::into)
}

/// A compaction with all that it needs.
struct Task {
    range: Unread,
    compaction: Compaction,
    recovery: Option<Recovery>,
    writer: Writer,
}

impl Task {
    async fn run(mut self, host: &NodeHost) -> Finished {
        let log = Log::new(host);
        let read = std::mem::take(&mut self.range).read();
        let worth = self.recovery.as_ref().map_or(Ok(()), Recovery::worth_a_request);
        let outcome = match read.map(|range| self.compaction.take(range)).and(worth) {
            Ok(()) => self.written(host, &log).await,
            Err(error) => Err(error.into()),
        };
        let Recovered { outcome, fallback } = match &self.recovery {
            Some(recovery) => {
                if outcome.is_ok() {
                    log.reach(Stage::Recheck);
                }
                recovery.of(outcome, &self.compaction)
            }
            None => Recovered { outcome, fallback: None },
        };
        if let Ok(Checkpoint { tokens_before, tokens_after, .. }) = outcome {
            log.tell(Event::Done { tokens_before, tokens_after, requests: log.requests() });
        }
        Finished { outcome, fallback, tally: log.tally() }
    }

    async fn written(
        &self,
        host: &NodeHost,
        log: &Log<'_, NodeHost>,
    ) -> std::result::Result<Checkpoint, Ended> {
        let cancel = host.cancelled();
        match &self.writer {
            Writer::Extractive { most } => Ok(extract(&self.compaction, *most, log)?),
            Writer::Host(bounds) => write(&self.compaction, &Run::new(host, log, *bounds, cancel)).await,
            Writer::Http(bounds, provider) => {
                write(&self.compaction, &Run::new(&**provider, log, *bounds, cancel)).await
            }
        }
    }
}

/// Writes on a task of its own, so that a panic ends the task and not the process.
fn begin(host: NodeHost, task: Task) -> crate::error::Result<()> {
    let runtime = runtime()?;
    let host = Arc::new(host);
    let writing = Arc::clone(&host);
    let task = runtime.spawn(async move { task.run(&writing).await });
    runtime.spawn(async move {
        host.end(task.await.unwrap_or_else(|_| {
            let error = CompactionError::new(ErrorCode::Internal, "panic in generateCompaction");
            Finished { outcome: Err(error.into()), fallback: None, tally: Tally::default() }
        }));
    });
    Ok(())
}
