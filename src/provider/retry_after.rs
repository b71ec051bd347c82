//! How long a provider asks to wait (requirements E48, E49, G10).

use std::time::{Duration, SystemTime};

/// The wait in milliseconds, from headers by lower-case name: `retry-after-ms`, else `retry-after` in seconds or as a
/// date, else the same as a LiteLLM gateway passes it on.
pub fn retry_after<'h>(header: impl Fn(&str) -> Option<&'h str>, now: SystemTime) -> Option<f64> {
    ["", "llm_provider-"].iter().find_map(|gateway| {
        let named = |name: &str| header(&[gateway, name].concat()).map(str::trim);
        let exact = named("retry-after-ms").and_then(count);
        exact.or_else(|| named("retry-after").and_then(|value| wait(value, now)))
    })
}

/// The wait that a text like `34.07s` states, as Google's `RetryInfo` does.
#[must_use]
pub fn seconds(text: &str) -> Option<f64> {
    count(text.strip_suffix('s')?).map(|seconds| seconds * 1_000.0)
}

fn wait(value: &str, now: SystemTime) -> Option<f64> {
    if let Some(seconds) = count(value) {
        return Some(seconds * 1_000.0);
    }
    let until = httpdate::parse_http_date(value).ok()?;
    Some(until.duration_since(now).unwrap_or(Duration::ZERO).as_millis() as f64)
}

/// Longer than anybody waits, in seconds or milliseconds.
const LONGEST: f64 = 1e12;

fn count(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    (number.is_finite() && number >= 0.0).then(|| number.min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(headers: &[(&'static str, &'static str)]) -> Option<f64> {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        retry_after(|name| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value), now)
    }

    #[test]
    fn every_form_is_read() {
        assert_eq!(of(&[("retry-after", "7")]), Some(7_000.0));
        assert_eq!(of(&[("retry-after", " 0.5 ")]), Some(500.0));
        assert_eq!(of(&[("retry-after-ms", "120"), ("retry-after", "7")]), Some(120.0));
        assert_eq!(of(&[("llm_provider-retry-after", "3")]), Some(3_000.0));
        assert_eq!(of(&[("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT")]), Some(3_000.0));
        assert_eq!(of(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]), Some(0.0), "it has passed");
        for nothing in ["", "soon", "-1", "NaN", "inf"] {
            assert_eq!(of(&[("retry-after", nothing)]), None, "{nothing}");
        }
        assert_eq!(seconds("34.5s"), Some(34_500.0));
        assert_eq!(seconds("34.5"), None);
    }
}
