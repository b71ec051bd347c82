//! A transcript that stays: sizes and texts of each message, taken once; or sizes alone, where the texts can be read
//! again.

use std::ops::Range;
use std::sync::Arc;

use super::outline::{Link, Linker, Outline};
use super::part::{Message, messages};
use super::passage::Unread;
use super::serialize::{Dialect, Extent, Size, message_extent};
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
pub enum Item {
    /// With its texts.
    Here(Arc<Store>),
    /// At a place elsewhere.
    At(u32),
}

impl Item {
    /// The message that it is, in a transcript.
    fn message<'a>(&'a self, file: Option<&'a dyn Elsewhere>) -> Option<Message<'a>> {
        match self {
            Self::Here(store) => store.messages().next(),
            Self::At(place) => messages(file?.records(*place)).next(),
        }
    }

    /// Where it is, when it is elsewhere.
    #[must_use]
    pub fn place(&self) -> Option<u32> {
        match self {
            Self::Here(_) => None,
            Self::At(place) => Some(*place),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Here(store) => store.bytes(),
            Self::At(_) => 0,
        }
    }
}

/// Messages and the sums of their printed sizes, so that any range is sized by one subtraction.
///
/// Cloning shares the messages.
#[derive(Clone)]
pub struct Resident {
    items: Vec<Item>,
    /// One for each message.
    links: Vec<Link>,
    linker: Linker,
    /// By dialect, sizes of the messages before each; one more than there are messages.
    before: [Vec<Extent>; Dialect::ALL.len()],
    /// Where texts are that are not here.
    elsewhere: Option<Arc<dyn Elsewhere>>,
}

impl Default for Resident {
    fn default() -> Self {
        let before = Dialect::ALL.map(|_| vec![Extent::default()]);
        Self { items: Vec::new(), links: Vec::new(), linker: Linker::default(), before, elsewhere: None }
    }
}

impl Resident {
    /// The messages at all places, of these sizes by dialect.
    #[must_use]
    pub fn of(elsewhere: Arc<dyn Elsewhere>, sizes: &[[Size; Dialect::ALL.len()]]) -> Self {
        let mut resident = Self { elsewhere: Some(elsewhere), ..Self::default() };
        resident.items.reserve_exact(sizes.len());
        resident.links.reserve_exact(sizes.len());
        resident.before.iter_mut().for_each(|before| before.reserve_exact(sizes.len()));
        for (place, sizes) in (0..).zip(sizes) {
            resident.push_sized(Item::At(place), sizes.map(Extent::from));
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
        let message = item.message(self.elsewhere.as_deref());
        let extent = |dialect| message.map(|message| message_extent(&message, dialect)).unwrap_or_default();
        let extents = Dialect::ALL.map(extent);
        self.push_sized(item, extents);
    }

    fn push_sized(&mut self, item: Item, sizes: [Extent; Dialect::ALL.len()]) {
        for (before, size) in self.before.iter_mut().zip(sizes) {
            before.push(before.last().copied().unwrap_or_default().and(size));
        }
        self.links.push(self.linker.link(item.message(self.elsewhere.as_deref()).as_ref()));
        self.items.push(item);
    }

    /// The printed sizes of a message.
    fn sizes(&self, at: usize) -> [Extent; Dialect::ALL.len()] {
        Dialect::ALL.map(|dialect| self.extent(at..at + 1, dialect))
    }

    /// Sizes of the messages before each, in one dialect.
    fn before(&self, dialect: Dialect) -> &[Extent] {
        let sums = Dialect::ALL.iter().zip(&self.before).find(|(known, _)| **known == dialect);
        sums.map_or(&[], |(_, before)| before)
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
        Extent::of_span(self.before(dialect), range)
    }

    /// A range as a plan sees it.
    #[must_use]
    pub fn outline(&self, range: Range<usize>, dialect: Dialect) -> Outline<'_> {
        let before = self.before(dialect).get(range.start..=range.end).unwrap_or_default();
        Outline::new(self.links.get(range).unwrap_or_default(), before)
    }

    /// A message. Its texts, where they are elsewhere, are not at hand.
    #[must_use]
    pub fn message(&self, at: usize) -> Option<Message<'_>> {
        self.items.get(at)?.message(self.elsewhere.as_deref())
    }

    /// The messages of a range. The texts of those that are elsewhere are not at hand.
    pub fn messages(&self, range: Range<usize>) -> impl Iterator<Item = Message<'_>> {
        let file = self.elsewhere.as_deref();
        self.items.get(range).unwrap_or_default().iter().filter_map(move |item| item.message(file))
    }

    /// A range that outlives later edits.
    #[must_use]
    pub fn passage(&self, range: Range<usize>) -> Unread {
        Unread::Resident(self.items.get(range).unwrap_or_default().to_vec(), self.elsewhere.clone())
    }

    /// Bytes on the heap that no other transcript shares.
    #[must_use]
    pub fn own_bytes(&self) -> usize {
        let sums: usize = self.before.iter().map(Vec::capacity).sum();
        sums * size_of::<Extent>()
            + self.items.capacity() * size_of::<Item>()
            + self.links.capacity() * size_of::<Link>()
            + self.linker.bytes()
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let elsewhere = self.elsewhere.as_ref().map_or(0, |file| file.bytes());
        self.own_bytes() + elsewhere + self.items.iter().map(Item::bytes).sum::<usize>()
    }
}
