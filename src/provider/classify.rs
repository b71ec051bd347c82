//! Whether a failure passes by itself (requirements A19 to A29, G9): structured codes first, then status, then words.

use std::sync::OnceLock;

use regex_lite::Regex;

use super::Failure;
use super::trouble::Trouble;

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// It may pass: overload, rate limit, server fault, network, dropped stream.
    Transient,
    /// It will not pass: quota, billing, authentication, a malformed request.
    Permanent,
    /// The prompt is larger than the model takes. The same prompt is never sent again.
    Overflow,
}

/// The class of a failure.
#[must_use]
pub fn classify(failure: &Failure) -> Class {
    let code = failure.codes.iter().find_map(|code| by_code(code));
    code.or_else(|| codes_in(&failure.words))
        .or_else(|| failure.trouble.map(Trouble::class))
        .or_else(|| by_status(failure))
        .unwrap_or_else(|| by_words(&failure.words))
}

const TOO_LARGE: [&str; 4] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "request_too_large",
    "model_context_window_exceeded",
];
const LASTING: [&str; 16] = [
    "insufficient_quota",
    "usage_limit_reached",
    "usage_not_included",
    "billing_hard_limit_reached",
    "GoUsageLimitError",
    "FreeUsageLimitError",
    "subscription_sharing_usage_limit_exceeded",
    "subscription_sharing_workplace_individual_usage_limit_exceeded",
    "content_filter",
    "content_policy_violation",
    "authentication_error",
    "permission_error",
    "invalid_api_key",
    "not_found_error",
    "model_not_found",
    "unsupported_parameter",
];
const PASSING: [&str; 19] = [
    "rate_limit_exceeded",
    "rate_limit_error",
    "RESOURCE_EXHAUSTED",
    "throttling_error",
    "ThrottlingException",
    "overloaded_error",
    "server_error",
    "internal_server_error",
    "service_unavailable",
    "timeout_error",
    "unavailable_error",
    "UNAVAILABLE",
    "ECONNRESET",
    "ECONNREFUSED",
    "ECONNABORTED",
    "ETIMEDOUT",
    "EPIPE",
    "EAI_AGAIN",
    "ENOTFOUND",
];

/// What a code says by itself. `invalid_request_error` says nothing: an overflow is one too.
fn by_code(code: &str) -> Option<Class> {
    let among = |codes: &[&str]| codes.iter().any(|known| known.eq_ignore_ascii_case(code));
    match () {
        () if among(&TOO_LARGE) => Some(Class::Overflow),
        () if among(&LASTING) => Some(Class::Permanent),
        () if among(&PASSING) => Some(Class::Transient),
        () => None,
    }
}

/// Codes that stand as words of their own in what a host's client says.
fn codes_in(words: &str) -> Option<Class> {
    words.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').find_map(by_code)
}

fn by_status(failure: &Failure) -> Option<Class> {
    failure
        .status
        .or_else(|| stated_status(&failure.words))
        .and_then(|status| class_of(status, &failure.words))
}

fn class_of(status: u16, words: &str) -> Option<Class> {
    match status {
        413 => Some(Class::Overflow),
        // The words decide between a rate, which passes, and a quota, which does not.
        429 if QUOTA.is_match(words) && !RATE.is_match(words) => Some(Class::Permanent),
        408 | 409 | 425 | 429 | 500..=599 => Some(Class::Transient),
        400..=499 if OVERFLOW.is_match(words) => Some(Class::Overflow),
        400..=499 => Some(Class::Permanent),
        _ => None,
    }
}

fn by_words(words: &str) -> Class {
    match () {
        () if RATE.is_match(words) => Class::Transient,
        () if OVERFLOW.is_match(words) => Class::Overflow,
        () if QUOTA.is_match(words) => Class::Permanent,
        () if TRANSIENT.is_match(words) => Class::Transient,
        () => Class::Permanent,
    }
}

/// A status that the words begin with or name as one; a number in another place is no status.
fn stated_status(words: &str) -> Option<u16> {
    STATUS.captures(words)?.get(1)?.as_str().parse().ok()
}

/// A pattern, compiled at first use. One that does not compile matches nothing, which the tests would see.
struct Pattern {
    source: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    const fn new(source: &'static str) -> Self {
        Self { source, compiled: OnceLock::new() }
    }

    fn get(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| Regex::new(self.source).ok()).as_ref()
    }

    fn is_match(&self, words: &str) -> bool {
        self.get().is_some_and(|pattern| pattern.is_match(words))
    }

    fn captures<'w>(&self, words: &'w str) -> Option<regex_lite::Captures<'w>> {
        self.get()?.captures(words)
    }
}

