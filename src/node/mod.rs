//! The only place that knows Node: exported functions, what they read and what they write.

#![expect(clippy::needless_pass_by_value, reason = "napi hands arguments over by value")]

mod budgets;
mod cache;
mod entries;
mod error;
mod events;
mod exports;
mod generate;
mod host;
mod http;
mod outcome;
mod plans;
mod read;
mod reply;
mod request;
mod resident;
mod runtime;
mod session;
mod source;
mod strings;
mod tokens;
mod write;
