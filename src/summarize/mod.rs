//! Who writes the summary, and from what.

pub mod cache;
pub mod chain;
pub mod events;
pub mod extractive;
pub mod items;
pub mod lines;
pub mod refine;
pub mod run;
pub mod sections;
pub mod tally;
pub mod writing;
