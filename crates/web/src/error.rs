//! What can go wrong with a fetch, split by whose fault it is. Nothing here repeats a URL, a header or a body.

use blastshield_policy::Refusal;
use thiserror::Error;

/// Why a page was not fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FetchError {
    /// Policy or address guard said no, at this hop (0 is the first URL).
    #[error("{refusal}{}", at_hop(*hop))]
    Refused {
        /// How many redirects had been followed.
        hop: usize,
        /// Why.
        refusal: Refusal,
    },
    /// The name could not be resolved.
    #[error("{0}")]
    Dns(DnsError),
    /// None of the host's addresses took a connection.
    #[error("the host does not take connections")]
    Connect,
    /// The peer's certificate is not valid for the host.
    #[error("the host's certificate is not valid")]
    Certificate,
    /// No TLS session came about.
    #[error("no secure connection to the host could be made")]
    Tls,
    /// The configured upstream proxy did not open a tunnel.
    #[error("the upstream proxy did not open a tunnel")]
    Proxy,
    /// A deadline passed.
    #[error("the host took too long ({0})")]
    Timeout(Phase),
    /// Bytes came, but fewer than the minimum rate.
    #[error("the host sends too slowly")]
    TooSlow,
    /// More redirects than allowed.
    #[error("too many redirects")]
    TooManyRedirects,
    /// A redirect to a URL that was already visited.
    #[error("the redirects go in circles")]
    RedirectLoop,
    /// A redirect without a readable, single target.
    #[error("the redirect has no valid target")]
    BadRedirect,
    /// An answer other than success.
    #[error("the host answered with status {0}")]
    Status(u16),
    /// A content type outside the allowlist, or several.
    #[error("the content type is not allowed")]
    ContentType,
    /// An unknown content encoding, or more than one layer.
    #[error("the content encoding is not supported")]
    Encoding,
    /// Compressed data that does not decode.
    #[error("the compressed body is damaged")]
    Damaged,
    /// More bytes on the wire than allowed.
    #[error("the response is larger than allowed")]
    WireLimit,
    /// More bytes after decoding than allowed.
    #[error("the decoded body is larger than allowed")]
    DecodedLimit,
    /// More or longer headers than allowed.
    #[error("the response headers are larger than allowed")]
    HeaderLimit,
    /// The body ended before its announced end.
    #[error("the response ended early")]
    Truncated,
    /// Not the HTTP that was agreed on.
    #[error("the response is not valid HTTP")]
    Protocol,
}

fn at_hop(hop: usize) -> String {
    if hop == 0 {
        String::new()
    } else {
        format!(" (redirect {hop})")
    }
}

/// Why a name has no addresses for us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DnsError {
    /// There is no such name, or it has no addresses.
    #[error("the host name does not exist")]
    NotFound,
    /// No usable answer came.
    #[error("the host name could not be resolved")]
    Failed,
    /// No answer came in time.
    #[error("the host name was not resolved in time")]
    Timeout,
    /// More addresses than a sane host has.
    #[error("the host name has too many addresses")]
    TooMany,
}

/// Which deadline passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Phase {
    /// Opening the connection.
    #[error("connecting")]
    Connect,
    /// Waiting for the response's head.
    #[error("waiting for an answer")]
    FirstByte,
    /// All of it, redirects included.
    #[error("overall")]
    Total,
}

/// Whose fault an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Our rules refuse it; asking again changes nothing.
    Policy,
    /// The origin answered with something unusable.
    Peer,
    /// The origin could not be reached; asking again may help.
    Network,
    /// The gateway's configuration.
    Operator,
}

impl FetchError {
    /// A stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused { refusal, .. } => refusal.code(),
            Self::Dns(DnsError::NotFound) => "dns_not_found",
            Self::Dns(DnsError::Failed) => "dns_failed",
            Self::Dns(DnsError::Timeout) => "dns_timeout",
            Self::Dns(DnsError::TooMany) => "dns_too_many",
            Self::Connect => "connect_failed",
            Self::Certificate => "certificate_invalid",
            Self::Tls => "tls_failed",
            Self::Proxy => "proxy_failed",
            Self::Timeout(Phase::Connect) => "connect_timeout",
            Self::Timeout(Phase::FirstByte) => "first_byte_timeout",
            Self::Timeout(Phase::Total) => "total_timeout",
            Self::TooSlow => "too_slow",
            Self::TooManyRedirects => "too_many_redirects",
            Self::RedirectLoop => "redirect_loop",
            Self::BadRedirect => "redirect_invalid",
            Self::Status(_) => "upstream_status",
            Self::ContentType => "content_type_not_allowed",
            Self::Encoding => "encoding_not_supported",
            Self::Damaged => "body_damaged",
            Self::WireLimit => "response_too_large",
            Self::DecodedLimit => "body_too_large",
            Self::HeaderLimit => "headers_too_large",
            Self::Truncated => "response_truncated",
            Self::Protocol => "protocol_error",
        }
    }

    /// Whose fault it is.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Refused { .. } | Self::ContentType => Fault::Policy,
            Self::Dns(_) | Self::Connect | Self::Timeout(_) | Self::TooSlow => Fault::Network,
            Self::Proxy => Fault::Operator,
            _ => Fault::Peer,
        }
    }
}

/// Why a fetcher could not be made: the operator's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SetupError {
    /// The user agent cannot be a header.
    #[error("the user agent contains characters that a header cannot carry")]
    UserAgent,
    /// The extra root certificates are not PEM certificates.
    #[error("the extra root certificates are not valid PEM certificates")]
    Certificates,
    /// The TLS library refused its configuration.
    #[error("TLS could not be set up")]
    Tls,
    /// The DNS server could not be set up.
    #[error("the DNS resolver could not be set up")]
    Resolver,
    /// The upstream proxy is not `http://[user:password@]host:port`.
    #[error("the upstream proxy must be http://host:port, optionally with user:password@")]
    Proxy,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_and_codes_are_there_for_people_and_machines() {
        let refused = FetchError::Refused {
            hop: 2,
            refusal: Refusal::Scheme,
        };
        assert_eq!(
            refused.to_string(),
            "only http and https URLs can be fetched (redirect 2)"
        );
        assert_eq!(refused.code(), "scheme_not_allowed");
        assert_eq!(refused.fault(), Fault::Policy);
        assert_eq!(
            FetchError::Status(503).to_string(),
            "the host answered with status 503"
        );
        assert_eq!(FetchError::Timeout(Phase::Connect).fault(), Fault::Network);
    }
}
