//! Who writes the summary, and from what.

pub mod chain;
pub mod events;
pub mod extractive;
pub mod items;
pub mod run;
pub mod sections;
