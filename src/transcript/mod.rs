//! The transcript as the core sees it: parts, the one walk over them, and their texts.

pub mod outline;
pub mod part;
pub mod passage;
pub mod quote;
pub mod resident;
pub mod serialize;
pub mod store;
pub mod units;
pub mod weigh;
