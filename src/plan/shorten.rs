//! Cutting one message to a size: its long texts to a common length, head and tail kept, a marker between.

use super::edit::{Change, IMAGE_PLACEHOLDER};
use crate::error::{CompactionError, Result};
use crate::transcript::part::{Message, Part, Role, Scope, Tag};
use crate::transcript::serialize::{Dialect, conversation, message_extent};
use crate::transcript::units::{escaped_head, escaped_tail, head, quoted_units, tail};
use crate::transcript::weigh::{IMAGE_UNITS, weigh};

/// The shortest text that a cut leaves: a marker and a few words on either side.
pub const MIN_TEXT: usize = 58;

/// Room for the name under which the arguments of a call stand as one text.
const COLLAPSED_NAME: usize = 16;

/// The units of a call, beyond its name, below which [`shorten`] need not go.
pub const MIN_ARGUMENTS: usize = COLLAPSED_NAME + MIN_TEXT + 8;

/// What a size is a size of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Units of the printed conversation: for chunks.
    Printed(Dialect),
    /// Units that the raw estimate counts: for the tail.
    Counted(Dialect),
}

/// How a message is cut.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    /// What the sizes are sizes of.
    pub form: Form,
    /// The most units of the message afterwards.
    pub target: usize,
    /// What stands where text was cut.
    pub marker: &'static str,
}

/// The largest level so that all weights, cut down to it, sum up to at most `room`.
#[must_use]
pub fn level(weights: &[u64], room: u64) -> u64 {
    let mut sorted = weights.to_vec();
    sorted.sort_unstable();
    let (mut room, mut count) = (room, sorted.len() as u64);
    for weight in sorted {
        let share = room / count;
        if weight > share {
            return share;
        }
        room -= weight;
        count -= 1;
    }
    u64::MAX
}

/// The changes that bring a message, its texts at hand, down to the target.
///
/// # Errors
/// `summary_budget` when the target is too small for what cannot be cut: labels, names and the marker.
pub fn shorten(message: &Message<'_>, cut: Cut) -> Result<Vec<Change>> {
    let leaves = leaves(message, cut.form);
    let (mut changes, shed) = shed(message, cut.form);
    let cuttable: usize = leaves.iter().map(|leaf| leaf.units).sum();
    let fixed = size(message, cut.form).saturating_sub(cuttable + shed);
    if let Some(cuts) = cut_leaves(&leaves, fixed, cut) {
        changes.extend(cuts);
        return Ok(changes);
    }
    let (collapsed, fixed) = collapse(message, leaves, fixed);
    match (cut_leaves(&collapsed, fixed, cut), cut.form) {
        (Some(cuts), _) => changes.extend(cuts),
        (None, Form::Printed(dialect)) => {
            return condense(message, dialect, cut).map(|change| vec![change]);
        }
        (None, Form::Counted(_)) => match least(message, &collapsed, cut) {
            // One block takes the place of all: no other change has a block to fall on.
            condensed if matches!(condensed.as_slice(), [Change::Condense { .. }]) => return Ok(condensed),
            least => changes.extend(least),
        },
    }
    Ok(changes)
}

/// The smallest form of a message of the tail that keeps what has to stay: its calls, or else a text.
fn least(message: &Message<'_>, leaves: &[Leaf<'_>], cut: Cut) -> Vec<Change> {
    let texts = leaves.iter().filter_map(|leaf| match leaf.place {
        Place::Part(part) if part.tag == Tag::Text => Some((part.address, &leaf.text)),
        _ => None,
    });
    if message.parts_of(Tag::Call).next().is_some() {
        let mut blocks: Vec<u32> = texts.map(|(block, _)| block).collect();
        blocks.dedup();
        let dropped = blocks.into_iter().map(|block| Change::Drop { block });
        let arguments = leaves.iter().filter(|leaf| leaf.place.is_quoted());
        return dropped.chain(arguments.filter_map(|leaf| leaf.cut(MIN_TEXT, cut.marker))).collect();
    }
    let texts: Vec<&[u16]> = texts.map(|(_, text)| text.as_ref()).collect();
    match texts.as_slice() {
        [] => leaves.iter().filter_map(|leaf| leaf.cut(MIN_TEXT, cut.marker)).collect(),
        texts => {
            let joined = texts.join(&u16::from(b'\n'));
            let text =
                if joined.len() > cut.target { cut_text(&joined, cut.target, cut.marker) } else { joined };
            vec![Change::Condense { text }]
        }
    }
}

