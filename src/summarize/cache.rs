//! Finished requests, kept for later runs of the same session (requirements D48 to D53).

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use lru::LruCache;

use crate::provider::SummaryRequest;

/// The most summaries that are kept; the least recently used goes first (requirements D48, D96).
const MOST: NonZeroUsize = NonZeroUsize::MIN.saturating_add(399);

/// Summaries by what was asked, and by whom.
pub struct Cache(Mutex<LruCache<String, String>>);

impl Default for Cache {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MOST)))
    }
}

impl Cache {
    fn get(&self, key: &str) -> Option<String> {
        self.0.lock().ok()?.get(key).cloned()
    }

    /// Keeps a summary under a key that [`Cache::entries`] gave.
    pub fn keep(&self, key: String, summary: String) {
        if let Ok(mut kept) = self.0.lock() {
            kept.put(key, summary);
        }
    }

    /// Keys and summaries of one session, or of all, least recently used first.
    #[must_use]
    pub fn entries(&self, session: Option<&str>) -> Vec<(String, String)> {
        let Ok(kept) = self.0.lock() else { return Vec::new() };
        let beginning = session.map_or_else(String::new, beginning);
        let of_session = kept.iter().rev().filter(|(key, _)| key.starts_with(&beginning));
        of_session.map(|(key, summary)| (key.clone(), summary.clone())).collect()
    }
}

/// What all keys of a session begin with. The length keeps one session from being the beginning of another.
fn beginning(session: &str) -> String {
    format!("{}:{session}:", session.len())
}

/// The part of a cache that one run may use: its session, model and budgets (requirements D49, D52).
#[derive(Clone)]
pub struct Shelf {
    cache: Arc<Cache>,
    scope: String,
}

impl Shelf {
    /// The shelf of a session for requests of one kind: by this model, under these budgets.
    #[must_use]
    pub fn new(cache: Arc<Cache>, session: &str, model: &str, budgets: &str) -> Self {
        Self { cache, scope: format!("{}{model}:{budgets}", beginning(session)) }
    }

    /// The key of a request: its session, model and budgets, and a hash of all that it says (requirement D50).
    #[must_use]
    pub fn key(&self, request: &SummaryRequest) -> String {
        let words = request.system.encode_utf16().chain([0]).chain(request.prompt.iter().copied());
        format!("{}:{}:{:032x}", self.scope, request.max_tokens, fnv1a(words.flat_map(u16::to_le_bytes)))
    }

    /// What was kept under a key.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<String> {
        self.cache.get(key)
    }

    /// Keeps a summary.
    pub fn keep(&self, key: String, summary: &str) {
        self.cache.keep(key, summary.to_owned());
    }
}

/// FNV-1a of 128 bits: at that width, texts that are not made for it do not meet.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv1a_is_the_published_function() {
        assert_eq!(fnv1a("".bytes()), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(fnv1a("a".bytes()), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964, "D50");
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let cache = Cache::default();
        for i in 0..400 {
            cache.keep(format!("{i}"), String::new());
        }
        assert!(cache.get("0").is_some());
        cache.keep("new".to_owned(), String::new());
        assert!(cache.get("0").is_some() && cache.get("1").is_none(), "D48");
        assert_eq!(cache.entries(None).len(), 400);
    }
}
