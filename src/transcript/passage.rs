//! Messages on their way to whoever reads their texts.

use std::sync::Arc;

use super::part::Message;
use super::resident::{Elsewhere, Item};
use super::store::{Filling, Store};
use crate::error::Result;

/// Messages before their texts are at hand: those that are elsewhere are to be read, and strings that were just
/// taken over are to be measured as JSON.
#[derive(Default)]
pub struct Unread {
    taken: Filling,
    items: Vec<Item>,
    elsewhere: Option<Arc<dyn Elsewhere>>,
}

impl Unread {
    /// Messages whose texts were just taken over.
    #[must_use]
    pub fn taken(texts: Filling) -> Self {
        Self { taken: texts, ..Self::default() }
    }

    /// Messages of a resident transcript.
    #[must_use]
    pub fn resident(items: Vec<Item>, elsewhere: Option<Arc<dyn Elsewhere>>) -> Self {
        Self { items, elsewhere, ..Self::default() }
    }

    /// The messages, with their texts.
    ///
    /// # Errors
    /// That of the place where they are.
    pub fn read(self) -> Result<Passage> {
        let mut stores = vec![Arc::new(self.taken.filled())];
        let mut rest = self.items.as_slice();
        while let Some((first, behind)) = rest.split_first() {
            let places: Vec<u32> = rest.iter().map_while(Item::place).collect();
            rest = rest.get(places.len()..).filter(|_| !places.is_empty()).unwrap_or(behind);
            match (first, &self.elsewhere) {
                (Item::Here(store), _) => stores.push(Arc::clone(store)),
                (Item::At(_), Some(elsewhere)) => stores.push(Arc::new(elsewhere.read(&places)?)),
                (Item::At(_), None) => {}
            }
        }
        Ok(Passage { stores, skipped: 0 })
    }
}

/// Messages with their texts.
#[derive(Debug, Clone, Default)]
pub struct Passage {
    stores: Vec<Arc<Store>>,
    /// Messages at the beginning that are left out.
    skipped: usize,
}

impl Passage {
    /// The messages, in order.
    pub fn messages(&self) -> impl Iterator<Item = Message<'_>> {
        self.stores.iter().flat_map(|store| store.messages()).skip(self.skipped)
    }

    /// What stands behind the first messages; the texts are shared.
    #[must_use]
    pub fn skipping(&self, messages: usize) -> Self {
        Self { skipped: self.skipped + messages, ..self.clone() }
    }

    /// Changes every text in place.
    pub fn change_texts(&mut self, change: impl Fn(&mut [u16])) {
        for store in &mut self.stores {
            Arc::make_mut(store).change_texts(&change);
        }
    }
}
