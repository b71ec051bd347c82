//! Context compaction for coding agents built on pi.
//!
//! Data flows one way, and `scripts/check-arrows.mjs` holds it to that:
//! `node` → `compact` → `summarize`, `checkpoint` → `plan`, `provider` → `budget` → `prompt` → `transcript` →
//! `tokens`; `session` → `transcript`. Only `node` knows Node; everything else is a pure function of values.

pub mod budget;
pub mod checkpoint;
pub mod compact;
pub mod error;
pub mod model;
#[cfg(feature = "node")]
mod node;
pub mod plan;
pub mod prompt;
pub mod provider;
pub mod session;
pub mod summarize;
pub mod tokens;
pub mod transcript;
