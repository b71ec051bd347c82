//! What hosts take, as far as their address tells.

use reqwest::Url;

/// OpenAI's own host, which knows every field of its API.
const OPENAI: &str = "api.openai.com";
/// Hosts that know `max_tokens` only, as pi-ai has them.
const MAX_TOKENS_ONLY: [&str; 11] = [
    "chutes.ai",
    "deepseek.com",
    "moonshot.ai",
    "moonshot.cn",
    "gateway.ai.cloudflare.com",
    "together.ai",
    "together.xyz",
    "integrate.api.nvidia.com",
    "api.ant-ling.com",
    "api.z.ai",
    "open.bigmodel.cn",
];

/// Whether the address is OpenAI's own.
#[must_use]
pub fn is_openai(url: &Url) -> bool {
    is_below(url, OPENAI)
}

/// Whether chat completions there know `max_tokens` only.
#[must_use]
pub fn knows_max_tokens_only(url: &Url) -> bool {
    MAX_TOKENS_ONLY.iter().any(|domain| is_below(url, domain))
}

fn is_below(url: &Url, domain: &str) -> bool {
    let rest = url.host_str().and_then(|host| host.strip_suffix(domain));
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_no_ending_of_a_name() {
        let is = |url: &str| is_openai(&Url::parse(url).unwrap());
        assert!(is("https://api.openai.com/v1") && is("https://eu.api.openai.com/v1"));
        assert!(!is("https://notapi.openai.com/v1") && !is("https://api.openai.com.example/v1"));
        assert!(knows_max_tokens_only(&Url::parse("https://llm.chutes.ai/v1").unwrap()));
    }
}
