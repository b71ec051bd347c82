//! JSON of a stream that tore surrogate pairs apart.

use serde_json::Value;

/// JSON, also where a stream tore a surrogate pair apart and each half came by itself.
pub(super) fn parsed(text: &str) -> Option<Value> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_lone_halves(text))).ok()
}

/// Escapes of lone surrogates, which serde refuses, as the escape of U+FFFD.
fn without_lone_halves(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let half = |from: usize| escape.get(from..from + 6).filter(|part| part.starts_with("\\u"));
        let kind = |part: Option<&str>| part.and_then(|part| part.get(2..4)).map(str::to_ascii_lowercase);
        let is =
            |part: Option<&str>, kinds: [&str; 4]| kind(part).is_some_and(|kind| kinds.contains(&&*kind));
        let high = is(half(0), ["d8", "d9", "da", "db"]);
        let low = |from| is(half(from), ["dc", "dd", "de", "df"]);
        let (written, length) = match () {
            () if high && low(6) => (escape.get(..12), 12),
            () if high || low(0) => (Some("\\ufffd"), 6),
            () => (escape.get(..2), 2),
        };
        let Some(written) = written else { break };
        mended.push_str(written);
        rest = escape.get(length..).unwrap_or_default();
    }
    mended + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_halves_are_mended_and_nothing_else() {
        let text = |json: &str| parsed(json).and_then(|value| value.as_str().map(str::to_owned));
        assert_eq!(text(r#""a\ud83d""#).as_deref(), Some("a\u{fffd}"));
        assert_eq!(text(r#""\uDE00b\uD83D\uDE00""#).as_deref(), Some("\u{fffd}b\u{1f600}"));
        assert_eq!(text(r#""\\ud83d \ud83d""#).as_deref(), Some("\\ud83d \u{fffd}"), "behind a backslash");
        assert_eq!(text(r#""\ud83d\n""#).as_deref(), Some("\u{fffd}\n"));
        assert_eq!(text(r#""cut \ud8"#), None);
    }
}
