//! What stands around the words of a checkpoint.

use super::freshness::unstamped;
use super::lists::without_lists;
use super::notice::for_a_model;

/// The words of a checkpoint alone: without file lists, the lines that say how old it is, and a fallback's notice.
#[must_use]
pub fn words(checkpoint: &str) -> String {
    unstamped(without_lists(&for_a_model(checkpoint)))
}
