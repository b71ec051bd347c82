//! The only place that knows Node: exported functions, what they read and what they write.

mod error;
mod exports;
mod generate;
mod plans;
mod read;
mod strings;
mod write;
