//! Who writes the summary, and from what.

pub mod extractive;
pub mod items;
pub mod sections;
