//! A session file, read on a thread of Node's pool. The command line alone calls it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use napi::bindgen_prelude::AsyncTask;
use napi::{Env, JsError, Task};
use napi_derive::napi;

use super::error::Error;
use crate::error::{CompactionError, ErrorCode};
use crate::session::projection::SessionContext;

/// A line of a session file and what is the matter with it.
#[napi(object)]
pub struct SessionLine {
    /// The line, from 1.
    pub line: f64,
    /// Why it is named.
    pub reason: String,
}

/// The context of a session's newest branch. JSON text keeps the lone surrogates that a string would lose.
#[napi(object)]
pub struct Session {
    /// JSON text of each message: what the latest compaction kept, then what followed it.
    pub messages: Vec<String>,
    /// JSON text of the id of the entry that each message came from; null in version 1.
    pub ids: Vec<Option<String>>,
    /// JSON text of the latest compaction's summary, a string.
    pub previous_summary: Option<String>,
    /// JSON text of the latest compaction's details, an object.
    pub previous_details: Option<String>,
    /// Size of the context that the latest compaction replaced, in tokens.
    pub tokens_before: Option<f64>,
    /// Messages at the start whose usage reports speak of another context.
    pub stale: u32,
    /// Whether the branch ends in a compaction.
    pub ends_in_compaction: bool,
    /// Where the branch begins, when it does so too late.
    pub gap: Option<SessionLine>,
    /// Lines that could not be used.
    pub skipped: Vec<SessionLine>,
}

impl From<SessionContext> for Session {
    fn from(context: SessionContext) -> Self {
        let line = |line: u64, reason: &str| SessionLine { line: line as f64, reason: reason.to_owned() };
        let previous = context.previous.unwrap_or_default();
        let (messages, ids) = context.messages.into_iter().map(|message| (message.json, message.id)).unzip();
        Self {
            messages,
            ids,
            previous_summary: previous.summary,
            previous_details: previous.details,
            tokens_before: previous.tokens_before,
            stale: context.stale as u32,
            ends_in_compaction: context.ends_in_compaction,
            gap: context.gap.map(|gap| line(gap.line, gap.reason)),
            skipped: context.skipped.iter().map(|skipped| line(skipped.line, skipped.reason)).collect(),
        }
    }
}

/// The reading of one file.
pub struct ReadSession(PathBuf);

impl Task for ReadSession {
    type Output = Result<SessionContext, Error>;
    type JsValue = Session;

    fn compute(&mut self) -> napi::Result<Self::Output> {
        let read = catch_unwind(AssertUnwindSafe(|| SessionContext::read(&self.0)));
        Ok(read.unwrap_or_else(|panic| Err(panicked(panic.as_ref()))).map_err(Error::from))
    }

    // A task's own errors have Node-API's codes only; ours are made here, on the thread of JavaScript.
    fn resolve(&mut self, env: Env, read: Self::Output) -> napi::Result<Session> {
        read.map(Session::from).map_err(|error| napi::Error::from(JsError::from(error).into_unknown(env)))
    }
}

fn panicked(panic: &(dyn Any + Send)) -> CompactionError {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    CompactionError::new(ErrorCode::Internal, text.unwrap_or_else(|| "panic".to_owned()))
}

/// Reads a session file.
#[napi(catch_unwind, ts_return_type = "Promise<Session>")]
pub fn read_session(path: String) -> AsyncTask<ReadSession> {
    AsyncTask::new(ReadSession(PathBuf::from(path)))
}
