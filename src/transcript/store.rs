//! Where the text of a part lives.

use super::part::{Message, Part, Role, Tag, messages, next_record};
use super::serialize::Dialect;
use super::units;

/// Text of one part: something with a length in UTF-16 units.
pub trait Text: Copy {
    /// Its length in UTF-16 units.
    fn units(self) -> usize;
    /// Its first `units` units.
    #[must_use]
    fn prefix(self, units: usize) -> Self;
}

impl Text for usize {
    fn units(self) -> usize {
        self
    }
    fn prefix(self, units: usize) -> Self {
        self.min(units)
    }
}

impl Text for &[u16] {
    fn units(self) -> usize {
        self.len()
    }
    fn prefix(self, units: usize) -> Self {
        self.get(..units).unwrap_or(self)
    }
}

/// Where the walk finds the texts of the parts.
pub trait Source<'a> {
    /// What a text is here.
    type Text: Text;
    /// The text of a part of `message`.
    fn text(&self, message: &Message<'a>, part: &Part) -> Self::Text;
    /// The units on either side of `at` in the shown text of `message`, where both exist.
    fn around(&self, message: &Message<'a>, at: usize) -> Option<(u16, u16)>;
}

/// Only the lengths of texts: enough for every size, but for the units around a cut, which are gathered apart where the
/// texts are not at hand.
#[derive(Debug, Clone, Copy)]
pub struct Lengths;

impl Source<'_> for Lengths {
    type Text = usize;

    fn text(&self, _message: &Message<'_>, part: &Part) -> usize {
        part.units
    }

    fn around(&self, message: &Message<'_>, at: usize) -> Option<(u16, u16)> {
        // A text at hand may be another by now than the one of which units were gathered.
        Stored.around(message, at).or_else(|| {
            let pair = message.parts_of(Tag::CapUnits).next()?.units;
            Some(((pair >> 16) as u16, (pair & 0xffff) as u16))
        })
    }
}

/// The texts that the messages bring along.
#[derive(Debug, Clone, Copy)]
pub struct Stored;

impl<'a> Source<'a> for Stored {
    type Text = &'a [u16];

    fn text(&self, message: &Message<'a>, part: &Part) -> &'a [u16] {
        message.text(part)
    }

    fn around(&self, message: &Message<'a>, at: usize) -> Option<(u16, u16)> {
        let unit = |mut index: usize| {
            for part in message.parts_of(Tag::Text).filter(Part::is_shown) {
                if index < part.units {
                    return message.text(&part).get(index).copied();
                }
                index -= part.units;
            }
            None
        };
        Some((unit(at.checked_sub(1)?)?, unit(at)?))
    }
}

/// How much of each text a task reads, so that a long tool result is never copied whole for its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Every text as far as it is printed: tool results to one unit past their cap, and as many units more, so that
    /// a secret across the cap is recognized.
    Printed(usize),
    /// Every text to its end.
    Whole,
}

/// Records together with the texts of their parts, in the order in which they stand.
#[derive(Debug, Clone, Default)]
pub struct Store {
    records: Vec<u32>,
    arena: Vec<u16>,
    /// For each record where its text begins in the arena and how long it is.
    spans: Vec<(usize, usize)>,
    /// Position in words of the message that was begun last.
    open: usize,
}

impl Store {
    /// A store of one message, no larger than it has to be.
    #[must_use]
    pub fn of(message: &Message<'_>) -> Self {
        let parts = message.parts().count() + 1;
        let units = message.parts().map(|part| message.text(&part).len()).sum();
        let mut store = Self {
            records: Vec::with_capacity(2 * parts),
            arena: Vec::with_capacity(units),
            spans: Vec::with_capacity(parts),
            open: 0,
        };
        store.begin(message.header());
        for part in message.parts() {
            store.add(part.word, part.units, message.text(&part));
        }
        store
    }

