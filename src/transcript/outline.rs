//! Messages as a plan sees them: who wrote each, which call it answers, and the size of any span.

use std::borrow::Cow;
use std::ops::Range;

use super::part::{Message, Role, Tag};
use super::serialize::{Dialect, Extent, message_extent};

/// Who wrote a message, and where the call is that it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// Who wrote it.
    pub role: Role,
    /// How many messages before it the nearest call of its result's id stands; 0 for none.
    pub back: u32,
}

/// Links messages to their calls, one after the other.
#[derive(Debug, Clone, Default)]
pub struct Linker {
    /// For each number of a call the latest message that has it, from 1; whoever numbers calls counts them.
    latest: Vec<u32>,
    count: u32,
}

impl Linker {
    /// The link of the next message, if there is one.
    pub fn link(&mut self, message: Option<&Message<'_>>) -> Link {
        self.count += 1;
        let mut answered = None;
        for (tag, number) in message.into_iter().flat_map(Message::numbers) {
            match tag {
                Tag::CallId => self.note(number),
                _ => answered = answered.or(Some(number)),
            }
        }
        let call = answered.and_then(|number| self.latest.get(number as usize)).filter(|call| **call > 0);
        let role = message.map_or(Role::Unknown, Message::role);
        Link { role, back: call.map_or(0, |call| self.count - call) }
    }

    fn note(&mut self, number: u32) {
        let number = number as usize;
        if number >= self.latest.len() {
            self.latest.resize(number + 1, 0);
        }
        if let Some(latest) = self.latest.get_mut(number) {
            *latest = self.count;
        }
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.latest.capacity() * size_of::<u32>()
    }
}

/// The links of a range by itself.
#[must_use]
pub fn links(range: &[Message<'_>]) -> Vec<Link> {
    let mut linker = Linker::default();
    range.iter().map(|message| linker.link(Some(message))).collect()
}

/// A range of messages in one dialect.
#[derive(Debug, Clone)]
pub struct Outline<'a> {
    links: Cow<'a, [Link]>,
    /// Sizes of what stands before each message, and of everything; from wherever they count.
    before: Cow<'a, [Extent]>,
}

impl<'a> Outline<'a> {
    /// The outline of messages whose links and sizes are at hand; of sizes there is one more.
    #[must_use]
    pub fn new(links: &'a [Link], before: &'a [Extent]) -> Self {
        Self { links: links.into(), before: before.into() }
    }

    /// The outline of a range.
    #[must_use]
    pub fn of(range: &[Message<'_>], dialect: Dialect) -> Self {
        let mut sum = Extent::default();
        let after = range.iter().map(|message| {
            sum = sum.and(message_extent(message, dialect));
            sum
        });
        let before = std::iter::once(Extent::default()).chain(after).collect();
        Self { links: links(range).into(), before: Cow::Owned(before) }
    }

    /// How many messages there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The link of each message.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Who wrote a message.
    #[must_use]
    pub fn role(&self, at: usize) -> Role {
        self.links.get(at).map_or(Role::Unknown, |link| link.role)
    }

    /// UTF-16 units of a span's text.
    #[must_use]
    pub fn units(&self, span: Range<usize>) -> usize {
        Extent::of_span(&self.before, span).units()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::transcript::part::{Part, messages};

    /// An assistant message with calls of these numbers, or the result of one.
    fn record(is_result: bool, numbers: &[u32]) -> Vec<u32> {
        let (role, tag) = if is_result { (3, Tag::ResultId) } else { (2, Tag::CallId) };
        let numbers = if is_result { &numbers[..1] } else { numbers };
        let mut words = vec![role << 8, 2 + 2 * numbers.len() as u32];
        words.extend(numbers.iter().flat_map(|&number| [Part::word(tag, 0), number]));
        words
    }

    proptest! {
        #[test]
        fn a_result_is_linked_to_the_nearest_call_of_its_number(
            made in prop::collection::vec((any::<bool>(), prop::collection::vec(0..5_u32, 1..4)), 0..40)
        ) {
            let words: Vec<u32> =
                made.iter().flat_map(|(is_result, numbers)| record(*is_result, numbers)).collect();
            let range: Vec<Message<'_>> = messages(&words).collect();
            let found: Vec<usize> = links(&range).iter().map(|link| link.back as usize).collect();
            let nearest = |at: usize| {
                let (is_result, numbers) = &made[at];
                let calls = |&before: &usize| !made[before].0 && made[before].1.contains(&numbers[0]);
                (0..at).rev().filter(|_| *is_result).find(calls).map_or(0, |call| at - call)
            };
            prop_assert_eq!(found, (0..made.len()).map(nearest).collect::<Vec<_>>());
        }
    }
}