/// What a message loses whole before its texts are cut, and the units that this saves: images, which only the
/// estimate counts, and thinking, whose signature a cut would break.
fn shed(message: &Message<'_>, form: Form) -> (Vec<Change>, usize) {
    if let Form::Printed(_) = form {
        return (Vec::new(), 0);
    }
    let mut saved = 0;
    let mut changes = Vec::new();
    for part in message.parts() {
        match part.tag {
            Tag::Image if message.role() != Role::Assistant => {
                saved += IMAGE_UNITS - IMAGE_PLACEHOLDER.len();
                changes.push(Change::Image { block: part.address });
            }
            Tag::Thinking => {
                saved += if part.is_weighed() { part.units } else { 0 };
                changes.push(Change::Drop { block: part.address });
            }
            _ => {}
        }
    }
    (changes, saved)
}

/// The size of a message before any cap, so that its texts can be weighed against it.
fn size(message: &Message<'_>, form: Form) -> usize {
    match form {
        Form::Counted(dialect) => weigh(message, dialect),
        Form::Printed(_) if message.role() == Role::ToolResult => {
            let texts = message.parts_of(Tag::Text).filter(Part::is_shown);
            "[Tool result]: ".len() + texts.map(|part| part.units).sum::<usize>()
        }
        Form::Printed(dialect) => message_extent(message, dialect).units(),
    }
}

/// A text that can be cut.
struct Leaf<'s> {
    place: Place,
    text: std::borrow::Cow<'s, [u16]>,
    /// Its units in the form that is measured.
    units: usize,
}

/// Where a leaf stands, and so how it is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Part(Part),
    /// One argument of the call in `block`; it prints as a JSON string.
    Argument {
        part: Part,
        block: u32,
    },
    /// All arguments of the call in `block` as one.
    Arguments {
        block: u32,
    },
}

impl Place {
    fn is_quoted(self) -> bool {
        !matches!(self, Self::Part(_))
    }

    fn change(self, text: Vec<u16>) -> Change {
        match self {
            Self::Part(part) => Change::of_part(&part, text),
            Self::Argument { part, block } => {
                Change::Text { tag: part.tag, block, member: part.address, text }
            }
            Self::Arguments { block } => Change::Arguments { block, text },
        }
    }
}

impl Leaf<'_> {
    fn cut(&self, most: usize, marker: &str) -> Option<Change> {
        (self.units > most).then(|| {
            let cut = if self.place.is_quoted() { cut_quoted } else { cut_text };
            self.place.change(cut(&self.text, most, marker))
        })
    }
}

fn leaves<'s>(message: &Message<'s>, form: Form) -> Vec<Leaf<'s>> {
    let mut block = 0;
    let mut found = Vec::new();
    for part in message.parts().filter(|part| part.scope == Scope::Both) {
        let place = match part.tag {
            Tag::Call => {
                block = part.address;
                continue;
            }
            Tag::Thinking if form != Form::Printed(Dialect::Pi087) => continue,
            Tag::Text | Tag::Thinking | Tag::Command | Tag::Output | Tag::Summary => Place::Part(part),
            Tag::Quoted => Place::Argument { part, block },
            Tag::Literal if part.units > MIN_TEXT => Place::Argument { part, block },
            _ => continue,
        };
        found.push(Leaf { place, text: message.text(&part).into(), units: part.units });
    }
    found
}

