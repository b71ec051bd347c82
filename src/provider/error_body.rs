//! What a provider says went wrong, in a body or in the middle of a stream.

use serde_json::Value;

use super::draft::text;
use super::{Failure, retry_after};

/// Where providers and gateways put the error of an object, the most telling place first.
const PLACES: [&str; 5] = ["/error", "/response/error", "/errors/0", "/0/error", "/detail"];
/// Where an error says what it is.
const CODES: [&str; 5] = ["/code", "/type", "/error/type", "/status", "/error/code"];
/// Where it says it in words. Fields that may echo the request are not read.
const WORDS: [&str; 5] = ["/message", "/error/message", "/msg", "/metadata/raw", "/detail"];

/// The failure that an error object states.
#[must_use]
pub fn failure(body: &Value) -> Failure {
    let error = PLACES.iter().find_map(|place| body.pointer(place).filter(|error| !error.is_null()));
    let error = error.unwrap_or(body);
    let words: Vec<&str> = match error {
        Value::String(words) => vec![words],
        Value::Array(items) => items.iter().filter_map(|item| text(item, "/msg")).collect(),
        _ => WORDS.iter().filter_map(|path| text(error, path)).collect(),
    };
    let reasons = details(error).filter_map(|detail| text(detail, "/reason"));
    let stated = CODES.iter().filter_map(|path| text(error, path));
    let codes = stated.chain(reasons).filter(|code| !is_number(code) && *code != "error");
    Failure {
        codes: codes.map(str::to_owned).collect(),
        status: status_of(error),
        retry_after_ms: details(error).find_map(|detail| retry_after::seconds(text(detail, "/retryDelay")?)),
        ..Failure::of_words(&words.join(" "))
    }
}

fn details(error: &Value) -> impl Iterator<Item = &Value> {
    error.get("details").and_then(Value::as_array).into_iter().flatten()
}

fn is_number(code: &str) -> bool {
    !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_digit())
}

/// A status in a field of the object, as a number or as its digits.
fn status_of(error: &Value) -> Option<u16> {
    ["code", "status", "status_code"].iter().find_map(|field| {
        let value = error.get(field)?;
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
        u16::try_from(number).ok().filter(|status| (400..600).contains(status))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> Failure {
        failure(&serde_json::from_str(body).unwrap())
    }

    #[test]
    fn every_shape_is_read() {
        let openai = of(r#"{"error":{"message":"m","type":"t","param":null,"code":"insufficient_quota"}}"#);
        assert_eq!(openai.codes, ["insufficient_quota", "t"]);
        assert_eq!(openai.words, "m");
        let anthropic = of(r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#);
        assert_eq!(anthropic.codes, ["overloaded_error"]);
        let litellm = of(r#"{"error":{"message":"m","type":"throttling_error","param":null,"code":"429"}}"#);
        assert_eq!((litellm.status, litellm.codes), (Some(429), vec!["throttling_error".to_owned()]));
        let google = of(
            r#"[{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"34s"}]}}]"#,
        );
        assert_eq!(google.retry_after_ms, Some(34_000.0));
        assert_eq!(google.codes, ["RESOURCE_EXHAUSTED"]);
        assert_eq!(of(r#"{"error":"too long"}"#).words, "too long");
        assert_eq!(
            of(r#"{"detail":[{"msg":"field required","input":"the prompt"}]}"#).words,
            "field required"
        );
        let failed = of(r#"{"response":{"error":{"code":"server_error","message":"m"}}}"#);
        assert_eq!(failed.codes, ["server_error"]);
        let plain = of(r#"{"type":"error","code":"rate_limit_exceeded","message":"m"}"#);
        assert_eq!(plain.codes, ["rate_limit_exceeded"]);
    }
}
