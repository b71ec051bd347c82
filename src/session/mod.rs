//! pi's session files: JSON lines that form a tree, read and never written.
//!
//! A file is scanned once, its newest branch is followed to the root, and the branch is projected to the messages
//! that pi would send. Messages stay JSON text all the way: `JSON.parse` accepts strings that Rust's cannot hold.

#![forbid(unsafe_code)]

mod date;
mod entry;
pub mod json;
mod message;
pub mod projection;
pub mod scan;
mod tree;
