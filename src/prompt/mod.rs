//! The prompt of a summary request: templates, tags, and what they add to the text.

pub mod build;
pub mod neutralize;
pub mod redact;
