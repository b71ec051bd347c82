//! Whether a failure passes by itself (requirements A19 to A29, G9): structured codes first, then status, then words.

use super::Failure;
use super::pattern::Pattern;
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

/// The class of a failure. What nobody knows is permanent.
#[must_use]
pub fn classify(failure: &Failure) -> Class {
    known_class(failure).unwrap_or(Class::Permanent)
}

/// The class of a failure, where it is known for one.
#[must_use]
pub fn known_class(failure: &Failure) -> Option<Class> {
    let Failure { codes, words, .. } = failure;
    // Both come with the codes of a rate limit.
    match () {
        () if UNSENDABLE.is_match(words) => return Some(Class::Overflow),
        () if HOPELESS.is_match(words) || is_relayed_quota(words) => return Some(Class::Permanent),
        () => {}
    }
    codes
        .iter()
        .find_map(|code| by_code(code))
        // Beside a code of its own, the words of an error may well quote the request.
        .or_else(|| codes_in(words).filter(|_| codes.is_empty()))
        .or_else(|| failure.trouble.map(Trouble::class))
        .or_else(|| class_of(failure.status.or_else(|| stated_status(words))?, words))
        .or_else(|| by_words(failure))
}

const TOO_LARGE: [&str; 9] = [
    "context_exceeded",
    "model_max_prompt_tokens_exceeded",
    "tokens_too_long",
    "too_many_prompt_tokens",
    "prompt_limit",
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
/// Codes that a server uses for whatever went wrong on its side, a prompt too large included.
const GENERIC: [&str; 4] = ["server_error", "internal_server_error", "api_error", "INTERNAL"];
const PASSING: [&str; 17] = [
    "rate_limit_exceeded",
    "rate_limit_error",
    "RESOURCE_EXHAUSTED",
    "throttling_error",
    "ThrottlingException",
    "overloaded_error",
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
    known(|known| known.eq_ignore_ascii_case(code))
}

fn known(is: impl Fn(&str) -> bool) -> Option<Class> {
    let among = |codes: &[&str]| codes.iter().any(|code| is(code));
    match () {
        () if among(&TOO_LARGE) => Some(Class::Overflow),
        () if among(&LASTING) => Some(Class::Permanent),
        () if among(&PASSING) => Some(Class::Transient),
        () => None,
    }
}

/// Codes that stand as words of their own in what is said, letter for letter: "unavailable" is also a word.
fn codes_in(words: &str) -> Option<Class> {
    let words = words.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.into_iter().find_map(|word| known(|code| code == word))
}

fn class_of(status: u16, words: &str) -> Option<Class> {
    match status {
        413 => Some(Class::Overflow),
        402 => Some(Class::Permanent),
        // The words decide between a rate, which passes, and a quota, which does not.
        429 if QUOTA.is_match(words) && !RATE.is_match(words) => Some(Class::Permanent),
        429 => Some(Class::Transient),
        400..=599 if is_overflow(words) => Some(Class::Overflow),
        408 | 409 | 425 | 500..=599 => Some(Class::Transient),
        400..=499 => Some(Class::Permanent),
        _ => None,
    }
}

fn by_words(Failure { words, codes, .. }: &Failure) -> Option<Class> {
    let generic = || codes.iter().any(|code| GENERIC.iter().any(|known| known.eq_ignore_ascii_case(code)));
    match () {
        () if RATE.is_match(words) => Some(Class::Transient),
        () if is_overflow(words) => Some(Class::Overflow),
        () if QUOTA.is_match(words) => Some(Class::Permanent),
        () if generic() || TRANSIENT.is_match(words) => Some(Class::Transient),
        () => None,
    }
}

/// Too large a prompt, and not too large an allowance for the answer or an image.
fn is_overflow(words: &str) -> bool {
    OVERFLOW.is_match(words) && !OTHERWISE_LARGE.is_match(words)
}

/// A quota that a gateway tells under the name of a rate limit: only the words that it wraps say which it was.
fn is_relayed_quota(words: &str) -> bool {
    let Some((_, relayed)) = words.split_once("litellm.RateLimitError:") else { return false };
    let said = relayed.split("LiteLLM: model group").next().unwrap_or(relayed);
    let said = said.replace("RateLimitError", "").replace("rate_limit_error", "");
    QUOTA.is_match(&said) && !RATE.is_match(&said)
}

/// A status that the words begin with or name as one; a number in another place is no status.
fn stated_status(words: &str) -> Option<u16> {
    STATUS.captures(words)?.get(1)?.as_str().parse().ok()
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
    r#"balance|funds)|credit balance|payment|"code"\s*:\s*"?1308\b"#,
));
/// No waiting helps.
static HOPELESS: Pattern = Pattern::new(r"(?i)extra usage is required|余额不足|insufficient_quota");
/// A rate of tokens that this prompt exceeds by itself.
static UNSENDABLE: Pattern = Pattern::new(r"(?i)^request too large for .{0,200}per min");
static OTHERWISE_LARGE: Pattern = Pattern::new(concat!(
    r"(?i)maximum output length|completion tokens, whereas|maximum allowed number of output|max output tokens|credits",
    r"|max tokens must|image (?:exceeds|dimensions)|image\(s\)|images, exceeding|pixels|file size",
));
static OVERFLOW: Pattern = Pattern::new(concat!(
    r"(?i)(?:prompt|input|message|messages) (?:tokens )?(?:is |are )?too (?:long|large)|prompt tokens too long",
    r"|\) is too long and exceeds|prompt exceeds max(?:imum)? (?:context )?length",
    r"|exceeds? (?:the |model )?(?:context|maximum|configured limit)|exceeds?.{0,24}max(?:imum)? (?:context|allowed|input|sequence|length)",
    r"|context (?:window|length|size|limit) (?:has been )?exceed|size exceeds model context|exceed model maximum",
    r"|input token count.{0,40}(?:exceeds|but model only supports)|maximum prompt length|exceeds maximum length",
    r"|reduce the length of|maximum context length|maximum allowed input length|model'?s? context length",
    r"|exceeds (?:the )?limit|exceeds the available context size|exceeds the context|exceeds context size|exceed context",
    r"|greater than (?:the context length|max_seq_len)|(?:model )?token limit|too large for model with",
    r"|longer than the (?:maximum )?model|(?:configured )?context size is|must be less than max_seq_len",
    r"|range of input length should be|context.?length.?exceeded|context window exceed|too many (?:input )?tokens",
    r"|tokens exceed|Tokens Exceeded|ContextWindowExceeded|total length of all messages is too long|too long to fit",
    r"|model max length exceeded|more than max tokens allowed|cannot truncate (?:to|prompt)|requested tokens",
    r"|`inputs` (?:tokens|must have less)|loaded with context length|body too large for .{0,40} model",
    r"|输入内容过长|上下文(?:长度超出|过长)",
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
pub(super) mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Wording {
        status: Option<u16>,
        code: Option<String>,
        text: String,
        class: String,
        limit: Option<u64>,
        prompt: Option<u64>,
    }

    /// What providers and gateways really said: class, failure, and the tokens it states as limit and as prompt.
    pub fn wordings() -> Vec<(Class, Failure, Option<u64>, Option<u64>)> {
        let table = include_str!("../../__test__/fixtures/provider-wordings.json");
        let table: Vec<Wording> = serde_json::from_str(table).unwrap();
        let row = |wording: Wording| {
            let class = match wording.class.as_str() {
                "overflow" => Class::Overflow,
                "transient" => Class::Transient,
                _ => Class::Permanent,
            };
            let codes = wording.code.into_iter().filter(|code| code.parse::<u32>().is_err()).collect();
            let status = wording.status.filter(|status| *status >= 400);
            (
                class,
                Failure { words: wording.text, codes, status, ..Failure::default() },
                wording.limit,
                wording.prompt,
            )
        };
        table.into_iter().map(row).collect()
    }

    #[test]
    fn real_wordings_are_known() {
        let wrong: Vec<String> = wordings()
            .iter()
            .filter(|(class, failure, ..)| classify(failure) != *class)
            .map(|(class, failure, ..)| {
                format!("{class:?} {:?} {:?} {}", failure.status, failure.codes, failure.words)
            })
            .collect();
        assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
    }

    fn words(words: &str) -> Class {
        classify(&Failure { words: words.to_owned(), ..Failure::default() })
    }

    #[test]
    fn every_pattern_compiles() {
        let all = [&STATUS, &RATE, &QUOTA, &HOPELESS, &UNSENDABLE, &OTHERWISE_LARGE, &OVERFLOW, &TRANSIENT];
        assert!(all.iter().all(|pattern| pattern.compiles()));
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
            "litellm.RateLimitError: GeminiException - You exceeded your current quota. Please retry in 11s.",
        ] {
            assert_eq!(words(text), Class::Transient, "A20 to A25: {text}");
        }
    }

    #[test]
    fn what_does_not() {
        for text in [
            "litellm.RateLimitError: RateLimitError: OpenAIException - You exceeded your current quota, please check \
             your plan and billing details.\n\nLiteLLM: model group 'm' failed with the error above.",
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
