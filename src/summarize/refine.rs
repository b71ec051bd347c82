//! Refine: a running summary over chunks, after the recursive summarization of arXiv 2308.15022 (requirements D45 to
//! D81). A chunk whose prompt or answer gets too large is halved; a running summary that does is compressed.

use std::ops::Range;

use super::events::{Event, SplitCause};
use super::run::{Ended, Host, Run, Sent};
use super::writing::{Progress, Writing, carried};
use crate::budget::refine_budgets::{LEAST_CARRIED, RefineBudgets};
use crate::error::{CompactionError, ErrorCode};
use crate::plan::halve::middle;
use crate::plan::turns::Joints;
use crate::prompt::build::Template;
use crate::provider::{Provider, SummaryRequest};
use crate::transcript::outline::links;
use crate::transcript::part::Message;
use crate::transcript::serialize::range_extent;

/// How often a chunk is halved because of its prompt (requirement D62).
const MOST_PROMPT_SPLITS: u32 = 3;
/// How often it is halved because of its answer (requirement D65).
const MOST_ANSWER_SPLITS: u32 = 2;

/// Part of a chunk that is summarized by one request.
#[derive(Debug, Clone)]
struct Piece {
    span: Range<usize>,
    /// How often it was halved, for each cause: the two splitters know nothing of each other (requirement D66).
    prompt_splits: u32,
    answer_splits: u32,
    /// Whether it comes again, with a compressed summary beside it (requirement D68).
    again: bool,
}

impl Piece {
    /// Both halves, the later one first, as a stack takes them (requirement D70).
    fn halves(&self, at: usize, cause: SplitCause) -> [Self; 2] {
        let half = |span| Self {
            span,
            prompt_splits: self.prompt_splits + u32::from(cause == SplitCause::Prompt),
            answer_splits: self.answer_splits + u32::from(cause == SplitCause::Answer),
            again: self.again,
        };
        [half(at..self.span.end), half(self.span.start..at)]
    }
}

/// A refine run over one range.
pub struct Refining<'a, P, H> {
    run: &'a Run<'a, P, H>,
    writing: &'a Writing<'a>,
    budgets: RefineBudgets,
    range: &'a [Message<'a>],
    joints: Joints,
    /// The running summary, and the messages in it.
    progress: &'a mut Progress,
    /// The chunk at hand, from 1, and of how many.
    place: (u32, u32),
    /// Whether compressions are given up: one has failed in a way that does not pass.
    uncompressed: bool,
}

