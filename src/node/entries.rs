//! Exported for hosts whose sessions hold entries of their own: a digest of lines, masked texts, and retries.

use std::time::{Duration, SystemTime};

use napi::bindgen_prelude::Utf16String;
use napi_derive::napi;

use crate::prompt::redact::Secrets;
use crate::provider::Failure;
use crate::provider::classify::{Class, known_class};
use crate::provider::retry::RetryPolicy;
use crate::provider::retry_after::retry_after;
use crate::summarize::lines::{Line, digest};

/// The lines, each a label and a text, in at most some UTF-16 units and without secrets.
#[napi(catch_unwind)]
pub fn digest_of(labels: Vec<String>, texts: Vec<String>, secrets: Vec<String>, most: f64) -> String {
    let lines = labels.into_iter().zip(texts).map(|(label, text)| Line { label, text });
    digest(&lines.collect::<Vec<_>>(), &Secrets::of(&secrets), most as usize)
}

/// The texts without secrets: whatever else is in them, half a character too, is as it was.
#[napi(catch_unwind)]
pub fn masked(texts: Vec<Utf16String>, secrets: Vec<Utf16String>) -> Vec<Utf16String> {
    let secrets = Secrets::new(secrets.iter().map(|secret| secret.to_vec()));
    let masked = |text: Utf16String| {
        let mut units = text.to_vec();
        secrets.mask(&mut units);
        units.into()
    };
    texts.into_iter().map(masked).collect()
}

/// Prism's policy, which hosts may change.
#[napi(object)]
pub struct EntryRetryPolicy {
    /// Tries in all.
    pub max_attempts: f64,
    /// `baseDelayMs`
    pub base_delay_ms: f64,
    /// `maxDelayMs`
    pub max_delay_ms: f64,
    /// `jitter`
    pub jitter: f64,
}

/// Its numbers when none are given.
#[napi(catch_unwind)]
pub fn entry_retry_policy() -> EntryRetryPolicy {
    let RetryPolicy { max_retries, base_delay_ms, max_delay_ms, jitter, .. } = RetryPolicy::PRISM;
    EntryRetryPolicy { max_attempts: f64::from(max_retries) + 1.0, base_delay_ms, max_delay_ms, jitter }
}

/// Milliseconds to wait behind an attempt (from 1); nothing when it was the last.
#[napi(catch_unwind)]
pub fn retry_delay(policy: EntryRetryPolicy, attempt: f64, wish: Option<f64>, random: f64) -> Option<f64> {
    let EntryRetryPolicy { max_attempts, base_delay_ms, max_delay_ms, jitter } = policy;
    let max_retries = (max_attempts - 1.0) as u32;
    let policy = RetryPolicy { max_retries, base_delay_ms, max_delay_ms, jitter, ..RetryPolicy::PRISM };
    policy.delay_ms(attempt as u32, wish, random)
}

/// Whether a failure is known to last, however transient its code looks: a quota, an overflow, a malformed request.
#[napi(catch_unwind)]
pub fn is_lasting(words: String, code: Option<String>, status: Option<f64>) -> bool {
    let status = status.map(|status| status as u16);
    let failure = Failure { codes: code.into_iter().collect(), status, ..Failure::of_words(&words) };
    known_class(&failure).is_some_and(|class| class != Class::Transient)
}

/// Milliseconds that a provider asks to wait, by `names` of headers and their values, at a time since 1970.
#[napi(catch_unwind)]
pub fn retry_after_ms(names: Vec<String>, values: Vec<String>, now: f64) -> Option<f64> {
    let now = SystemTime::UNIX_EPOCH + Duration::from_millis(now as u64);
    let header = |name: &str| names.iter().zip(&values).find(|(known, _)| *known == name);
    retry_after(|name| header(name).map(|(_, value)| value.as_str()), now)
}
