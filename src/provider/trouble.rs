//! Failures that are known by what happened, without a word of the provider.

use super::classify::Class;

/// What happened to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// No connection to the host.
    Unreachable,
    /// The host's certificate does not verify.
    Certificate,
    /// The proxy refused.
    Proxy,
    /// Nothing came for longer than the idle limit.
    Silence,
    /// The stream ended before the answer did, or was reset.
    Cut,
    /// Something came that is no event of the wire format.
    Garbled,
    /// More came than any answer has.
    Endless,
    /// A web page instead of an answer.
    WebPage,
    /// A redirect, which a request with a key does not follow.
    Redirect,
    /// Authorization is wanted and none was sent.
    KeyMissing,
    /// The authorization that was sent does not do.
    KeyRefused,
    /// There is no such address or model.
    NotFound,
}

impl Trouble {
    /// Whether it passes by itself.
    #[must_use]
    pub fn class(self) -> Class {
        match self {
            Self::Unreachable | Self::Silence | Self::Cut | Self::Garbled => Class::Transient,
            Self::Certificate
            | Self::Proxy
            | Self::Endless
            | Self::WebPage
            | Self::Redirect
            | Self::KeyMissing
            | Self::KeyRefused
            | Self::NotFound => Class::Permanent,
        }
    }

    /// What happened, and what to do about it.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Self::Unreachable => {
                "the host of summarizer.model.baseUrl cannot be reached, or speaks no https; check baseUrl, the network, and HTTPS_PROXY \
                 or HTTP_PROXY where one is set"
            }
            Self::Certificate => {
                "the certificate of summarizer.model.baseUrl does not verify; give its authority's certificates in \
                 the file that NODE_EXTRA_CA_CERTS names, or check baseUrl"
            }
            Self::Proxy => {
                "the proxy refused the connection; check HTTPS_PROXY or HTTP_PROXY and its credentials, or name the \
                 host in NO_PROXY"
            }
            Self::Silence => {
                "nothing came for longer than summarizer.idleTimeoutMs; try again later, or raise it for a slow model"
            }
            Self::Cut => "the connection ended before the answer did; try again later",
            Self::Garbled => {
                "the answer breaks the wire format; try again later, and check that summarizer.model.api is what \
                 the server speaks"
            }
            Self::Endless => "the answer is larger than any summary; check summarizer.model.baseUrl",
            Self::WebPage => {
                "the server answered with a web page; check summarizer.model.baseUrl, its path above all"
            }
            Self::Redirect => {
                "the server redirects, and a request with a key does not follow; state the address it redirects to \
                 as summarizer.model.baseUrl"
            }
            Self::KeyMissing => {
                "the provider wants a key and none was given; pass summarizer.apiKey, or the headers that authorize"
            }
            Self::KeyRefused => {
                "the provider refused the key; check summarizer.apiKey or headers, and what they are allowed to use"
            }
            Self::NotFound => {
                "the provider knows no such address or model; check summarizer.model.baseUrl, id and api"
            }
        }
    }
}
