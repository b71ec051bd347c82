//! Edits applied natively: the messages of a request, as a store of their own.

use std::collections::{HashMap, HashSet};

use super::edit::{Change, Edit, IMAGE_PLACEHOLDER};
use crate::transcript::part::{Message, Part, Tag};
use crate::transcript::store::Store;
use crate::transcript::units::quoted_units;

/// A copy of the range with its edits.
#[must_use]
pub fn apply(range: &[Message<'_>], edits: &[Edit]) -> Store {
    let mut store = Store::default();
    let mut edits = edits;
    for (index, message) in range.iter().enumerate() {
        let own = edits.iter().take_while(|edit| edit.message == index).count();
        let (changes, rest) = edits.split_at_checked(own).unwrap_or((edits, &[]));
        edits = rest;
        store.begin(message.header());
        match changes {
            [Edit { change: Change::Condense { text }, .. }] => {
                store.add(Part::word(Tag::Text, 0), text.len(), text);
            }
            changes => copy(message, changes, &mut store),
        }
    }
    store
}

/// The parts of a message with the changes to them.
fn copy(message: &Message<'_>, changes: &[Edit], store: &mut Store) {
    let changes = Changes::of(changes);
    let mut call = 0;
    for part in message.parts() {
        if matches!(part.tag, Tag::Call | Tag::NestedCall) {
            call = part.address;
        }
        match changes.to(&part, call) {
            Effect::None => store.add(part.word, part.units, message.text(&part)),
            Effect::Gone => {}
            Effect::Text(text) => store.add(part.word, text.len(), text),
            Effect::Quoted(text) => {
                store.add(Part::word(Tag::Quoted, part.address), quoted_units(text), text);
            }
            Effect::Image => {
                let text: Vec<u16> = IMAGE_PLACEHOLDER.encode_utf16().collect();
                store.add(Part::word(Tag::Text, part.address), text.len(), &text);
            }
        }
        if part.tag == Tag::Call
            && let Some(text) = changes.arguments.get(&call)
        {
            collapsed(text, store);
        }
    }
}

/// What a change makes of a part.
enum Effect<'e> {
    None,
    Gone,
    Text(&'e [u16]),
    Quoted(&'e [u16]),
    Image,
}

/// The changes to one message by where they fall.
#[derive(Default)]
struct Changes<'e> {
    /// By tag, block and argument.
    texts: HashMap<(u8, u32, u32), &'e [u16]>,
    arguments: HashMap<u32, &'e [u16]>,
    dropped: HashSet<u32>,
    images: HashSet<u32>,
}

impl<'e> Changes<'e> {
    fn of(edits: &'e [Edit]) -> Self {
        let mut changes = Self::default();
        for edit in edits {
            match &edit.change {
                Change::Text { tag, block, member, text } => {
                    changes.texts.insert((*tag as u8, *block, *member), text);
                }
                Change::Arguments { block, text } => {
                    changes.arguments.insert(*block, text);
                }
                Change::Drop { block } => {
                    changes.dropped.insert(*block);
                }
                Change::Image { block } => {
                    changes.images.insert(*block);
                }
                Change::Condense { .. } => {}
            }
        }
        changes
    }

    /// What becomes of a part; `call` is the block of the call that it may belong to.
    fn to(&self, part: &Part, call: u32) -> Effect<'e> {
        let text = |block, member| self.texts.get(&(part.tag as u8, block, member)).copied();
        match part.tag {
            Tag::Key | Tag::QuotedKey | Tag::Literal | Tag::Quoted | Tag::Unserializable => {
                if self.dropped.contains(&call) || self.arguments.contains_key(&call) {
                    return Effect::Gone;
                }
                text(call, part.address).map_or(Effect::None, Effect::Quoted)
            }
            Tag::Image if self.images.contains(&part.address) => Effect::Image,
            Tag::Text | Tag::Thinking | Tag::Image | Tag::Call if self.dropped.contains(&part.address) => {
                Effect::Gone
            }
            _ => text(part.address, 0).map_or(Effect::None, Effect::Text),
        }
    }
}

/// All arguments of a call as one.
fn collapsed(text: &[u16], store: &mut Store) {
    const NAME: [u16; 9] = [0x61, 0x72, 0x67, 0x75, 0x6d, 0x65, 0x6e, 0x74, 0x73];
    store.add(Part::word(Tag::Key, 0), NAME.len(), &NAME);
    store.add(Part::word(Tag::Quoted, 0), quoted_units(text), text);
}
