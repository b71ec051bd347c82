//! A compaction from beginning to end.

pub mod compaction;
pub mod generate;
pub mod plan;
pub mod recovery;