static STATUS: Pattern = Pattern::new(
    r"(?i)(?:^|status(?: code)?[:= ]+|api error \(|http[/ ](?:\d(?:\.\d)? )?|error code:? |code: )([1-5]\d\d)(?:[^\w.]|$)",
);
static RATE: Pattern = Pattern::new(concat!(
    r"(?i)rate.?limit|too many requests|per[ -](?:minute|second|hour|day)|throttl",
    r"|(?:retry|try again) (?:in|after) \d|slow down",
));
static QUOTA: Pattern = Pattern::new(concat!(
    r"(?i)quota|billing|usage.?limit|monthly.{0,12}limit|available balance|out of budget|insufficient.{0,12}(?:credit|",
    r#"balance|funds)|credit balance|"code"\s*:\s*"?1308\b"#,
));
static OVERFLOW: Pattern = Pattern::new(concat!(
    r"(?i)prompt (?:is )?too long|prompt exceeds max length|input is too long|exceeds? the context window",
    r"|exceeds?.{0,24}maximum context length|context window exceed|input token count.{0,40}exceeds|maximum prompt length",
    r"|reduce the length of the messages|maximum context length (?:is|of)|maximum allowed input length",
    r"|longer than the model'?s context length|exceeds the limit of \d|exceeds the available context size",
    r"|greater than the context length|exceeded model token limit|too large for model with|configured context size is",
    r"|range of input length should be|context.?length.?exceeded|too many tokens|token limit exceeded|ContextWindowExceeded",
));
static TRANSIENT: Pattern = Pattern::new(concat!(
    r"(?i)overloaded|server.?busy|servers are currently busy|high demand|at capacity|temporarily.?unavailable",
    r"|service.{0,4}unavailable|server.?error|internal.?error|returned.?(?:an.?)?error|upstream|bad gateway",
    r"|gateway time|network.?error|connection.?(?:error|refused|lost|closed|reset)|other side closed|fetch failed",
    r"|request to \S+ failed|getaddrinfo|reset before headers|socket hang up|socket connection was closed|timed? ?out",
    r"|terminated|websocket|ended (?:without|before)|premature(?:ly)? (?:close|end)|stream (?:was interrupted|disconnected)",
    r"|http/?2 |cut short|stream has been cancell?ed|retry delay|(?:retry|try) your request",
));

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &str) -> Class {
        classify(&Failure { words: words.to_owned(), ..Failure::default() })
    }

    #[test]
    fn every_pattern_compiles() {
        for pattern in [&STATUS, &RATE, &QUOTA, &OVERFLOW, &TRANSIENT] {
            assert!(Regex::new(pattern.source).is_ok(), "{}", pattern.source);
        }
    }

    #[test]
    fn the_faults_of_both_pis_are_not_repeated() {
        assert_eq!(words("400 bad value: 1500 tokens"), Class::Permanent, "G9: a number is no status");
        assert_eq!(words("max_tokens 5020 is too large"), Class::Permanent, "G9");
        assert_eq!(words("read ECONNRESET"), Class::Transient, "A25, G9");
        assert_eq!(words("model not found: gpt-500"), Class::Permanent, "G9");
    }

    #[test]
    fn what_passes_by_itself() {
        for text in [
            "529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}",
            "429 Too Many Requests",
            "503 Service Unavailable",
            "502",
            "fetch failed",
            "socket hang up",
            "Anthropic stream ended before message_stop",
            "Request timed out.",
            "terminated",
            "429 RESOURCE_EXHAUSTED: You exceeded your current quota, please check your plan and billing details",
            "429 Quota exceeded for requests per minute",
        ] {
            assert_eq!(words(text), Class::Transient, "A20 to A25: {text}");
        }
    }

    #[test]
    fn what_does_not() {
        for text in [
            "429 {\"error\":{\"code\":\"insufficient_quota\",\"message\":\"You exceeded your current quota\"}}",
            "usage_limit_reached",
            "402 Your credit balance is too low",
            "401 invalid x-api-key",
            "403 permission_error",
            "400 {\"error\":{\"code\":\"content_filter\"}}",
            "something nobody has seen",
        ] {
            assert_eq!(words(text), Class::Permanent, "A26 to A29: {text}");
        }
    }

    #[test]
    fn what_is_too_large() {
        for text in [
            "400 {\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 212230 tokens > 200000 maximum\"}}",
            "This model's maximum context length is 8192 tokens",
            "request (10011 tokens) exceeds the available context size (2048 tokens), try increasing it",
            "413 Payload Too Large",
        ] {
            assert_eq!(words(text), Class::Overflow, "G9: {text}");
        }
        assert_eq!(words("ThrottlingException: Too many tokens, please wait"), Class::Transient);
    }
}
