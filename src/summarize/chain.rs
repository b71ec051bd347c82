//! The chain: one summary, carried from request to request (requirements C34 to C40, G13, G14).

use super::events::Event;
use super::run::{Ended, Host, Run};
use super::writing::{Progress, Writing, carried};
use crate::prompt::build::Template;
use crate::provider::Provider;
use crate::transcript::part::Message;

/// Heads the beginning of a split turn below the summary of the history.
const TURN_HEADING: &str = "\n\n---\n\n## The current turn, from its beginning\n\n";
/// Stands for the history of a session whose first turn is split.
const NO_HISTORY: &str = "Nothing came before the current turn.";

const PREVIOUS_CUT: &str = "the previous summary does not fit beside a chunk and is cut there";
const SUMMARY_CUT: &str = "the summary so far does not fit beside a chunk and is cut there";

/// What there is for the summary that is carried along, in tokens.
#[derive(Debug, Clone, Copy)]
pub struct ChainRoom {
    /// Held back in each chunk.
    pub reserve: u64,
    /// What text a prompt may hold.
    pub prompt: u64,
}

/// The chunks one after the other; each request carries the summary of those before it, as far as the chunk leaves
/// room.
///
/// # Errors
/// The first failing request ends the chain.
pub async fn chunks<P: Provider, H: Host>(
    run: &Run<'_, P, H>,
    writing: &Writing<'_>,
    chunks: &[&[Message<'_>]],
    room: ChainRoom,
    progress: &mut Progress,
) -> Result<String, Ended> {
    let of = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
    for (chunk, index) in chunks.iter().zip(1..) {
        let left = room.prompt.saturating_sub(writing.range_tokens(chunk)).max(room.reserve);
        let carried = carried(&progress.summary, writing.sizing.chars_per_token.units(left));
        if carried.len() < progress.summary.len() {
            run.tell(Event::Warning(if index == 1 { PREVIOUS_CUT } else { SUMMARY_CUT }));
        }
        let carried = (!carried.is_empty()).then_some(carried.as_ref());
        let request = writing.request(chunk, carried, Template::history(progress.summary.len()));
        let summary = writing.chunk(run, request, (index, of)).await?;
        progress.advance(chunk.len(), summary);
    }
    Ok(progress.summary.clone())
}

/// History and the beginning of a split turn, a request each, joined under a heading.
///
/// # Errors
/// As [`chunks`].
pub async fn split_turn<P: Provider, H: Host>(
    run: &Run<'_, P, H>,
    writing: &Writing<'_>,
    (history, prefix): (&[Message<'_>], &[Message<'_>]),
    progress: &mut Progress,
) -> Result<String, Ended> {
    let of = if history.is_empty() { 1 } else { 2 };
    if !history.is_empty() {
        let previous = progress.summary.as_str();
        let carried = (!previous.is_empty()).then_some(previous);
        let request = writing.request(history, carried, Template::history(previous.len()));
        let summary = writing.chunk(run, request, (1, of)).await?;
        progress.advance(history.len(), summary);
    }
    let request = writing.request(prefix, None, Template::TurnPrefix);
    let turn = writing.chunk(run, request, (of, of)).await?;
    let summary = if progress.summary.is_empty() { NO_HISTORY } else { &progress.summary };
    Ok([summary, TURN_HEADING, &turn].concat())
}
