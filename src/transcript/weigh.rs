//! The raw estimate of a message: pi's `estimateTokens`.

use super::part::{Message, Part, Role, Scope, Tag};
use super::serialize::{Dialect, UNSERIALIZABLE};
use crate::tokens::estimate::CharsPerToken;

/// How text is turned into sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizing {
    /// The text form.
    pub dialect: Dialect,
    /// The ratio of units to tokens.
    pub chars_per_token: CharsPerToken,
}

impl Sizing {
    /// Tokens of one message by pi's `estimateTokens`.
    #[must_use]
    pub fn message_tokens(self, message: &Message<'_>) -> u64 {
        self.chars_per_token.tokens(weigh(message, self.dialect))
    }
}

/// Characters that pi counts for an image.
pub const IMAGE_UNITS: usize = 4_800;

/// The characters that pi's `estimateTokens` counts for a message, with no cap on tool results.
///
/// Calls need records that were gathered with their quoted keys.
#[must_use]
pub fn weigh(message: &Message<'_>, dialect: Dialect) -> usize {
    match message.role() {
        Role::User | Role::Custom | Role::ToolResult => content(message),
        Role::System if dialect == Dialect::Pi16 => content(message) + sum(message, &[Tag::Literal]),
        Role::Assistant => assistant(message),
        Role::Bash => sum(message, &[Tag::Command, Tag::Output]),
        Role::BranchSummary | Role::CompactionSummary => sum(message, &[Tag::Summary]),
        Role::System | Role::Unknown => 0,
    }
}

fn sum(message: &Message<'_>, tags: &[Tag]) -> usize {
    message.parts().filter(|part| part.is_weighed() && tags.contains(&part.tag)).map(|part| part.units).sum()
}

fn content(message: &Message<'_>) -> usize {
    sum(message, &[Tag::Text]) + IMAGE_UNITS * message.parts_of(Tag::Image).count()
}

fn assistant(message: &Message<'_>) -> usize {
    let mut total = 0;
    each_piece(message, |piece| total += piece.units);
    total
}

/// A text, a thinking block or a call of an assistant message, as the estimate counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Index of its content block.
    pub block: u32,
    /// Units of the name, for a call.
    pub name: Option<usize>,
    /// All its units.
    pub units: usize,
}

/// Visits the pieces of an assistant message in order.
pub fn each_piece(message: &Message<'_>, mut visit: impl FnMut(Piece)) {
    let mut call: Option<(Piece, Arguments)> = None;
    for part in message.parts().filter(Part::is_weighed) {
        let piece = |name| Piece { block: part.address, name, units: part.units };
        match part.tag {
            Tag::Text | Tag::Thinking => visit(piece(None)),
            Tag::Call => {
                let begun = (piece(Some(part.units)), Arguments::Members { count: 0, units: 0 });
                if let Some(done) = call.replace(begun) {
                    visit(whole(&done));
                }
            }
            _ => {
                if let Some((_, arguments)) = &mut call {
                    arguments.add(&part);
                }
            }
        }
    }
    if let Some(done) = call {
        visit(whole(&done));
    }
}

fn whole((piece, arguments): &(Piece, Arguments)) -> Piece {
    Piece { units: piece.units + arguments.units(), ..*piece }
}

/// The JSON text of one call's arguments, in the making.
enum Arguments {
    Members { count: usize, units: usize },
    Whole(usize),
}

impl Arguments {
    fn add(&mut self, part: &Part) {
        match (&mut *self, part.tag) {
            (_, Tag::Arguments) => *self = Self::Whole(part.units),
            // Only arguments that have no JSON text as a whole are counted by this tag.
            (_, Tag::Unserializable) if part.scope == Scope::Weighed => {
                *self = Self::Whole(UNSERIALIZABLE.len());
            }
            (Self::Members { count, units }, Tag::QuotedKey) => {
                *count += 1;
                *units += part.units;
            }
            (Self::Members { units, .. }, Tag::Literal | Tag::Quoted) => *units += part.units,
            _ => {}
        }
    }

    fn units(&self) -> usize {
        match *self {
            // Braces, a colon in each member, a comma between two.
            Self::Members { count, units } => 2 + units + count + count.saturating_sub(1),
            Self::Whole(units) => units,
        }
    }
}
