//! pi's session files: JSON lines that form a tree, read and never written.
//!
//! A file is read once, in stretches of whole lines (`stretch`, `scan`), by readers that hold one each (`desk`). Bytes
//! are indexed sixty-four at a time (`index`); a line in the form in which pi writes is walked once, by `cursor`,
//! `number` and `gather`, any other by `json` in a slower, exact way (`line`). Of the entries a branch is followed to
//! the root (`tree`) and projected to the messages that pi would send (`projection`). What stays are places and sizes
//! (`file`).

#![forbid(unsafe_code)]

pub mod cursor;
pub mod desk;
pub mod entry;
pub mod file;
pub mod gather;
pub mod index;
pub mod json;
pub mod line;
pub mod number;
pub mod open;
pub mod projection;
pub mod scan;
pub mod skipped;
pub mod stretch;
pub mod text;
pub mod tree;
