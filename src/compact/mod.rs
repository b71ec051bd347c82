//! A compaction from beginning to end.

pub mod generate;
pub mod plan;
