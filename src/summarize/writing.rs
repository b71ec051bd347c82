//! What every request of a run has in common, and how far the run has come.

use std::borrow::Cow;

use super::cache::Shelf;
use super::events::Event;
use super::run::{Ended, Host, Place, Run, Sent};
use crate::plan::edit::CHUNK_MARKER;
use crate::plan::shorten::cut_text;
use crate::prompt::build::{Prompts, Template};
use crate::prompt::redact::Secrets;
use crate::provider::{Provider, SummaryRequest};
use crate::transcript::part::Message;
use crate::transcript::serialize::range_extent;
use crate::transcript::weigh::Sizing;

/// What every request of a run needs.
pub struct Writing<'a> {
    /// The words around the text.
    pub prompts: &'a Prompts,
    /// What must not leave.
    pub secrets: &'a Secrets,
    /// How text is measured.
    pub sizing: Sizing,
    /// Tokens allowed for an answer.
    pub max_tokens: u64,
    /// What earlier runs have finished, where the session is known.
    pub shelf: Option<&'a Shelf>,
}

impl Writing<'_> {
    /// A request for the summary of some messages, carrying an earlier one along.
    pub(super) fn request(
        &self,
        range: &[Message<'_>],
        previous: Option<&str>,
        instructions: Template,
    ) -> (SummaryRequest, Sent) {
        let prompt = self.prompts.user_message(range, self.sizing.dialect, previous, instructions);
        self.sealed(prompt, self.prompts.sizes().overhead(instructions, previous.is_some()))
    }

    /// A request for a shorter summary of about `aim` tokens.
    pub(super) fn compression(&self, summary: &str, aim: u64) -> (SummaryRequest, Sent) {
        let prompt = self.prompts.compression(summary, self.sizing.chars_per_token.units(aim));
        self.sealed(prompt, self.prompts.sizes().compression_overhead())
    }

    /// A prompt, `around` units of which are our own words, as it may leave.
    fn sealed(&self, mut prompt: Vec<u16>, around: usize) -> (SummaryRequest, Sent) {
        // Once more over all of it: a secret may stand across two blocks, or in what the host added.
        self.secrets.mask(&mut prompt);
        let system = self.secrets.masked(self.prompts.text(Template::System));
        let tokens = |units| self.sizing.chars_per_token.tokens(units);
        let whole = prompt.len() + system.encode_utf16().count();
        let sent = Sent {
            text: tokens(whole.saturating_sub(around)),
            prompt: tokens(prompt.len()),
            whole: tokens(whole),
        };
        (SummaryRequest { system, prompt, max_tokens: self.max_tokens }, sent)
    }

    /// The answer to a request, and whether an earlier run had it already.
    pub(super) async fn answer<P: Provider, H: Host>(
        &self,
        run: &Run<'_, P, H>,
        (request, sent): (SummaryRequest, Sent),
        (index, of): (u32, u32),
    ) -> Result<(String, bool), Ended> {
        let place = Place { index, of, sent };
        let Some(kept) = self.shelf else {
            return Ok((self.asked(run, request, place).await?, false));
        };
        let key = kept.key(&request);
        if let Some(summary) = kept.find(&key) {
            run.log().count(|tally| tally.cache_hits += 1);
            // Whoever kept it may have known other secrets.
            return Ok((self.secrets.masked(&summary), true));
        }
        let summary = self.asked(run, request, place).await?;
        kept.keep(key, &summary);
        Ok((summary, false))
    }

    async fn asked<P: Provider, H: Host>(
        &self,
        run: &Run<'_, P, H>,
        request: SummaryRequest,
        place: Place,
    ) -> Result<String, Ended> {
        let summary = run.ask(request, place).await?;
        Ok(self.secrets.masked(summary.trim()))
    }

    /// The summary of a chunk.
    pub(super) async fn chunk<P: Provider, H: Host>(
        &self,
        run: &Run<'_, P, H>,
        request: (SummaryRequest, Sent),
        (index, of): (u32, u32),
    ) -> Result<String, Ended> {
        let (summary, cached) = self.answer(run, request, (index, of)).await?;
        let summary_tokens = self.tokens(&summary);
        run.tell(Event::Chunk { index, of, summary_tokens, cached });
        Ok(summary)
    }

    pub(super) fn range_tokens(&self, range: &[Message<'_>]) -> u64 {
        self.sizing.chars_per_token.tokens(range_extent(range, self.sizing.dialect).units())
    }

    pub(super) fn tokens(&self, text: &str) -> u64 {
        self.sizing.chars_per_token.tokens(text.encode_utf16().count())
    }
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

/// How far a run has come: what a run that has to plan again need not ask for again.
pub struct Progress {
    /// Messages that are summarized.
    pub messages: usize,
    /// Requests that summarized them.
    pub requests: u32,
    /// The running summary: what came before, and these messages.
    pub summary: String,
}

impl Progress {
    /// Nothing is summarized but what came before.
    #[must_use]
    pub fn from(previous: String) -> Self {
        Self { messages: 0, requests: 0, summary: previous }
    }

    pub(super) fn advance(&mut self, messages: usize, summary: String) {
        self.messages += messages;
        self.requests += 1;
        self.summary = summary;
    }
}
