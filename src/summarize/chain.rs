//! The chain: one summary, carried from request to request (requirements C34 to C40, G13, G14).

use std::borrow::Cow;

use super::events::Event;
use super::run::{Ended, Host, Place, Run, Sent};
use crate::plan::edit::CHUNK_MARKER;
use crate::plan::shorten::cut_text;
use crate::prompt::build::{Prompts, Template};
use crate::prompt::redact::Secrets;
use crate::provider::{Provider, SummaryRequest};
use crate::tokens::estimate::CharsPerToken;
use crate::transcript::part::Message;
use crate::transcript::weigh::Sizing;

/// Heads the beginning of a split turn below the summary of the history.
const TURN_HEADING: &str = "\n\n---\n\n## The current turn, from its beginning\n\n";
/// Stands for the history of a session whose first turn is split.
const NO_HISTORY: &str = "Nothing came before the current turn.";

/// What every request of a chain needs.
pub struct Writing<'a> {
    /// The words around the text.
    pub prompts: &'a Prompts,
    /// What must not leave.
    pub secrets: &'a Secrets,
    /// How text is measured.
    pub sizing: Sizing,
    /// Tokens allowed for an answer.
    pub max_tokens: u64,
    /// Tokens that a summary may take where it is carried into the next chunk.
    pub reserve: u64,
}

impl Writing<'_> {
    /// A request for the summary of some messages, carrying an earlier one along.
    fn request(
        &self,
        range: &[Message<'_>],
        previous: Option<&str>,
        instructions: Template,
    ) -> (SummaryRequest, Sent) {
        let mut prompt = self.prompts.user_message(range, self.sizing.dialect, previous, instructions);
        // Once more over all of it: a secret may stand across two blocks, or in what the host added.
        self.secrets.mask(&mut prompt);
        let system = self.secrets.masked(self.prompts.text(Template::System));
        let tokens = |units| self.sizing.chars_per_token.tokens(units);
        let whole = prompt.len() + system.encode_utf16().count();
        let around = self.prompts.sizes().overhead(instructions, previous.is_some());
        let sent = Sent {
            text: tokens(whole.saturating_sub(around)),
            prompt: tokens(prompt.len()),
            whole: tokens(whole),
        };
        (SummaryRequest { system, prompt, max_tokens: self.max_tokens }, sent)
    }

    async fn ask<P: Provider, H: Host>(
        &self,
        run: &Run<'_, P, H>,
        (request, sent): (SummaryRequest, Sent),
        (index, of): (u32, u32),
    ) -> Result<String, Ended> {
        let place = Place { index, of, sent };
        let summary = run.ask(request, place).await?;
        let summary = self.secrets.masked(summary.trim());
        let summary_tokens = tokens(&summary, self.sizing.chars_per_token);
        run.tell(Event::Chunk { index, of, summary_tokens });
        Ok(summary)
    }
}

/// How far a chain has come: what a run that has to plan again need not ask for again.
#[derive(Default)]
pub struct Progress {
    /// Messages that are summarized.
    pub messages: usize,
    /// Requests that summarized them.
    pub chunks: u32,
    /// Their summary, with the earlier one that it carries on.
    pub summary: String,
}

impl Progress {
    fn advance(&mut self, messages: usize, summary: &str) {
        self.messages += messages;
        self.chunks += 1;
        summary.clone_into(&mut self.summary);
    }
}

/// The chunks one after the other; each request carries the summary of those before it.
///
/// # Errors
/// The first failing request ends the chain.
pub async fn chunks<P: Provider, H: Host>(
    run: &Run<'_, P, H>,
    writing: &Writing<'_>,
    chunks: &[&[Message<'_>]],
    previous: &str,
    progress: &mut Progress,
) -> Result<String, Ended> {
    let of = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
    let mut summary = previous.to_owned();
    let room = writing.sizing.chars_per_token.units(writing.reserve);
    for (chunk, index) in chunks.iter().zip(1..) {
        let carried = carried(&summary, room);
        let carried = (!carried.is_empty()).then_some(carried.as_ref());
        let request = writing.request(chunk, carried, Template::history(summary.len()));
        summary = writing.ask(run, request, (index, of)).await?;
        progress.advance(chunk.len(), &summary);
    }
    Ok(summary)
}

/// A summary as it is carried along: what was held back for it is all that it may take. A model that wrote more than
/// it was allowed must not push a later request over its limit.
fn carried(summary: &str, room: usize) -> Cow<'_, str> {
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
            let summary = writing.ask(run, request, (1, of)).await?;
            progress.advance(history.len(), &summary);
            summary
        }
    };
    let request = writing.request(prefix, None, Template::TurnPrefix);
    let turn = writing.ask(run, request, (of, of)).await?;
    Ok([summary.as_str(), TURN_HEADING, &turn].concat())
}

fn tokens(text: &str, ratio: CharsPerToken) -> u64 {
    ratio.tokens(text.encode_utf16().count())
}
