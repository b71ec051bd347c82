//! Exported: resident transcripts and passages of them.
//!
//! The garbage collector does not see native memory, so that whoever uses a store or a passage also empties it.

use napi::bindgen_prelude::External;
use napi_derive::napi;

use crate::transcript::passage::Unread;
use crate::transcript::resident::Resident;
use crate::transcript::store::Filling;

/// An empty resident transcript.
#[napi(catch_unwind)]
pub fn new_resident() -> External<Resident> {
    External::new(Resident::default())
}

/// Appends the messages of a store. Takes its contents.
#[napi(catch_unwind)]
pub fn append_to_resident(resident: &mut External<Resident>, store: &mut External<Filling>) {
    resident.append(std::mem::take(&mut **store).filled());
}

/// Another resident transcript: the first messages, then those of the store, then what stood behind as many.
/// Without messages in the store it ends there.
#[napi(catch_unwind)]
pub fn edited_resident(
    resident: &External<Resident>,
    length: u32,
    store: &mut External<Filling>,
) -> External<Resident> {
    let edited = resident.edited(length as usize, std::mem::take(&mut **store).filled());
    // The messages are shared; what is new is about the size of the sums.
    let size = edited.own_bytes();
    External::new_with_size_hint(edited, size)
}

/// Bytes that it holds.
#[napi(catch_unwind)]
pub fn resident_bytes(resident: &External<Resident>) -> f64 {
    resident.bytes() as f64
}

/// The messages of a store as a passage. Takes the store's contents.
#[napi(catch_unwind)]
pub fn passage_of_store(store: &mut External<Filling>) -> External<Unread> {
    External::new(Unread::Taken(std::mem::take(&mut **store)))
}

/// The messages of a range as a passage, which outlives later edits.
#[napi(catch_unwind)]
pub fn passage_of_resident(resident: &External<Resident>, start: u32, end: u32) -> External<Unread> {
    External::new(resident.passage(start as usize..end as usize))
}
