//! The threads behind Node's main thread: started at the first run and not at load, two that work and a few that only
//! wait for names of hosts.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

use crate::error::{CompactionError, ErrorCode, Result};

const WORKERS: usize = 2;
/// The most threads that may block: on session files, and on names of hosts, for which the system's resolver waits.
const BLOCKING: usize = 4;

/// The runtime of the process. It outlives every environment, and with it its threads; the addon is never unloaded.
///
/// # Errors
/// `internal` where the system has no threads left.
pub(super) fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();
    let started = RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder
            .worker_threads(WORKERS)
            .max_blocking_threads(BLOCKING)
            .thread_name("pi-compaction")
            .enable_all()
            .build()
            .ok()
    });
    started.as_ref().ok_or_else(|| CompactionError::new(ErrorCode::Internal, "no threads could be started"))
}
