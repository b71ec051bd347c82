//! The exported compaction: read on the main thread, written off it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::bindgen_prelude::{AsyncTask, External, Object};
use napi::{Env, Task};
use napi_derive::napi;

use super::error::Result;
use super::read::Fields;
use crate::budget::window::PromptLimit;
use crate::checkpoint::assemble::Checkpoint;
use crate::checkpoint::files::FileOperations;
use crate::compact::generate::{Compaction, DEFAULT_SUMMARY, LEAST_SUMMARY, generate as write};
use crate::error::{CompactionError, ErrorCode};
use crate::transcript::store::Store;

/// Paths by what was done to them, as the host knows them.
#[napi(object, object_to_js = false)]
pub struct FilesIn {
    /// Read.
    pub read: Vec<String>,
    /// Written or edited.
    pub modified: Vec<String>,
}

impl From<FilesIn> for FileOperations {
    fn from(files: FilesIn) -> Self {
        Self::known(&files.read, &files.modified)
    }
}

/// A checkpoint, or why there is none: an asynchronous rejection could carry no code of ours.
#[napi(object, object_from_js = false)]
pub struct CheckpointOut {
    /// The summary with its file lists.
    pub summary: String,
    /// `readFiles`
    pub read_files: Vec<String>,
    /// `modifiedFiles`
    pub modified_files: Vec<String>,
    /// Estimated tokens of what was summarized.
    pub tokens_before: f64,
    /// Estimated tokens of the summary.
    pub tokens_after: f64,
    /// The code of a failure.
    pub code: Option<&'static str>,
    /// Its message.
    pub message: Option<String>,
}

/// A compaction on a thread of the pool.
pub struct Generation(Compaction);

impl Task for Generation {
    type Output = std::result::Result<Checkpoint, CompactionError>;
    type JsValue = CheckpointOut;

    fn compute(&mut self) -> napi::Result<Self::Output> {
        let panicked = |_| Err(CompactionError::new(ErrorCode::Internal, "panic in generateCompaction"));
        Ok(catch_unwind(AssertUnwindSafe(|| write(&self.0))).unwrap_or_else(panicked))
    }

    fn resolve(&mut self, _env: Env, output: Self::Output) -> napi::Result<CheckpointOut> {
        Ok(output.map_or_else(failed, written))
    }
}

fn written(checkpoint: Checkpoint) -> CheckpointOut {
    CheckpointOut {
        summary: checkpoint.summary,
        read_files: checkpoint.files.read,
        modified_files: checkpoint.files.modified,
        tokens_before: checkpoint.tokens_before as f64,
        tokens_after: checkpoint.tokens_after as f64,
        code: None,
        message: None,
    }
}

fn failed(error: CompactionError) -> CheckpointOut {
    CheckpointOut {
        summary: String::new(),
        read_files: Vec::new(),
        modified_files: Vec::new(),
        tokens_before: 0.0,
        tokens_after: 0.0,
        code: Some(error.code.as_str()),
        message: Some(error.message),
    }
}

/// Writes a checkpoint without a model. Takes the store's contents.
#[napi(catch_unwind)]
pub fn generate(
    store: &mut External<Store>,
    previous: String,
    files: Option<FilesIn>,
    request: Object,
    budget: Object,
    summarizer: Object,
) -> Result<AsyncTask<Generation>> {
    let request = Fields::of(&request, "request");
    let (measure, sizing) = (request.measure()?, request.sizing()?);
    let limit =
        PromptLimit::of(Fields::of(&budget, "request.budget").budget()?, request.limits("mainModel")?);
    let most = Fields::of(&summarizer, "request.summarizer").summary_chars(LEAST_SUMMARY, DEFAULT_SUMMARY)?;
    Ok(AsyncTask::new(Generation(Compaction {
        range: std::mem::take(&mut **store),
        previous,
        files: files.map(FileOperations::from),
        limit,
        measure,
        sizing,
        most,
    })))
}
