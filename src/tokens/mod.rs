//! How many tokens something is.

pub mod estimate;
