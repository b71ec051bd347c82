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
const IMAGE_UNITS: usize = 4_800;

/// The characters that pi's `estimateTokens` counts for a message, with no cap on tool results.
///
/// Calls need records that were gathered with their quoted keys.
#[must_use]
pub fn weigh(message: &Message<'_>, dialect: Dialect) -> usize {
    match message.role() {
        Role::User | Role::Custom | Role::ToolResult => content(message),
        Role::System if dialect == Dialect::Pi16 => content(message) + sum(message, &[Tag::Literal]),
        Role::Assistant => assistant(message, &[]),
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

/// The characters of an assistant message without the calls of the given blocks.
#[must_use]
pub fn assistant(message: &Message<'_>, without: &[u32]) -> usize {
    let mut total = 0;
    let mut arguments = Arguments::None;
    for part in message.parts().filter(Part::is_weighed) {
        match part.tag {
            Tag::Text | Tag::Thinking => total += part.units,
            Tag::Call => {
                total += arguments.units();
                arguments = Arguments::None;
                if !without.contains(&part.address) {
                    total += part.units;
                    arguments = Arguments::Members { count: 0, units: 0 };
                }
            }
            _ => arguments.add(&part),
        }
    }
    total + arguments.units()
}

/// The JSON text of one call's arguments, in the making.
enum Arguments {
    None,
    Members { count: usize, units: usize },
    Whole(usize),
}

impl Arguments {
    fn add(&mut self, part: &Part) {
        match (&mut *self, part.tag) {
            (Self::None, _) => {}
            (_, Tag::Arguments) => *self = Self::Whole(part.units),
            // Only arguments that have no JSON text as a whole are counted by this tag.
            (_, Tag::Unserializable) if part.scope == Scope::Weighed => {
                *self = Self::Whole(UNSERIALIZABLE.len())
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
            Self::None => 0,
            // Braces, a colon in each member, a comma between two.
            Self::Members { count, units } => 2 + units + count + count.saturating_sub(1),
            Self::Whole(units) => units,
        }
    }
}