fn cut_leaves(leaves: &[Leaf<'_>], fixed: usize, cut: Cut) -> Option<Vec<Change>> {
    let weights: Vec<u64> = leaves.iter().map(|leaf| leaf.units as u64).collect();
    let most = level(&weights, cut.target.checked_sub(fixed)? as u64);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    (most >= MIN_TEXT).then(|| leaves.iter().filter_map(|leaf| leaf.cut(most, cut.marker)).collect())
}

/// A text of at most `most` units, its head and tail, the marker between.
#[must_use]
pub fn cut_text(text: &[u16], most: usize, marker: &str) -> Vec<u16> {
    let marker: Vec<u16> = marker.encode_utf16().collect();
    let room = most.saturating_sub(marker.len());
    [head(text, room.div_ceil(2)), &marker, tail(text, room / 2)].concat()
}

/// The same for a text that takes at most `most` units as a JSON string.
fn cut_quoted(text: &[u16], most: usize, marker: &str) -> Vec<u16> {
    let marker: Vec<u16> = marker.encode_utf16().collect();
    let room = most.saturating_sub(quoted_units(&marker));
    [escaped_head(text, room.div_ceil(2)), &marker, escaped_tail(text, room / 2)].concat()
}

/// One leaf for all arguments of a call, where the arguments are too many to be cut one by one.
fn collapse<'s>(message: &Message<'s>, leaves: Vec<Leaf<'s>>, fixed: usize) -> (Vec<Leaf<'s>>, usize) {
    let mut kept: Vec<Leaf<'s>> = Vec::new();
    let mut fixed = fixed;
    for leaf in leaves {
        match leaf.place {
            Place::Part(_) => kept.push(leaf),
            Place::Argument { .. } | Place::Arguments { .. } => fixed += leaf.units,
        }
    }
    for (block, text, printed) in arguments(message) {
        fixed = fixed.saturating_sub(printed) + COLLAPSED_NAME;
        let units = quoted_units(&text);
        kept.push(Leaf { place: Place::Arguments { block }, text: text.into(), units });
    }
    (kept, fixed)
}

/// The arguments of each call: its block, their text, and the units they took in print.
fn arguments(message: &Message<'_>) -> Vec<(u32, Vec<u16>, usize)> {
    let mut calls: Vec<(u32, Vec<u16>, usize)> = Vec::new();
    for part in message.parts().filter(Part::is_shown) {
        match (part.tag, calls.last_mut()) {
            (Tag::Call, _) => calls.push((part.address, Vec::new(), 0)),
            (Tag::Key, Some((_, text, printed))) => {
                *printed += part.units + if text.is_empty() { 1 } else { 3 };
                text.extend(if text.is_empty() { "" } else { ", " }.encode_utf16());
                text.extend_from_slice(message.text(&part));
                text.push(u16::from(b'='));
            }
            (Tag::Literal | Tag::Quoted, Some((_, text, printed))) => {
                *printed += part.units;
                text.extend_from_slice(message.text(&part));
            }
            _ => {}
        }
    }
    calls
}

/// The message as one text block: what it printed, cut.
fn condense(message: &Message<'_>, dialect: Dialect, cut: Cut) -> Result<Change> {
    /// Room for the label of any role.
    const LABEL: usize = 24;
    let most = cut.target.saturating_sub(LABEL);
    // Only these roles print a text block.
    let holds_blocks =
        matches!(message.role(), Role::User | Role::Custom | Role::Assistant | Role::ToolResult);
    if most < MIN_TEXT || !holds_blocks {
        return Err(CompactionError::budget(
            "the budget of a chunk is too small for a single message; raise promptLimit, or lower reserve, \
             customInstructions or prompts",
        ));
    }
    let text = conversation(std::slice::from_ref(message), dialect);
    Ok(Change::Condense { text: cut_text(&text, most, cut.marker) })
}
