//! Exported: resident transcripts and passages of them.

use napi::bindgen_prelude::{External, Utf16String};
use napi_derive::napi;

use crate::prompt::redact::Secrets;
use crate::transcript::resident::{Passage, Resident};
use crate::transcript::store::Store;

/// An empty resident transcript.
#[napi(catch_unwind)]
pub fn new_resident() -> External<Resident> {
    External::new(Resident::default())
}

/// Appends the messages of a store.
#[napi(catch_unwind)]
pub fn append_to_resident(resident: &mut External<Resident>, store: &External<Store>) {
    resident.append(store);
}

/// Another resident transcript: the first messages, then those of the store, then what stood behind as many.
/// Without messages in the store it ends there.
#[napi(catch_unwind)]
pub fn edited_resident(
    resident: &External<Resident>,
    length: u32,
    store: &External<Store>,
) -> External<Resident> {
    External::new(resident.edited(length as usize, store))
}

/// Bytes that it holds.
#[napi(catch_unwind)]
pub fn resident_bytes(resident: &External<Resident>) -> f64 {
    resident.bytes() as f64
}

/// The messages of a store as a passage, known secrets masked. Takes the store's contents.
#[napi(catch_unwind)]
pub fn passage_of_store(store: &mut External<Store>, secrets: Vec<Utf16String>) -> External<Passage> {
    let mut store = std::mem::take(&mut **store);
    if !secrets.is_empty() {
        let secrets = Secrets::new(secrets.iter().map(|secret| secret.to_vec()));
        store.change_texts(|text| secrets.mask(text));
    }
    External::new(Passage::of(store))
}

/// The messages of a range as a passage, which outlives later edits.
#[napi(catch_unwind)]
pub fn passage_of_resident(resident: &External<Resident>, start: u32, end: u32) -> External<Passage> {
    External::new(resident.passage(start as usize..end as usize))
}
