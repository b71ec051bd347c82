//! Messages on their way to whoever reads their texts.

use std::sync::Arc;

use super::part::Message;
use super::resident::{Elsewhere, Item};
use super::store::{Filling, Store};
use crate::error::Result;

/// Messages before their texts are at hand.
pub enum Unread {
    /// Texts that were just taken over, and are still to be measured as JSON.
    Taken(Filling),
    /// Messages of a resident transcript; what is elsewhere is still to be read.
    Resident(Vec<Item>, Option<Arc<dyn Elsewhere>>),
}

impl Default for Unread {
    fn default() -> Self {
        Self::Taken(Filling::default())
    }
}

impl Unread {
    /// The messages, with their texts.
    ///
    /// # Errors
    /// That of the place where they are.
    pub fn read(self) -> Result<Passage> {
        let (items, elsewhere) = match self {
            Self::Taken(texts) => {
                return Ok(Passage { stores: vec![Arc::new(texts.filled())], skipped: 0 });
            }
            Self::Resident(items, elsewhere) => (items, elsewhere),
        };
        let mut stores = Vec::new();
        // What is elsewhere is read in as few goes as there are.
        for items in items.chunk_by(|a, b| a.place().is_some() && b.place().is_some()) {
            match (items, &elsewhere) {
                ([Item::Here(store)], _) => stores.push(Arc::clone(store)),
                (items, Some(elsewhere)) => {
                    let places: Vec<u32> = items.iter().filter_map(Item::place).collect();
                    stores.push(Arc::new(elsewhere.read(&places)?));
                }
                (_, None) => {}
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
