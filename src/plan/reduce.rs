//! The one reduction: tool results to their beginning, thinking dropped (requirements A43 to A54).

use super::edit::{Change, Edit, REDUCTION_MARKER};
use crate::transcript::part::{Message, Part, Role, Tag};
use crate::transcript::units;

/// UTF-16 units that stay of a tool result.
pub const REDUCED_UNITS: usize = 500;

/// The messages that the reduction changes, by index. Lengths are enough to know.
pub fn reducible(range: &[Message<'_>]) -> impl Iterator<Item = usize> {
    range.iter().enumerate().filter(|(_, message)| is_reducible(message)).map(|(i, _)| i)
}

fn is_reducible(message: &Message<'_>) -> bool {
    match message.role() {
        // A text that the marker would make longer stays as it is, and a reduced one with it.
        Role::ToolResult => {
            texts(message).map(|part| part.units).sum::<usize>() > REDUCED_UNITS + REDUCTION_MARKER.len()
        }
        Role::Assistant => message.parts_of(Tag::Thinking).next().is_some(),
        _ => false,
    }
}

/// The changes to messages with their texts; those that are not reducible have none.
#[must_use]
pub fn reduce(range: &[Message<'_>]) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (index, message) in range.iter().enumerate().filter(|(_, message)| is_reducible(message)) {
        let changes = match message.role() {
            Role::ToolResult => thinned(message),
            _ => unthought(message),
        };
        edits.extend(changes.into_iter().map(|change| Edit { message: index, change }));
    }
    edits
}

fn texts(message: &Message<'_>) -> impl Iterator<Item = Part> {
    message.parts_of(Tag::Text).filter(Part::is_shown)
}

/// The first units of the whole result stay; blocks behind them go, whatever is no text stays.
fn thinned(message: &Message<'_>) -> Vec<Change> {
    let mut left = Some(REDUCED_UNITS);
    let mut changes = Vec::new();
    for part in texts(message) {
        match left {
            Some(room) if part.units <= room => left = Some(room - part.units),
            Some(room) => {
                let mut text = units::head(message.text(&part), room).to_vec();
                text.extend(REDUCTION_MARKER.encode_utf16());
                changes.push(Change::of_part(&part, text));
                left = None;
            }
            None => changes.push(Change::Drop { block: part.address }),
        }
    }
    changes
}

fn unthought(message: &Message<'_>) -> Vec<Change> {
    let mut blocks: Vec<u32> = message.parts_of(Tag::Thinking).map(|part| part.address).collect();
    blocks.dedup();
    blocks.into_iter().map(|block| Change::Drop { block }).collect()
}
