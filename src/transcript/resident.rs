//! A transcript that stays: sizes and texts of each message, taken once; or sizes alone, where the texts can be read
//! again.

use std::ops::Range;
use std::sync::Arc;

use super::part::{Message, messages};
use super::serialize::{Dialect, Extent, message_extent};
use super::store::Store;
use crate::error::Result;

/// Messages whose records are at hand and whose texts are elsewhere.
pub trait Elsewhere: Send + Sync {
    /// The records of the message at a place.
    fn records(&self, place: u32) -> &[u32];
    /// The messages at some places, with their texts as far as they are printed.
    ///
    /// # Errors
    /// That of the place where they are.
    fn read(&self, places: &[u32]) -> Result<Store>;
    /// Bytes on the heap.
    fn bytes(&self) -> usize;
}

/// One message of a transcript.
#[derive(Clone)]
enum Item {
    Here(Arc<Store>),
    /// At a place elsewhere.
    At(u32),
}

impl Item {
    fn messages<'a>(&'a self, file: Option<&'a dyn Elsewhere>) -> impl Iterator<Item = Message<'a>> {
        let (here, elsewhere) = match self {
            Self::Here(store) => (Some(store.messages()), None),
            Self::At(place) => (None, file.map(|file| messages(file.records(*place)))),
        };
        here.into_iter().flatten().chain(elsewhere.into_iter().flatten())
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Here(store) => store.bytes(),
            Self::At(_) => 0,
        }
    }
}

/// Printed sizes by dialect.
type Sizes = [Extent; Dialect::ALL.len()];

/// Messages and the sums of their printed sizes, so that any range is sized by one subtraction.
///
/// Cloning shares the messages.
#[derive(Clone)]
pub struct Resident {
    items: Vec<Item>,
    /// Sizes of the messages before each, by dialect; one more than there are messages.
    before: Vec<Sizes>,
    /// Where texts are that are not here.
    elsewhere: Option<Arc<dyn Elsewhere>>,
}

impl Default for Resident {
    fn default() -> Self {
        Self { items: Vec::new(), before: vec![Sizes::default()], elsewhere: None }
    }
}

impl Resident {
    /// The messages at the given places.
    #[must_use]
    pub fn of(elsewhere: &Arc<dyn Elsewhere>, places: u32) -> Self {
        let mut resident = Self { elsewhere: Some(Arc::clone(elsewhere)), ..Self::default() };
        resident.items.reserve_exact(places as usize);
        resident.before.reserve_exact(places as usize);
        for place in 0..places {
            resident.push(Item::At(place));
        }
        resident
    }

    /// The same with stores in place of some messages, in order; a store without a message takes one out.
    #[must_use]
    pub fn filled(&self, here: Vec<(usize, Store)>) -> Self {
        let mut filled = Self { elsewhere: self.elsewhere.clone(), ..Self::default() };
        let mut here = here.into_iter().peekable();
        for (place, item) in self.items.iter().enumerate() {
            match here.next_if(|(at, _)| *at == place) {
                Some((_, store)) => filled.append(store),
                None => filled.push_sized(item.clone(), self.sizes(place)),
            }
        }
        filled
    }

    /// Appends the messages of a store.
    pub fn append(&mut self, store: Store) {
        if store.messages().nth(1).is_none() {
            if store.messages().next().is_some() {
                self.push(Item::Here(Arc::new(store)));
            }
            return;
        }
        for message in store.messages() {
            self.push(Item::Here(Arc::new(Store::of(&message))));
        }
    }

    fn push(&mut self, item: Item) {
        let mut sizes = Sizes::default();
        for own in item.messages(self.elsewhere.as_deref()) {
            for (size, dialect) in sizes.iter_mut().zip(Dialect::ALL) {
                *size = size.and(message_extent(&own, dialect));
            }
        }
        self.push_sized(item, sizes);
    }

    fn push_sized(&mut self, item: Item, sizes: Sizes) {
        let mut sums = self.before.last().copied().unwrap_or_default();
        sums.iter_mut().zip(sizes).for_each(|(sum, size)| *sum = sum.and(size));
        self.before.push(sums);
        self.items.push(item);
    }

