//! What a reader of session files holds while it reads.

use std::cell::Cell;

use super::index::Index;
use super::scan::{Found, STRETCH};

/// The most bytes of a stretch that a thread keeps; a longer one held a long line.
const KEPT: usize = 2 * STRETCH;

/// A stretch, its index, and what was found in it.
#[derive(Default)]
pub struct Desk {
    /// The stretch.
    pub text: Vec<u8>,
    /// Its index.
    pub index: Index,
    /// What was found. Empty between two files.
    pub found: Found,
}

thread_local! {
    static DESK: Cell<Desk> = Cell::default();
}

impl Desk {
    /// That of this thread. Memory that is taken anew for each file has to be cleared by the system first, which takes
    /// as long as reading a small one.
    #[must_use]
    pub fn take() -> Self {
        DESK.take()
    }

    /// Leaves it for the next file that this thread reads. It ends with the thread.
    pub fn leave(self) {
        if self.text.capacity() <= KEPT {
            DESK.set(self);
        }
    }
}
