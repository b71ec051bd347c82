//! How large things may be.

pub mod guard;
pub mod window;
