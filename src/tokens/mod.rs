//! How many tokens something is.

pub mod estimate;

mod bounds;
mod class;
pub mod exact;
mod merge;
mod pieces;
#[cfg(test)]
mod samples;
mod table;
