//! The checkpoint that stands in the place of a range.

pub mod assemble;
pub mod fallback;
pub mod files;
