//! A transcript that stays: sizes and texts of each message, taken once.

use std::ops::Range;
use std::sync::Arc;

use super::part::Message;
use super::serialize::{Dialect, Extent, message_extent};
use super::store::Store;

/// Messages and the sums of their printed sizes, so that any range is sized by one subtraction.
///
/// Cloning shares the messages.
#[derive(Debug, Clone)]
pub struct Resident {
    messages: Vec<Arc<Store>>,
    /// Sizes of the messages before each, by dialect; one more than there are messages.
    before: Vec<[Extent; Dialect::ALL.len()]>,
}

impl Default for Resident {
    fn default() -> Self {
        Self { messages: Vec::new(), before: vec![<[Extent; Dialect::ALL.len()]>::default()] }
    }
}

impl Resident {
    /// Appends the messages of a store.
    pub fn append(&mut self, store: Store) {
        if store.messages().nth(1).is_none() {
            if store.messages().next().is_some() {
                self.push(Arc::new(store));
            }
            return;
        }
        for message in store.messages() {
            self.push(Arc::new(Store::of(&message)));
        }
    }

    fn push(&mut self, message: Arc<Store>) {
        let sum = self.before.last().copied().unwrap_or_default();
        let mut next = sum;
        for own in message.messages() {
            for (sum, dialect) in next.iter_mut().zip(Dialect::ALL) {
                *sum = sum.and(message_extent(&own, dialect));
            }
        }
        self.before.push(next);
        self.messages.push(message);
    }

    /// The first `length` messages, and `replacement` and the messages behind it in place of what follows.
    #[must_use]
    pub fn edited(&self, length: usize, replacement: Store) -> Self {
        let mut edited = Self::default();
        self.messages.iter().take(length).for_each(|message| edited.push(Arc::clone(message)));
        let first = edited.messages.len();
        edited.append(replacement);
        let replaced = edited.messages.len() - first;
        if replaced > 0 {
            self.messages.iter().skip(length + replaced).for_each(|message| edited.push(Arc::clone(message)));
        }
        edited
    }

    /// The printed size of a range.
    #[must_use]
    pub fn extent(&self, range: Range<usize>, dialect: Dialect) -> Extent {
        let until = |at: usize| {
            let sums = self.before.get(at).copied().unwrap_or_default();
            Dialect::ALL
                .iter()
                .zip(sums)
                .find(|(known, _)| **known == dialect)
                .map_or(Extent::default(), |(_, sum)| sum)
        };
        until(range.end).without(until(range.start))
    }

    /// The messages of a range, their texts at hand.
    pub fn messages(&self, range: Range<usize>) -> impl Iterator<Item = Message<'_>> {
        self.messages.get(range).unwrap_or_default().iter().flat_map(|message| message.messages())
    }

    /// A range that outlives later edits.
    #[must_use]
    pub fn passage(&self, range: Range<usize>) -> Passage {
        Passage { stores: self.messages.get(range).unwrap_or_default().to_vec(), skipped: 0 }
    }

    /// Bytes on the heap that no other transcript shares.
    #[must_use]
    pub fn own_bytes(&self) -> usize {
        self.before.capacity() * size_of::<[Extent; Dialect::ALL.len()]>()
            + self.messages.capacity() * size_of::<Arc<Store>>()
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.own_bytes() + self.messages.iter().map(|message| message.bytes()).sum::<usize>()
    }
}

/// Messages with their texts, wherever they came from.
#[derive(Debug, Clone, Default)]
pub struct Passage {
    stores: Vec<Arc<Store>>,
    /// Messages at the beginning that are left out.
    skipped: usize,
}

impl Passage {
    /// The messages of one store.
    #[must_use]
    pub fn of(store: Store) -> Self {
        Self { stores: vec![Arc::new(store)], skipped: 0 }
    }

    /// The messages, in order.
    pub fn messages(&self) -> impl Iterator<Item = Message<'_>> {
        self.stores.iter().flat_map(|store| store.messages()).skip(self.skipped)
    }

    /// What stands behind the first messages; the texts are shared.
    #[must_use]
    pub fn skipping(&self, messages: usize) -> Self {
        Self { stores: self.stores.clone(), skipped: self.skipped + messages }
    }
}