    /// The printed sizes of a message.
    fn sizes(&self, at: usize) -> Sizes {
        let before = self.before.get(at).copied().unwrap_or_default();
        let mut sizes = self.before.get(at + 1).copied().unwrap_or(before);
        sizes.iter_mut().zip(before).for_each(|(size, before)| *size = size.without(before));
        sizes
    }

    /// The first `length` messages, and `replacement` and the messages behind it in place of what follows.
    #[must_use]
    pub fn edited(&self, length: usize, replacement: Store) -> Self {
        let mut edited = Self { elsewhere: self.elsewhere.clone(), ..Self::default() };
        for (at, item) in self.items.iter().enumerate().take(length) {
            edited.push_sized(item.clone(), self.sizes(at));
        }
        let first = edited.items.len();
        edited.append(replacement);
        let replaced = edited.items.len() - first;
        if replaced > 0 {
            for (at, item) in self.items.iter().enumerate().skip(length + replaced) {
                edited.push_sized(item.clone(), self.sizes(at));
            }
        }
        edited
    }

    /// How many messages it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
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

    /// The messages of a range. The texts of those that are elsewhere are not at hand.
    pub fn messages(&self, range: Range<usize>) -> impl Iterator<Item = Message<'_>> {
        let file = self.elsewhere.as_deref();
        self.items.get(range).unwrap_or_default().iter().flat_map(move |item| item.messages(file))
    }

    /// A range that outlives later edits.
    #[must_use]
    pub fn passage(&self, range: Range<usize>) -> Passage {
        let items = self.items.get(range).unwrap_or_default().to_vec();
        Passage { items, elsewhere: self.elsewhere.clone(), skipped: 0 }
    }

    /// Bytes on the heap that no other transcript shares.
    #[must_use]
    pub fn own_bytes(&self) -> usize {
        self.before.capacity() * size_of::<Sizes>() + self.items.capacity() * size_of::<Item>()
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let elsewhere = self.elsewhere.as_ref().map_or(0, |file| file.bytes());
        self.own_bytes() + elsewhere + self.items.iter().map(Item::bytes).sum::<usize>()
    }
}

/// Messages of a transcript, before their texts are at hand.
#[derive(Clone, Default)]
pub struct Passage {
    items: Vec<Item>,
    elsewhere: Option<Arc<dyn Elsewhere>>,
    /// Messages at the beginning that are left out.
    skipped: usize,
}

impl Passage {
    /// The messages of one store.
    #[must_use]
    pub fn of(store: Store) -> Self {
        Self { items: vec![Item::Here(Arc::new(store))], elsewhere: None, skipped: 0 }
    }

    /// The messages, in order; with their texts, where [`Passage::loaded`] was asked for or they never were elsewhere.
    pub fn messages(&self) -> impl Iterator<Item = Message<'_>> {
        let file = self.elsewhere.as_deref();
        self.items.iter().flat_map(move |item| item.messages(file)).skip(self.skipped)
    }

    /// What stands behind the first messages; the texts are shared.
    #[must_use]
    pub fn skipping(&self, messages: usize) -> Self {
        Self { skipped: self.skipped + messages, ..self.clone() }
    }

    /// The same with all texts at hand.
    ///
    /// # Errors
    /// That of the place where they are.
    pub fn loaded(self) -> Result<Self> {
        let Some(file) = self.elsewhere.as_deref() else { return Ok(self) };
        let mut items = Vec::with_capacity(self.items.len());
        let mut rest = self.items.as_slice();
        while let Some(first) = rest.first() {
            let places: Vec<u32> = rest.iter().map_while(Item::place).collect();
            rest = rest.get(places.len().max(1)..).unwrap_or_default();
            items.push(if places.is_empty() {
                first.clone()
            } else {
                Item::Here(Arc::new(file.read(&places)?))
            });
        }
        Ok(Self { items, elsewhere: None, skipped: self.skipped })
    }
}

impl Item {
    fn place(&self) -> Option<u32> {
        match self {
            Self::Here(_) => None,
            Self::At(place) => Some(*place),
        }
    }
}
