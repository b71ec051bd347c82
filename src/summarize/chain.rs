//! The chain: one summary, carried from request to request (requirements C34 to C40, G13, G14).

use std::borrow::Cow;

use super::run::{Ended, Host, Run};
use super::writing::{Progress, Writing};
use crate::plan::edit::CHUNK_MARKER;
use crate::plan::shorten::cut_text;
use crate::prompt::build::Template;
use crate::provider::Provider;
use crate::transcript::part::Message;

/// Heads the beginning of a split turn below the summary of the history.
const TURN_HEADING: &str = "\n\n---\n\n## The current turn, from its beginning\n\n";
/// Stands for the history of a session whose first turn is split.
const NO_HISTORY: &str = "Nothing came before the current turn.";

/// The chunks one after the other; each request carries the summary of those before it, in at most `reserve` tokens.
///
/// # Errors
/// The first failing request ends the chain.
pub async fn chunks<P: Provider, H: Host>(
    run: &Run<'_, P, H>,
    writing: &Writing<'_>,
    chunks: &[&[Message<'_>]],
    (previous, reserve): (&str, u64),
    progress: &mut Progress,
) -> Result<String, Ended> {
    let of = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
    let mut summary = previous.to_owned();
    let room = writing.sizing.chars_per_token.units(reserve);
    for (chunk, index) in chunks.iter().zip(1..) {
        let carried = carried(&summary, room);
        let carried = (!carried.is_empty()).then_some(carried.as_ref());
        let request = writing.request(chunk, carried, Template::history(summary.len()));
        summary = writing.chunk(run, request, (index, of)).await?;
        progress.advance(chunk.len(), &summary);
    }
    Ok(summary)
}

/// A summary as it is carried along: what was held back for it is all that it may take. A model that wrote more than
/// it was allowed must not push a later request over its limit.
pub(super) fn carried(summary: &str, room: usize) -> Cow<'_, str> {
    let units: Vec<u16> = summary.encode_utf16().collect();
    if units.len() <= room {
        return Cow::Borrowed(summary);
    }
    Cow::Owned(String::from_utf16_lossy(&cut_text(&units, room, CHUNK_MARKER)))
}

/// History and the beginning of a split turn, a request each, joined under a heading.
///
/// # Errors
/// As [`chunks`].
pub async fn split_turn<P: Provider, H: Host>(
    run: &Run<'_, P, H>,
    writing: &Writing<'_>,
    (history, prefix): (&[Message<'_>], &[Message<'_>]),
    previous: &str,
    progress: &mut Progress,
) -> Result<String, Ended> {
    let of = if history.is_empty() { 1 } else { 2 };
    let carried = (!previous.is_empty()).then_some(previous);
    let summary = match (history, carried) {
        ([], carried) => carried.unwrap_or(NO_HISTORY).to_owned(),
        (history, carried) => {
            let request = writing.request(history, carried, Template::history(previous.len()));
            let summary = writing.chunk(run, request, (1, of)).await?;
            progress.advance(history.len(), &summary);
            summary
        }
    };
    let request = writing.request(prefix, None, Template::TurnPrefix);
    let turn = writing.chunk(run, request, (of, of)).await?;
    Ok([summary.as_str(), TURN_HEADING, &turn].concat())
}
