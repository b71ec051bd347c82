//! Entries as messages: JSON text made of the entry's own pieces.

use std::borrow::Cow;

use super::date::milliseconds;
use super::json::{Members, ObjectText, number, text};

/// A stored message as pi sends it: the old role of extension messages renamed, absent content made empty.
pub(super) fn sent(message: &str, hook_role: bool) -> Option<Cow<'_, str>> {
    let members = Members::parse(message).ok()?;
    let is = |role| members.is("role", role);
    if hook_role && is("hookMessage") {
        return Some(Cow::Owned(members.with("role", Some("\"custom\""))));
    }
    if members.present("content").is_some() {
        return Some(Cow::Borrowed(message));
    }
    if is("system") {
        return Some(Cow::Owned(members.with("content", Some("\"\""))));
    }
    let listed = is("user") || is("assistant") || is("toolResult");
    Some(if listed { Cow::Owned(members.with("content", Some("[]"))) } else { Cow::Borrowed(message) })
}

/// An extension's message.
pub(super) fn custom_message(entry: &Members<'_>) -> String {
    let mut message = ObjectText::default();
    message.member("role", Some("\"custom\""));
    message.member("customType", entry.get("customType"));
    message.member("content", entry.present("content").or(Some("[]")));
    message.member("display", entry.get("display"));
    message.member("details", entry.get("details"));
    message.member("timestamp", Some(&timestamp(entry)));
    message.finish()
}

/// The summary of a branch that was left; `None` for an empty one, as in pi.
pub(super) fn branch_summary(entry: &Members<'_>) -> Option<String> {
    let summary =
        entry.get("summary").filter(|summary| text(summary).is_some_and(|content| !content.is_empty()))?;
    let mut message = ObjectText::default();
    message.member("role", Some("\"branchSummary\""));
    message.member("summary", Some(summary));
    message.member("fromId", entry.get("fromId"));
    message.member("timestamp", Some(&timestamp(entry)));
    Some(message.finish())
}

/// JSON text of an entry's time in milliseconds since 1970; null where it has none, as `JSON.stringify` prints it.
fn timestamp(entry: &Members<'_>) -> String {
    let time = entry.get("timestamp").unwrap_or_default();
    let written = || milliseconds(std::str::from_utf8(&text(time)?).ok()?).map(|time| time.to_string());
    number(time).map(|_| time.to_owned()).or_else(written).unwrap_or_else(|| "null".to_owned())
}

/// A message with the content of an edit in place of its own, where its role takes one.
pub(super) fn edited(message: &str, replacement: &str) -> String {
    let Ok(members) = Members::parse(message) else { return message.to_owned() };
    let is = |role| members.is("role", role);
    let listed = is("assistant") || is("toolResult");
    if !(listed || is("user") || is("custom")) {
        return message.to_owned();
    }
    let replacement = Members::parse(replacement).ok();
    let content = replacement.as_ref().and_then(|replacement| replacement.get("content"));
    match content.filter(|content| listed && content.starts_with('"')) {
        Some(text) => members.with("content", Some(&format!("[{{\"type\":\"text\",\"text\":{text}}}]"))),
        None => members.with("content", content),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_content_becomes_empty() {
        let sent = |message| sent(message, false).unwrap();
        assert_eq!(sent(r#"{"role":"user","content":null}"#), r#"{"role":"user","content":[]}"#);
        assert_eq!(sent(r#"{"role":"system"}"#), r#"{"role":"system","content":""}"#);
        assert_eq!(sent(r#"{"role":"custom","content":null}"#), r#"{"role":"custom","content":null}"#);
        let odd = r#"{"role":"user","content":"\ud83d","role":"user"}"#;
        assert_eq!(sent(odd), odd);
    }

    #[test]
    fn the_old_role_is_renamed_where_the_version_is_old() {
        let hook = r#"{"role":"hookMessage","content":"x"}"#;
        assert_eq!(super::sent(hook, true).unwrap(), r#"{"content":"x","role":"custom"}"#);
        assert_eq!(super::sent(hook, false).unwrap(), hook);
    }

    #[test]
    fn an_edit_replaces_content_alone() {
        let user = r#"{"role":"user","content":"x","timestamp":1}"#;
        assert_eq!(edited(user, r#"{"content":"y"}"#), r#"{"role":"user","timestamp":1,"content":"y"}"#);
        let listed = r#"[{"type":"text","text":"y"}]"#;
        let answer = edited(r#"{"role":"assistant"}"#, r#"{"content":"y"}"#);
        assert_eq!(answer, format!(r#"{{"role":"assistant","content":{listed}}}"#));
        assert_eq!(edited(user, "7"), r#"{"role":"user","timestamp":1}"#);
        let bash = r#"{"role":"bashExecution","command":"ls"}"#;
        assert_eq!(edited(bash, r#"{"content":"y"}"#), bash);
    }

    #[test]
    fn entries_of_their_own_become_messages() {
        let entry = |text| Members::parse(text).unwrap();
        let custom = entry(r#"{"customType":"note","content":null,"timestamp":"1970-01-01T00:00:01.000Z"}"#);
        assert_eq!(
            custom_message(&custom),
            r#"{"role":"custom","customType":"note","content":[],"timestamp":1000}"#
        );
        let summary = entry(r#"{"summary":"\ud83d","fromId":"a"}"#);
        let expected = r#"{"role":"branchSummary","summary":"\ud83d","fromId":"a","timestamp":null}"#;
        assert_eq!(branch_summary(&summary).as_deref(), Some(expected));
        assert_eq!(branch_summary(&entry(r#"{"summary":""}"#)), None);
    }
}
