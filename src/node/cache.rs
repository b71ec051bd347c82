//! The cache of finished requests, as JavaScript holds it.

use std::sync::Arc;

use napi::bindgen_prelude::External;
use napi_derive::napi;

use crate::summarize::cache::Cache;

/// A finished request.
#[napi(object)]
pub struct KeptSummary {
    /// What was asked, and by whom.
    pub key: String,
    /// The answer.
    pub summary: String,
}

/// An empty cache.
#[napi(catch_unwind)]
pub fn new_cache() -> External<Arc<Cache>> {
    External::new(Arc::default())
}

/// What is kept of one session, or of all, least recently used first.
#[napi(catch_unwind)]
pub fn kept_summaries(cache: &External<Arc<Cache>>, session: Option<String>) -> Vec<KeptSummary> {
    let entries = cache.entries(session.as_deref());
    entries.into_iter().map(|(key, summary)| KeptSummary { key, summary }).collect()
}

/// Keeps what another cache has kept.
#[napi(catch_unwind)]
pub fn keep_summaries(cache: &External<Arc<Cache>>, entries: Vec<KeptSummary>) {
    for KeptSummary { key, summary } in entries {
        cache.keep(key, summary);
    }
}