impl<'a, P: Provider, H: Host> Refining<'a, P, H> {
    /// A run that goes on from where it has come.
    pub fn new(
        run: &'a Run<'a, P, H>,
        writing: &'a Writing<'a>,
        budgets: RefineBudgets,
        range: &'a [Message<'a>],
        progress: &'a mut Progress,
    ) -> Self {
        let joints = Joints::of(&links(range));
        Self { run, writing, budgets, range, joints, progress, place: (0, 0), uncompressed: false }
    }

    /// The running summary after the last chunk.
    ///
    /// # Errors
    /// Why a request failed that is no compression; the prompt of one whose messages and running summary do not fit
    /// beside each other is `summary_budget`.
    pub async fn chunks(mut self, ends: &[usize]) -> Result<String, Ended> {
        let of = u32::try_from(ends.len()).unwrap_or(u32::MAX);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        for ((start, &end), index) in starts.zip(ends).zip(1..) {
            self.place = (index, of);
            let size = self.writing.tokens(&self.progress.summary);
            if size > self.budgets.summary_ceiling && !self.uncompressed {
                self.compress(size, self.budgets.shrunk(size)).await?;
            }
            self.chunk(start..end).await?;
        }
        Ok(self.progress.summary.clone())
    }

    async fn chunk(&mut self, span: Range<usize>) -> Result<(), Ended> {
        let mut pieces = vec![Piece { span, prompt_splits: 0, answer_splits: 0, again: false }];
        while let Some(piece) = pieces.pop() {
            if let Some(halves) = self.before_asking(&piece) {
                pieces.extend(halves);
                continue;
            }
            match self.ask(&piece).await {
                Ok(summary) => self.progress.advance(piece.span.len(), summary),
                Err(Ended::Failed(error)) if error.code == ErrorCode::SummaryIncomplete => {
                    pieces.extend(self.after_cut_answer(piece, error).await?);
                }
                Err(ended) => return Err(ended),
            }
        }
        Ok(())
    }

    /// The halves of a piece whose prompt would be too large, where there are any (requirement D62).
    fn before_asking(&self, piece: &Piece) -> Option<[Piece; 2]> {
        let fits = self.progress.summary.encode_utf16().count() <= self.room(piece);
        let halved = !fits && piece.prompt_splits < MOST_PROMPT_SPLITS;
        if halved { self.halves(piece, SplitCause::Prompt) } else { None }
    }

    fn halves(&self, piece: &Piece, cause: SplitCause) -> Option<[Piece; 2]> {
        let at = middle(self.range, &self.joints, &piece.span, self.writing.sizing.dialect)?;
        let halves = piece.halves(at, cause);
        let [half, _] = &halves;
        let depth = if cause == SplitCause::Prompt { half.prompt_splits } else { half.answer_splits };
        let (index, of) = self.place;
        self.run.tell(Event::Split { index, of, cause, depth });
        Some(halves)
    }

    /// UTF-16 units that a piece leaves for the running summary in the largest prompt; none where it does not even
    /// fit alone.
    fn room(&self, piece: &Piece) -> usize {
        let range = self.range.get(piece.span.clone()).unwrap_or_default();
        let sizing = self.writing.sizing;
        let whole = sizing.chars_per_token.units(self.budgets.max_prompt);
        let around = self.writing.prompts.sizes().chunk_overhead();
        whole.saturating_sub(around + range_extent(range, sizing.dialect).units())
    }

    /// The running summary with a piece in it. What does not fit beside the piece is cut out of its middle.
    async fn ask(&self, piece: &Piece) -> Result<String, Ended> {
        let range = self.range.get(piece.span.clone()).unwrap_or_default();
        let room = self.room(piece);
        let size = self.progress.summary.encode_utf16().count();
        if size > room {
            if room < LEAST_CARRIED {
                return Err(no_room().into());
            }
            self.run.tell(Event::Warning("the running summary does not fit beside a chunk and is cut there"));
        }
        let previous = carried(&self.progress.summary, room);
        let previous = (!previous.is_empty()).then_some(previous.as_ref());
        let request = self.writing.request(range, previous, Template::history(self.progress.summary.len()));
        self.writing.chunk(self.run, request, self.place).await
    }

    /// What comes in the place of a piece whose answer was cut off: its halves; or itself once more, beside a shorter
    /// summary; else the error stands (requirements D65 to D69).
    async fn after_cut_answer(&mut self, piece: Piece, error: CompactionError) -> Result<Vec<Piece>, Ended> {
        if piece.answer_splits < MOST_ANSWER_SPLITS
            && let Some(halves) = self.halves(&piece, SplitCause::Answer)
        {
            return Ok(halves.into());
        }
        let (size, aim) = (self.writing.tokens(&self.progress.summary), self.budgets.shrunk_deep());
        if !piece.again && size > aim && self.compress(size, aim).await? {
            return Ok(vec![Piece { again: true, ..piece }]);
        }
        Err(error.into())
    }

    /// Has the running summary of `size` tokens written again in about `aim`; whether it got shorter. A failure is a
    /// warning: the run goes on with what it has (requirements D80, D81).
    async fn compress(&mut self, size: u64, aim: u64) -> Result<bool, Ended> {
        let (index, of) = self.place;
        let needed = of - index + 2;
        if self.run.sent().saturating_add(needed) > self.run.max_requests() {
            self.run.tell(Event::Warning("maxRequests leaves no request to compress the running summary"));
            return Ok(false);
        }
        let Some(request) = self.compression(aim) else {
            self.run.tell(Event::Warning("no prompt is large enough to compress the running summary"));
            return Ok(false);
        };
        let shorter = match self.writing.answer(self.run, request, self.place).await {
            Ok((summary, _)) => summary,
            Err(Ended::Aborted) => return Err(Ended::Aborted),
            // No request is left for anything.
            Err(Ended::Failed(error)) if error.code == ErrorCode::SummaryBudget => return Err(error.into()),
            Err(Ended::Failed(error)) => {
                self.warn_uncompressed(&error);
                return Ok(false);
            }
            Err(Ended::Overflowed(overflow)) => {
                self.warn_uncompressed(&overflow.error);
                return Ok(false);
            }
        };
        let tokens_after = self.writing.tokens(&shorter);
        if tokens_after >= size {
            self.run.tell(Event::Warning("a compressed summary was no shorter and is not taken"));
            return Ok(false);
        }
        self.run.tell(Event::Compress { tokens_before: size, tokens_after });
        self.progress.summary = shorter;
        Ok(true)
    }

    /// Goes on without a compression that failed; without any further one where the provider would refuse it too. A
    /// bad answer is about this text alone.
    fn warn_uncompressed(&mut self, error: &CompactionError) {
        let refused = matches!(error.code, ErrorCode::SummaryProvider | ErrorCode::ContextOverflow);
        let passes = error.request.as_ref().is_some_and(|request| request.retryable);
        self.uncompressed |= refused && !passes;
        self.run.tell(Event::Warning("the running summary could not be compressed and stays as it is"));
    }

    /// A request for a shorter summary, within the cap of a prompt (requirement D76).
    fn compression(&self, aim: u64) -> Option<(SummaryRequest, Sent)> {
        let whole = self.writing.sizing.chars_per_token.units(self.budgets.max_prompt);
        let room = whole.saturating_sub(self.writing.prompts.sizes().compression_overhead());
        if room < LEAST_CARRIED {
            return None;
        }
        let summary = carried(&self.progress.summary, room);
        if summary.len() < self.progress.summary.len() {
            self.run.tell(Event::Warning(
                "the running summary is larger than a prompt and is cut for compression",
            ));
        }
        Some(self.writing.compression(&summary, aim))
    }
}

fn no_room() -> CompactionError {
    CompactionError::budget(
        "a message leaves no room for the running summary beside it; use a summary model with a larger contextWindow, \
         a larger refine.maxPromptTokens, or a larger refine.summaryCeilingTokens that keeps chunks smaller",
    )
}
