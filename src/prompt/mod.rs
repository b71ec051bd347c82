//! The prompt of a summary request: templates, tags, and what they add to the text.

pub mod build;
pub mod frame;
pub mod freshness;
mod lines;
pub mod lists;
pub mod neutralize;
pub mod notice;
pub mod redact;