    /// Bytes of it, on the heap and off.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.records.capacity() * size_of::<u32>()
            + self.arena.capacity() * size_of::<u16>()
            + self.spans.capacity() * size_of::<(usize, usize)>()
    }

    /// The records. In a store, lengths of quoted records are those of the JSON strings.
    #[must_use]
    pub fn records(&self) -> &[u32] {
        &self.records
    }

    /// Its messages, with their texts at hand.
    pub fn messages(&self) -> impl Iterator<Item = Message<'_>> {
        messages(&self.records).map(|message| message.with_texts(self))
    }

    /// The text of a part, as far as it was read.
    #[must_use]
    pub fn text(&self, part: &Part) -> &[u16] {
        let (start, length) = self.spans.get(part.at / 2).copied().unwrap_or_default();
        self.arena.get(start..start.saturating_add(length)).unwrap_or_default()
    }

    /// Begins a message with the header of another.
    pub fn begin(&mut self, header: u32) {
        self.open = self.records.len();
        self.records.extend([header, 2]);
        self.spans.push((0, 0));
    }

    /// Adds a part to the message that was begun last. `units` is its whole length, `text` what is there of it.
    pub fn add(&mut self, word: u32, units: usize, text: &[u16]) {
        self.records.extend([word, units as u32]);
        self.spans.push((self.arena.len(), text.len()));
        self.arena.extend_from_slice(text);
        if let Some(words) = self.records.get_mut(self.open + 1) {
            *words += 2;
        }
    }

    /// Changes every text in place; the lengths of quoted strings are taken anew.
    pub fn change_texts(&mut self, change: impl Fn(&mut [u16])) {
        for &(start, length) in &self.spans {
            if let Some(text) = self.arena.get_mut(start..start.saturating_add(length)) {
                change(text);
            }
        }
        self.quote();
    }

    /// Takes the lengths that strings have as JSON.
    fn quote(&mut self) {
        let mut name = None;
        for (record, &(start, length)) in self.records.chunks_exact_mut(2).zip(&self.spans) {
            let [word, units] = record else { continue };
            let text = self.arena.get(start..start.saturating_add(length));
            let quoted = match Part::tag_of(*word) {
                Some(Tag::Quoted) => text,
                // The same name as a JSON string follows, without a text of its own.
                Some(Tag::Key) => {
                    name = text;
                    None
                }
                Some(Tag::QuotedKey) => name.take(),
                _ => None,
            };
            if let Some(text) = quoted {
                *units = units::quoted_units(text) as u32;
            }
        }
    }
}

/// A store whose texts follow one after the other.
#[derive(Debug, Clone, Default)]
pub struct Filling {
    /// Of a text that is still awaited, the second number of its span is the most that is read of it.
    store: Store,
    /// Position in words of the record that the next text belongs to.
    next: usize,
}

impl Filling {
    /// A store for `records`; the texts follow by [`Filling::push`].
    #[must_use]
    pub fn new(records: Vec<u32>, wanted: Wanted) -> Self {
        let mut spans = vec![(0, usize::MAX); records.len().div_ceil(2)];
        if let Wanted::Printed(beyond) = wanted {
            messages(&records)
                .filter(|m| m.role() == Role::ToolResult)
                .for_each(|m| limit_to_cap(&m, beyond, &mut spans));
        }
        // As large as it will be: what stays resident is not to be larger than what it holds.
        let texts = records.chunks_exact(2).zip(&spans).filter_map(|(record, &(_, most))| match record {
            &[word, units] if Part::tag_of(word).is_some_and(Tag::has_text) => {
                Some((units as usize).min(most))
            }
            _ => None,
        });
        let arena = Vec::with_capacity(texts.sum::<usize>() + 1);
        Self { store: Store { records, arena, spans, open: 0 }, next: 0 }
    }

    /// The part whose text [`Filling::push`] expects next.
    #[must_use]
    pub fn awaited(&self) -> Option<Part> {
        next_record(&self.store.records, self.next, |part| part.tag.has_text() && part.is_shown())
    }

    /// Appends the text of `part`, the awaited one. `fill` writes it behind what is already there, no more units
    /// than it is told.
    pub fn push(&mut self, part: &Part, fill: impl FnOnce(&mut Vec<u16>, usize)) {
        let Store { arena, spans, .. } = &mut self.store;
        let Some(span) = spans.get_mut(part.at / 2) else { return };
        let start = arena.len();
        fill(arena, span.1);
        *span = (start, arena.len() - start);
        self.next = part.at + 2;
    }

    /// The store, once all texts are there: strings inside JSON get the lengths that they have there.
    #[must_use]
    pub fn filled(mut self) -> Store {
        self.store.quote();
        self.store
    }
}

/// What is printed of a tool result, and the unit behind it, which decides whether the cut splits a pair.
fn limit_to_cap(message: &Message<'_>, beyond: usize, spans: &mut [(usize, usize)]) {
    let mut left = Dialect::TOOL_RESULT_CAP + 1 + beyond;
    for part in message.parts_of(Tag::Text).filter(Part::is_shown) {
        if let Some(span) = spans.get_mut(part.at / 2) {
            span.1 = left;
        }
        left -= part.units.min(left);
    }
}

#[cfg(test)]
mod tests {
    use super::{Lengths, Source, Store};
    use crate::transcript::part::{Part, Tag, messages};

    #[test]
    fn units_around_a_place_are_those_of_the_text_at_hand_else_those_that_were_gathered() {
        let mut store = Store::default();
        store.begin(3 << 8);
        store.add(Part::word(Tag::Text, 0), 3, &[1, 2, 3]);
        store.add(Part::word(Tag::CapUnits, 0), 7 << 16 | 8, &[]);
        let around = |message| Lengths.around(&message, 2);
        assert_eq!(store.messages().next().and_then(around), Some((2, 3)));
        assert_eq!(messages(store.records()).next().and_then(around), Some((7, 8)));
    }
}
