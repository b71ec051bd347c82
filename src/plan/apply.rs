//! Edits applied natively: the messages of a request, as a store of their own.

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
    let mut call = 0;
    for part in message.parts() {
        let is_argument = matches!(part.tag, Tag::Key | Tag::QuotedKey | Tag::Literal | Tag::Quoted);
        if matches!(part.tag, Tag::Call | Tag::NestedCall) {
            call = part.address;
        }
        let block = if is_argument || part.tag == Tag::Unserializable { call } else { part.address };
        match changes.iter().find_map(|edit| effect(&edit.change, &part, block, is_argument)) {
            None => store.add(part.word, part.units, message.text(&part)),
            Some(Effect::Gone) => {}
            Some(Effect::Text(text)) => store.add(part.word, text.len(), text),
            Some(Effect::Quoted(text)) => {
                store.add(Part::word(Tag::Quoted, part.address), quoted_units(text), text);
            }
            Some(Effect::Image) => {
                let text: Vec<u16> = IMAGE_PLACEHOLDER.encode_utf16().collect();
                store.add(Part::word(Tag::Text, part.address), text.len(), &text);
            }
        }
        if part.tag == Tag::Call {
            for edit in changes {
                collapsed(&edit.change, call, store);
            }
        }
    }
}

/// What a change makes of a part.
enum Effect<'e> {
    Gone,
    Text(&'e [u16]),
    Quoted(&'e [u16]),
    Image,
}

fn effect<'e>(change: &'e Change, part: &Part, in_block: u32, is_argument: bool) -> Option<Effect<'e>> {
    let whole = matches!(part.tag, Tag::Text | Tag::Thinking | Tag::Image | Tag::Call);
    match change {
        Change::Drop { block } if (whole || is_argument) && in_block == *block => Some(Effect::Gone),
        Change::Arguments { block, .. } if is_argument && in_block == *block => Some(Effect::Gone),
        Change::Image { block } if part.tag == Tag::Image && part.address == *block => Some(Effect::Image),
        Change::Text { tag, block, member, text } if *tag == part.tag && is_argument => {
            (in_block == *block && part.address == *member).then_some(Effect::Quoted(text))
        }
        Change::Text { tag, block, text, .. } if *tag == part.tag => {
            (part.address == *block).then_some(Effect::Text(text))
        }
        _ => None,
    }
}

/// All arguments of a call as one.
fn collapsed(change: &Change, call: u32, store: &mut Store) {
    const NAME: [u16; 9] = [0x61, 0x72, 0x67, 0x75, 0x6d, 0x65, 0x6e, 0x74, 0x73];
    if let Change::Arguments { block, text } = change
        && *block == call
    {
        store.add(Part::word(Tag::Key, 0), NAME.len(), &NAME);
        store.add(Part::word(Tag::Quoted, 0), quoted_units(text), text);
    }
}
