//! What a reader of session files holds while it reads.

use std::cell::Cell;

use super::index::Index;
use super::scan::Found;
use super::stretch::{Buffer, STRETCH};

/// The most bytes that a thread keeps; a desk that has more held a long line, or a strange one.
const KEPT: usize = 8 * STRETCH;

/// A stretch, its index, and what was found in it.
#[derive(Default)]
pub struct Desk {
    /// The stretch.
    pub text: Buffer,
    /// Its index.
    pub index: Index,
    /// What was found. Empty between two files.
    pub found: Found,
}

thread_local! {
    static DESK: Cell<Desk> = Cell::default();
}

impl Desk {
    /// That of this thread. Memory that is taken anew for each file has to be cleared by the system first.
    #[must_use]
    pub fn take() -> Self {
        DESK.take()
    }

    /// Leaves it for the next file that this thread reads. It ends with the thread.
    pub fn leave(self) {
        if self.text.bytes() + self.index.bytes() + self.found.bytes() <= KEPT {
            DESK.set(self);
        }
    }
}
